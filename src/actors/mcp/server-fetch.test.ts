import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { serverFetch } from "./server-fetch.ts";

test("an answer comes whole up to the limit, and is cut off with an error above it", async () => {
  const server = createServer((_, response) => response.end("x".repeat(1_000)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  try {
    const send = await serverFetch(url, 1_000);
    expect(await (await send(url)).text()).toHaveLength(1_000);
    expect((await send(new Request(url), { method: "HEAD" })).status).toBe(200);
    const short = await serverFetch(url, 999);
    await expect((await short(url)).text()).rejects.toThrow("The answer is longer than 999 bytes.");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("nothing is sent to addresses of clouds, or to the own network for a server of the internet", async () => {
  const far = await serverFetch("https://docs.example.com/mcp");
  for (const url of ["http://169.254.169.254/latest", "https://10.0.0.1/token", "http://other.example.com/token"])
    await expect(far(url)).rejects.toThrow("is not an address to which anything may be sent");
  // A name that leads to this machine.
  const named = await far("https://localhost:9/token").catch((error: unknown) => error);
  expect(named).toBeInstanceOf(Error);
  const near = await serverFetch("http://127.0.0.1:9/mcp");
  await expect(near("http://169.254.169.254/latest")).rejects.toThrow("is not an address");
});
