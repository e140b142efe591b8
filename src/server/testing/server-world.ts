/** A server in this process, on a real store and a real repository, and requests to it. */
import { request } from "node:http";
import { World } from "../../cli/testing/user-world.ts";
import { openCleverAgents, type CleverAgents } from "../../app/open.ts";
import type { ServerRole } from "../../domain/names/server-roles.ts";
import { serveHttp, type HttpServerParts } from "../http-server.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Envelope {
  readonly command: string;
  readonly status: string;
  readonly exit_code: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly kept: string | null;
    readonly detail: Readonly<Record<string, unknown>>;
    readonly suggestions: readonly string[];
  };
  readonly messages: readonly { readonly level: string; readonly text: string }[];
  readonly timing: object;
}

export interface Sent {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ServerWorld implements AsyncDisposable {
  readonly world: World;
  readonly log: string[] = [];
  url = "";
  /** Of an owner. */
  token = "";
  #agents: CleverAgents | undefined;
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.world = world;
  }

  static async start(more: Partial<HttpServerParts> = {}): Promise<ServerWorld> {
    const made = new ServerWorld(await World.make());
    await made.restart(more);
    return made;
  }

  get agents(): CleverAgents {
    if (this.#agents === undefined) throw new Error("the server was not started");
    return this.#agents;
  }

  async restart(more: Partial<HttpServerParts> = {}): Promise<void> {
    await this.stop();
    const { dataDir } = this.world.agents;
    const environment = { ...process.env, CLEVERAGENTS_DATA_DIR: dataDir };
    this.#agents = await openCleverAgents({ dataDir, directory: this.world.agents.directory, environment });
    this.token = await this.newToken("owner");
    this.#stop = new AbortController();
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#ended = serveHttp({
      agents: this.#agents,
      environment,
      place: { kind: "port", host: "127.0.0.1", port: 0 },
      allowedHosts: [],
      logFormat: "json",
      logLevel: "debug",
      log: (line) => void this.log.push(line),
      ready: resolve,
      beside: () => Promise.resolve(),
      signal: this.#stop.signal,
      patienceMs: 5_000,
      ...more,
    });
    this.url = await Promise.race([promise, this.#ended.then(() => "")]);
  }

  /** A plan that adds a file, ready to review. */
  executed(path = "b.txt"): Promise<string> {
    return this.world.executed(["write_file", { resource: "api", path, content: "new\n" }]);
  }

  async newToken(role: ServerRole): Promise<string> {
    return (await this.agents.run("server.token.create", { role, name: `a ${role}` })).token;
  }

  /** A request as its bytes say, without what `fetch` adds or forbids. */
  send(path: string, sent: Sent = {}): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const { method = "GET", token = this.token, body, raw, headers = {} } = sent;
    const bytes = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const all = {
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(bytes === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    };
    const { hostname, port } = new URL(this.url);
    const asked = request({ hostname, port, path, method, headers: all, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(bytes);
    return promise;
  }

  async post(operation: string, body: unknown = {}, sent: Sent = {}): Promise<HttpAnswer & { envelope: Envelope }> {
    const answer = await this.send(`/api/v1/operations/${operation}`, { method: "POST", body, ...sent });
    return { ...answer, envelope: JSON.parse(answer.text) as Envelope };
  }

  async get(path: string, sent: Sent = {}): Promise<HttpAnswer & { envelope: Envelope }> {
    const answer = await this.send(path, sent);
    return { ...answer, envelope: JSON.parse(answer.text) as Envelope };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    await this.#agents?.[Symbol.asyncDispose]();
    this.#agents = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.world[Symbol.asyncDispose]();
  }
}
