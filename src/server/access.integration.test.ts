/** Who may do what, for every route of the table; and what a request must look like to be heard at all. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAllowed } from "./bearer.ts";
import { ServerWorld } from "./testing/server-world.ts";
import { OPERATIONS } from "../app/table/operation-table.ts";
import type { TableEntry } from "../app/base/operation.ts";
import { SERVER_ROLES, type ServerRole } from "../domain/names/server-roles.ts";

const ENTRIES = Object.entries<TableEntry>(OPERATIONS);
const ROUTES = ENTRIES.filter(([, { local }]) => local !== true);
const FIXED = [
  "/api/v1/events",
  "/api/v1/plans/01J/events",
  "/api/v1/openapi.json",
  "/metrics",
  "/",
  "/api/v1/nothing",
];

let server: ServerWorld;
const tokens = new Map<ServerRole, string>();

beforeAll(async () => {
  server = await ServerWorld.start();
  for (const role of SERVER_ROLES) tokens.set(role, await server.newToken(role));
});
afterAll(() => server[Symbol.asyncDispose]());

test("without a token every route answers 401, also one that is not there", async () => {
  const asked = [
    ...ENTRIES.flatMap(([name]) => [
      ["POST", `/api/v1/operations/${name}`] as const,
      ["GET", `/api/v1/operations/${name}`] as const,
    ]),
    ...FIXED.flatMap((path) => [["GET", path] as const, ["DELETE", path] as const]),
  ];
  for (const [method, path] of asked) {
    const { status, headers } = await server.send(path, { method, token: "" });
    expect([method, path, status]).toEqual([method, path, 401]);
    expect(headers["www-authenticate"]).toContain("Bearer");
  }
});

test("only the health of the server is told without a token, and nothing else", async () => {
  for (const path of ["/health", "/live", "/ready"]) {
    const { status, text } = await server.send(path, { token: "" });
    expect([status, Object.keys(JSON.parse(text) as object)]).toEqual([200, ["status"]]);
  }
});

test("what only a user of the machine can do is not a route", async () => {
  const local = ENTRIES.flatMap(([name, entry]) => (entry.local === true ? [name] : []));
  expect(local).toEqual(expect.arrayContaining(["gateway", "uninstall", "upgrade", "login.copilot", "context.pack"]));
  for (const name of [...local, "acp", "watch", "completion", "server.start"]) {
    const { status, envelope } = await server.post(name);
    expect([name, status, envelope.error?.code]).toEqual([name, 404, "NOT_FOUND"]);
  }
});

test("no route that only reads takes a path of this machine, by which a viewer could read any file", () => {
  const paths = ROUTES.flatMap(([name, { role, parameters = [] }]) =>
    role === "reader" && parameters.some(({ kind }) => kind === "path") ? [name] : [],
  );
  expect(paths).toEqual([]);
});

describe.each(SERVER_ROLES)("a token with the role %s", (role) => {
  test("calls what the table allows it, and gets 403 for everything else", async () => {
    for (const [name, entry] of ROUTES) {
      // A body that no operation takes: a caller that is allowed is told so, and nothing happens.
      const body = { not_a_key: 1 };
      const { status, envelope } = await server.post(name, body, { token: tokens.get(role) });
      expect([name, status]).toEqual([name, isAllowed(role, entry) ? 400 : 403]);
      if (status === 403)
        expect(envelope.error).toMatchObject({ code: "NOT_ALLOWED", detail: { operation: name, role } });
    }
  });
});

test("a viewer is refused every operation that writes, and an owner alone manages tokens", () => {
  for (const [name, entry] of ROUTES) {
    if (entry.writes) expect([name, isAllowed("viewer", entry)]).toEqual([name, false]);
    expect([name, isAllowed("admin", entry)]).toEqual([name, !name.startsWith("server.token.")]);
    expect([name, isAllowed("owner", entry)]).toEqual([name, true]);
  }
});

test("a route answers other methods with 405, which names its own", async () => {
  const reading = await server.send("/api/v1/operations/plan.list", { method: "PUT" });
  expect([reading.status, reading.headers["allow"]]).toEqual([405, "GET, POST"]);
  const writing = await server.send("/api/v1/operations/plan.apply");
  expect([writing.status, writing.headers["allow"]]).toEqual([405, "POST"]);
});

describe("tokens", () => {
  test("a revoked, an expired and a changed token are refused, and the log shows none of them", async () => {
    const token = await server.newToken("viewer");
    expect((await server.get("/api/v1/operations/plan.list", { token })).status).toBe(200);
    const [, id] = token.split("_");
    const wrong = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    expect((await server.get("/api/v1/operations/plan.list", { token: wrong })).status).toBe(401);
    const { status, envelope } = await server.post("server.token.revoke", { token: id });
    expect([status, envelope.data["state"]]).toEqual([200, "revoked"]);
    expect((await server.get("/api/v1/operations/plan.list", { token })).status).toBe(401);
    expect((await server.post("server.token.revoke", { token: id })).status).toBe(404);
    for (const secret of [token, wrong, server.token]) expect(server.log.join("\n")).not.toContain(secret);
    expect(server.log.join("\n")).toContain(`"token":"${id}"`);
  });

  test("a use is written down at most once a minute, and the list shows no secret", async () => {
    const token = await server.newToken("viewer");
    const of = async (): Promise<unknown> => {
      const { envelope } = await server.post("server.token.list");
      const all = envelope.data["tokens"] as readonly Record<string, unknown>[];
      return all.find(({ token_id: id }) => id === token.split("_")[1]);
    };
    expect(await of()).toMatchObject({ used_at: null, role: "viewer", last_four: token.slice(-4) });
    await server.get("/api/v1/operations/version", { token });
    const first = await of();
    expect(first).toMatchObject({ used_at: expect.any(String) });
    await server.get("/api/v1/operations/version", { token });
    expect(await of()).toEqual(first);
    expect(JSON.stringify(first)).not.toContain(token.split("_")[2]);
  });

  test("a header that is not a bearer token is refused", async () => {
    for (const authorization of ["Basic YWRtaW46YWRtaW4=", "Bearer", "Bearer ", "Bearer ca_x_y", "bearer ca_local_"]) {
      const { status } = await server.send("/api/v1/operations/version", { token: "", headers: { authorization } });
      expect([authorization, status]).toEqual([authorization, 401]);
    }
  });
});

describe("a page that a browser has open", () => {
  test("gets nothing under a name that leads here", async () => {
    for (const host of [
      "evil.example",
      "evil.example:4400",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "a b",
    ]) {
      const { status, text } = await server.send("/health", { headers: { host } });
      expect([host, [400, 403].includes(status)]).toEqual([host, true]);
      expect(text).not.toContain('"ok"}');
    }
    for (const host of ["localhost:1", "127.0.0.1", "[::1]:4400", "LOCALHOST"])
      expect([host, (await server.send("/health", { headers: { host } })).status]).toEqual([host, 200]);
  });

  test("gets nothing from a page of another server", async () => {
    for (const origin of ["https://evil.example", "null", "http://10.0.0.1"])
      expect((await server.send("/api/v1/operations/plan.list", { headers: { origin } })).status).toBe(403);
    const own = await server.send("/api/v1/operations/plan.list", { headers: { origin: server.url } });
    expect(own.status).toBe(200);
  });
});

test("after many wrong tokens an address waits, also with a right one", async () => {
  await using other = await ServerWorld.start();
  const wrong = `ca_${"0".repeat(12)}_${"A".repeat(43)}`;
  const statuses: number[] = [];
  for (let tries = 0; tries < 21; tries += 1)
    statuses.push((await other.send("/api/v1/operations/version", { token: wrong })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
  const right = await other.send("/api/v1/operations/version");
  expect(right.status).toBe(429);
  expect(Number(right.headers["retry-after"])).toBeGreaterThan(0);
  expect((await other.send("/health", { token: "" })).status).toBe(200);
});
