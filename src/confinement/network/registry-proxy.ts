/**
 * A proxy for the commands of a plan that lets them reach registries of packages and nothing else. It listens in the
 * commands' network room and connects from outside of it. A name is resolved here, and the address is what is judged
 * and connected to: a registry on the internet whose name leads into a private network is refused. Addresses at which
 * clouds hand out credentials are refused always.
 */
import { lookup } from "node:dns/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isForbiddenHost, isLocalHost } from "../../domain/network/endpoint-address.ts";
import type { Registry } from "./registry-hosts.ts";

type Lookup = (name: string) => Promise<readonly { readonly address: string }[]>;

/** A name that cannot be resolved has none. */
const everyAddress: Lookup = (name) => lookup(name, { all: true }).catch(() => []);

export class RegistryProxy implements AsyncDisposable {
  readonly #registries: readonly Registry[];
  /** Named by the repository alone, which does not count. */
  readonly #unconfirmed: readonly Registry[];
  readonly #server: Server;
  readonly #lookup: Lookup;
  readonly #open = new Set<Duplex>();
  readonly #refused = new Set<string>();

  constructor(
    server: Server,
    { registries, unconfirmed = [] }: { registries: readonly Registry[]; unconfirmed?: readonly Registry[] },
    addressesOf: Lookup = everyAddress,
  ) {
    this.#server = server;
    this.#lookup = addressesOf;
    this.#registries = registries;
    this.#unconfirmed = unconfirmed;
    const http = createServer((request, response) => void this.#plain(request, response));
    http.on("connect", (request, socket, head) => void this.#tunnel(request.url ?? "", socket, head));
    server.on("connection", (socket: Socket) => {
      this.#keep(socket);
      http.emit("connection", socket);
    });
    // It ends with the command that uses it; alone it keeps no process alive.
    server.unref();
  }

  /** The refusals since this was asked last, a sentence each. */
  refusals(): string[] {
    const sentences = [...this.#refused];
    this.#refused.clear();
    return sentences;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stream of this.#open) stream.destroy();
    this.#server.close();
  }

  async #tunnel(target: string, socket: Duplex, head: Buffer): Promise<void> {
    this.#keep(socket);
    const [, host = "", port = "443"] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(target) ?? [];
    const verdict = await this.#judged(host, Number(port), 443);
    if ("refused" in verdict) {
      socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${verdict.refused}\n`);
      return;
    }
    const outside = connect({ host: verdict.address, port: Number(port) });
    this.#keep(outside);
    outside.on("connect", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) outside.write(head);
      outside.pipe(socket).pipe(outside);
    });
    outside.on("error", (error) => socket.end(`HTTP/1.1 502 Bad Gateway\r\n\r\n${error.message}\n`));
  }

  async #plain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
    if (url?.protocol !== "http:") {
      response.writeHead(400).end("This is a proxy: give it a whole http address.\n");
      return;
    }
    const port = url.port === "" ? 80 : Number(url.port);
    const verdict = await this.#judged(url.hostname.replace(/^\[|\]$/g, ""), port, 80);
    if ("refused" in verdict) {
      response.writeHead(403, { "content-type": "text/plain" }).end(`${verdict.refused}\n`);
      return;
    }
    const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
    const outside = httpRequest(
      { host: verdict.address, port, method: request.method, path: `${url.pathname}${url.search}`, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outside.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`${error.message}\n`);
    });
    request.pipe(outside);
  }

  async #judged(host: string, port: number, usual: 80 | 443): Promise<{ address: string } | { refused: string }> {
    const name = host.toLowerCase().replace(/\.$/, "");
    const here = (one: Registry): boolean => one.host === name && (one.port ?? usual) === port;
    const registry = this.#registries.find(here);
    if (registry === undefined) return this.#refuse(name, port, this.#unknown(this.#unconfirmed.some(here)));
    const found = await this.#lookup(name);
    if (found.length === 0) return this.#refuse(name, port, "has no address");
    const allowed = found.find(
      ({ address }) => !isForbiddenHost(address) && (registry.configured || !isLocalHost(address)),
    );
    return allowed ?? this.#refuse(name, port, "has only addresses that may not be reached");
  }

  #unknown(named: boolean): string {
    return named
      ? "is a registry that only the repository names, and the user has not allowed it in sandbox.registries"
      : "is not a registry of this project's package managers";
  }

  #refuse(host: string, port: number, why: string): { refused: string } {
    const refused = `${host}:${port} ${why}; the plan's profile lets commands reach those only (network: registries)`;
    this.#refused.add(refused);
    return { refused };
  }

  #keep(stream: Duplex): void {
    if (this.#open.has(stream)) return;
    this.#open.add(stream);
    stream.on("close", () => this.#open.delete(stream));
    // Either side may go away at any time.
    stream.on("error", () => stream.destroy());
  }
}
