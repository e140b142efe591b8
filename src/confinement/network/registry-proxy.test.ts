/** The proxy that lets through registries alone, by its own protocol on 127.0.0.1. */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Registry } from "./registry-hosts.ts";
import { RegistryProxy } from "./registry-proxy.ts";

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of stack.splice(0)) await one[Symbol.asyncDispose]();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const UNCONFIRMED: Registry[] = [{ host: "named.example", port: undefined, configured: true }];

/** A registry of our own and a proxy; every name has the address that the test gives it. */
async function world(registry: (port: number) => Registry[], addresses: Record<string, string> = {}) {
  const upstream = createServer((request, response) => response.end(`upstream ${request.url}`));
  const port = await listening(upstream);
  const server = createTcpServer();
  const proxyPort = await listening(server);
  const proxy = new RegistryProxy(server, { registries: registry(port), unconfirmed: UNCONFIRMED }, async (name) => {
    const address = addresses[name] ?? (/^[\d.:]+$/.test(name) ? name : undefined);
    return address === undefined ? [] : [{ address }];
  });
  stack.push(proxy, { [Symbol.asyncDispose]: async () => upstream.close().closeAllConnections() });
  const plain = async (url: string): Promise<{ status: number; text: string }> => {
    const request = get({ host: "127.0.0.1", port: proxyPort, path: url, agent: false });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode ?? 0, text };
  };
  const tunnel = async (target: string, then = ""): Promise<string> => {
    const socket = connect({ host: "127.0.0.1", port: proxyPort });
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    let text = "";
    for await (const chunk of socket) {
      text += String(chunk);
      if (then !== "" && text.includes("established")) socket.write(then);
      if (text.includes("upstream")) break;
    }
    socket.destroy();
    return text;
  };
  return { port, proxy, plain, tunnel };
}

test("a registry that only the repository names is refused, with the setting that allows it", async () => {
  const { tunnel } = await world(configured, { "named.example": "192.0.2.1" });
  expect(await tunnel("named.example:443")).toContain("the user has not allowed it in sandbox.registries");
});

const configured = (port: number): Registry[] => [{ host: "127.0.0.1", port, configured: true }];

test("a registry is reached by plain requests and through tunnels", async () => {
  const { port, plain, tunnel, proxy } = await world(configured);
  expect(await plain(`http://127.0.0.1:${port}/dep?x=1`)).toEqual({ status: 200, text: "upstream /dep?x=1" });
  const request = "GET /tarball HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  expect(await tunnel(`127.0.0.1:${port}`, request)).toContain("upstream /tarball");
  expect(proxy.refusals()).toEqual([]);
});

test("every other host is refused by its name, and so is another port of the same", async () => {
  const { port, plain, tunnel, proxy } = await world(configured, { "example.org": "192.0.2.1" });
  const refused = "example.org:443 is not a registry of this project's package managers";
  expect(await tunnel("example.org:443")).toMatch(/^HTTP\/1\.1 403 Forbidden/);
  expect(await tunnel("EXAMPLE.ORG.:443")).toContain(refused);
  expect(await plain("http://example.org/")).toMatchObject({ status: 403 });
  expect(await plain(`http://127.0.0.1:${port + 1}/`)).toMatchObject({ status: 403 });
  expect(await plain("/no/proxy/request")).toMatchObject({ status: 400 });
  expect(proxy.refusals().map((text) => text.split(" ")[0])).toEqual([
    "example.org:443",
    "example.org:80",
    `127.0.0.1:${port + 1}`,
  ]);
  expect(proxy.refusals()).toEqual([]);
});

test("a public registry whose name leads into a private network is refused, and clouds' own addresses always", async () => {
  const registries = [
    { host: "packages.example", port: undefined, configured: false },
    { host: "npm.corp.example", port: undefined, configured: true },
    { host: "169.254.7.7", port: undefined, configured: true },
    { host: "rebound.example", port: undefined, configured: true },
  ];
  const { tunnel, plain } = await world(() => registries, {
    "packages.example": "10.0.0.7",
    "rebound.example": "169.254.7.7",
  });
  expect(await tunnel("packages.example:443")).toContain("has only addresses that may not be reached");
  const refused = { status: 403, text: expect.stringContaining("may not be reached") };
  expect(await plain("http://169.254.7.7/")).toEqual(refused);
  expect(await plain("http://rebound.example/")).toEqual(refused);
  expect(await tunnel("npm.corp.example:443")).toContain("has no address");
});
