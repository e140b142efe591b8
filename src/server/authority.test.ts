import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openCleverAgents, type CleverAgents } from "../app/open.ts";
import { Authority } from "./authority.ts";

const WRONG = `Bearer ca_${"0".repeat(12)}_${"A".repeat(43)}`;
let directory: string;
let agents: CleverAgents;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "cleveragents-authority-"));
  agents = await openCleverAgents({ dataDir: directory, environment: {} });
});
afterEach(async () => {
  await agents[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "ok",
    (error: unknown) => (error as { code: string }).code,
  );
}

test("an address that tried too many wrong tokens is heard again when its minute has passed", async () => {
  let now = 0;
  const authority = new Authority(agents, () => now);
  const right = `Bearer ${authority.localToken}`;
  for (let tries = 0; tries < 20; tries += 1) await codeOf(authority.identify(WRONG, "a"));
  expect(await codeOf(authority.identify(right, "a"))).toBe("too_many_attempts");
  expect(await codeOf(authority.identify(right, "b"))).toBe("ok");
  now = 60_000;
  expect(await codeOf(authority.identify(right, "a"))).toBe("ok");
});

test("wrong tokens of another minute do not count, and only so many addresses are remembered", async () => {
  let now = 0;
  const authority = new Authority(agents, () => now, { addresses: 3 });
  for (let tries = 0; tries < 19; tries += 1) await codeOf(authority.identify(WRONG, "a"));
  now = 60_001;
  await codeOf(authority.identify(WRONG, "a"));
  expect(await codeOf(authority.identify(WRONG, "a"))).toBe("not_authenticated");
  for (let tries = 0; tries < 20; tries += 1) await codeOf(authority.identify(WRONG, "z"));
  expect(await codeOf(authority.identify(WRONG, "z"))).toBe("too_many_attempts");
  for (const address of ["b", "c", "d"]) await codeOf(authority.identify(WRONG, address));
  expect(await codeOf(authority.identify(WRONG, "z"))).toBe("not_authenticated");
});

test("a token with an end holds until then", async () => {
  const { token } = await agents.run("server.token.create", { role: "viewer", expires: "1h" });
  const authority = new Authority(agents);
  expect(await authority.check(token)).toMatchObject({
    role: "viewer",
    user: expect.stringContaining("token (token "),
  });
  expect(await authority.check(authority.localToken)).toEqual({ tokenId: "local", role: "owner", user: undefined });
});
