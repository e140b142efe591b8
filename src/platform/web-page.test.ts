import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { pageReader, type Resolve } from "./web-page.ts";

const signal = new AbortController().signal;

test("a name that leads into a private network is refused where the connection is made", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(200, { "content-type": "text/plain" }).end("inside");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://docs.example.org:${port}/`;
  const resolve: Resolve = (_, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);
  const limits = { totalMs: 10_000, bytes: 1_000 };
  await expect(pageReader(new Set(), limits, resolve)(url, signal)).rejects.toThrow(
    "docs.example.org (127.0.0.1) is not an address of the internet",
  );
  expect(asked).toBe(0);
  // The same name, when the user named it.
  expect(await pageReader(new Set(["docs.example.org"]), limits, resolve)(url, signal)).toMatchObject({
    text: "inside",
  });
  const metadata: Resolve = (_, done) => done(null, [{ address: "169.254.169.254", family: 4 }]);
  await expect(pageReader(new Set(["docs.example.org"]), limits, metadata)(url, signal)).rejects.toThrow("is not read");
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

test("a server that does not answer is given up", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = pageReader(new Set([host]), { totalMs: 200, bytes: 1_000 });
  await expect(read(`http://${host}/`, signal)).rejects.toThrow("did not answer within 0.2 s");
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});
