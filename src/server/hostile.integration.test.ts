/** Requests that no client of ours would send: each is answered or cut off, none is a defect, and the server lives. */
import { once } from "node:events";
import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATIONS } from "../app/table/operation-table.ts";
import { wireSchema, type JsonSchema } from "../app/base/wire-schema.ts";
import { sized } from "../testing/size.ts";
import { routedOperations } from "./routed-operations.ts";
import { ServerWorld } from "./testing/server-world.ts";

let server: ServerWorld;

beforeAll(async () => {
  const limits = { requestTimeout: 400, headersTimeout: 400, connectionsCheckingInterval: 100 };
  server = await ServerWorld.start({ limits });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The defects that were logged, by a server that still answers. */
async function defects(): Promise<readonly string[]> {
  const { status } = await server.send("/health");
  return [...server.log.filter((line) => line.includes('"level":"error"')), ...(status === 200 ? [] : ["no answer"])];
}

/** Operations that would reach for the network, look at all of the machine, or take long: tested elsewhere. */
const APART = ["diagnostics", "models.refresh", "models.list", "mcp.server.test", "run", "actor.run", "tool.try"];

/** Values that fit a schema more or less. */
function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, enum: choices, anyOf, items, properties } = schema;
  if (Array.isArray(choices)) return fc.constantFrom<unknown>(...choices);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => valuesOf(one as JsonSchema)));
  if (type === "object" && typeof properties === "object" && properties !== null) {
    const fields = Object.entries(properties).map(([key, field]) => [key, mutated(valuesOf(field as JsonSchema))]);
    return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
  }
  if (type === "array") return fc.array(valuesOf((items ?? {}) as JsonSchema), { maxLength: 4 });
  if (type === "integer" || type === "number") return fc.oneof(fc.integer(), fc.double());
  if (type === "boolean") return fc.boolean();
  return texts;
}

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "",
    "last",
    "1",
    "shop",
    "local/x",
    "../../etc/passwd",
    "\0",
    "a".repeat(20_000),
    "%00",
    "${HOME}",
    "\ud800",
  ),
);
const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: values }, { weight: 1, arbitrary: fc.jsonValue() });

test("bodies that fit a schema more or less never make a defect", async () => {
  for (const [name, entry] of routedOperations().filter(([one]) => !APART.includes(one))) {
    const { operation } = await OPERATIONS[name].load();
    const { schema } = wireSchema(operation.input, "input", (part) => part);
    const bodies = fc.sample(valuesOf(schema), sized({ quick: 2, normal: 6, full: 200 }));
    for (const given of bodies) {
      // Nothing of this machine but the test's own directory.
      const body = {
        ...(given as object),
        ...("directory" in (given as object) ? { directory: server.world.notes } : {}),
      };
      if ("path" in body || "folder" in body || "patch" in body || "bundle" in body) continue;
      const { status, envelope } = await server.post(name, body);
      const { code = "" } = envelope.error ?? {};
      expect([name, body, status < 500 || EXPECTED.includes(code), envelope.error]).toEqual([
        name,
        body,
        true,
        envelope.error,
      ]);
      expect(code).not.toBe("INTERNAL");
      expect(entry.summary).not.toBe("");
    }
  }
  expect(await defects()).toEqual([]);
});

/** Errors of the surroundings, or of what is looked at. */
const EXPECTED = ["CONFIGURATION", "GIT_FAILED", "RESOURCE_FAILED", "AUDIT_BROKEN"];

test("bodies that are not the JSON of an object are refused", async () => {
  const path = "/api/v1/operations/plan.list";
  const cases: readonly (readonly [Buffer | string, number])[] = [
    ["[]", 400],
    ["null", 400],
    ["1", 400],
    ["{", 400],
    ['{"a":1}}', 400],
    [Buffer.from([0xff, 0xfe]), 400],
    ["[".repeat(100_000), 413],
    [`{"a":${"[".repeat(65)}${"]".repeat(65)}}`, 413],
    [`{"regex":${JSON.stringify('[{"\\[{'.repeat(50))}}`, 400],
    [String.raw`{"token":["\ud800"]}`, 400],
    [String.raw`{"\ud800":1}`, 400],
    [`{"__proto__":{"limit":1}}`, 400],
    [`{"constructor":{"prototype":1}}`, 400],
    ["", 200],
    [`{"regex":"${"x".repeat(5 * 1024 * 1024)}"}`, 413],
  ];
  for (const [raw, status] of cases) {
    const answer = await server.send(path, { method: "POST", raw });
    expect([raw.slice(0, 30), answer.status]).toEqual([raw.slice(0, 30), status]);
  }
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await server.send(path, { method: "POST", raw: "a=1", headers: form })).status).toBe(415);
  expect(
    (await server.send(path, { method: "POST", raw: "{}", headers: { "content-type": "text/plain" } })).status,
  ).toBe(415);
  expect(await defects()).toEqual([]);
});

test("any bytes as a body are answered", async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((one) => Buffer.from(one));
  for (const raw of fc.sample(bytes, sized({ quick: 20, normal: 100, full: 5_000 }))) {
    const { status } = await server.send("/api/v1/operations/plan.list", { method: "POST", raw });
    expect([200, 400, 413]).toContain(status);
  }
  expect(await defects()).toEqual([]);
});

test("any path is answered with 404 or 400, and none leads out of the routes", async () => {
  const tricks = [
    "/../../etc/passwd",
    "/api/v1/operations/..%2f..%2fmetrics",
    "//health",
    "/health/",
    "/HEALTH",
    "/%",
    "/%00",
  ];
  const operations = ["__proto__", "constructor", "toString", "plan.list/", "plan.list%00", "gateway", "PLAN.LIST"];
  const paths = [...tricks, ...operations.map((one) => `/api/v1/operations/${one}`)];
  for (const path of paths) {
    const { status } = await server.send(path);
    expect([path, [400, 404].includes(status)]).toEqual([path, true]);
  }
  expect(await defects()).toEqual([]);
});

/** The answer of the server to these bytes, until it closes the connection. */
async function spoken(bytes: string | Buffer, then?: string): Promise<string> {
  const { port } = new URL(server.url);
  const socket = connect({ host: "127.0.0.1", port: Number(port) });
  let said = "";
  socket.setEncoding("latin1").on("data", (text: string) => (said += text));
  const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => undefined));
  await once(socket, "connect");
  socket.write(bytes);
  const dripping = then === undefined ? undefined : setInterval(() => socket.write(then), 20);
  await closed;
  clearInterval(dripping);
  return said;
}

test("raw bytes are answered or cut off", async () => {
  const line = (head: string): string => `${head}\r\nConnection: close\r\n\r\n`;
  const host = "Host: 127.0.0.1";
  const bearer = `Authorization: Bearer ${server.token}`;
  const cases: readonly (readonly [string, RegExp])[] = [
    ["hello\r\n\r\n", /^HTTP\/1\.1 400/],
    [line("GET /health HTTP/1.1"), /^HTTP\/1\.1 400/],
    [line(`GET /health HTTP/1.1\r\nHost: `), /^HTTP\/1\.1 (400|403)/],
    [line(`GET http://evil.example/health HTTP/1.1\r\n${host}`), /^HTTP\/1\.1 (200|403|400)/],
    [line(`GET /health HTTP/1.1\r\n${host}\r\nX: ${"x".repeat(20_000)}`), /^HTTP\/1\.1 431/],
    [line(`GET /api/v1/operations/version HTTP/1.1\r\n${host}\r\n${bearer}\r\n${bearer}`), /^HTTP\/1\.1 (200|401)/],
    [
      line(
        `POST /api/v1/operations/version HTTP/1.1\r\n${host}\r\n${bearer}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked`,
      ),
      /^HTTP\/1\.1 400/,
    ],
    [line(`POST /api/v1/operations/version HTTP/1.1\r\n${host}\r\n${bearer}\r\nContent-Length: -1`), /^HTTP\/1\.1 400/],
    [
      line(`POST /api/v1/operations/version HTTP/1.1\r\n${host}\r\n${bearer}\r\nContent-Length: 99999999999`),
      /^HTTP\/1\.1 413/,
    ],
    [line(`CONNECT evil.example:443 HTTP/1.1\r\n${host}`), /^$/],
  ];
  for (const [bytes, answer] of cases)
    expect([bytes.slice(0, 60), await spoken(bytes)]).toEqual([bytes.slice(0, 60), expect.stringMatching(answer)]);
  expect(await defects()).toEqual([]);
});

test("headers and bodies that never end are cut off", async () => {
  const post = `POST /api/v1/operations/plan.list HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.token}\r\n`;
  expect(await spoken("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X-A: b\r\n")).toMatch(/^(HTTP\/1\.1 408|$)/);
  const slow = await spoken(`${post}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`, " ");
  expect(slow).toMatch(/^(HTTP\/1\.1 (408|400)|$)/);
  const chunk = `${(64 * 1024).toString(16)}\r\n${" ".repeat(64 * 1024)}\r\n`;
  const endless = await spoken(`${post}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`, chunk);
  expect(endless).toMatch(/^HTTP\/1\.1 (413|408)/);
  expect(await defects()).toEqual([]);
});
