/** `agents server start` as a user has it: its places, its files, its end. */
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { capturedIo, type CapturedIo } from "../cli/testing/captured-io.ts";
import { Agents, type Started } from "../cli/testing/agents.ts";
import { PROGRAM_DOORS as doors } from "../program-doors.ts";
import { EventClient } from "./testing/event-client.ts";

const made: Agents[] = [];
afterEach(() => {
  for (const one of made.splice(0)) one[Symbol.dispose]();
});

function agents(): Agents {
  const one = new Agents();
  made.push(one);
  return one;
}

interface Running {
  readonly io: CapturedIo;
  readonly url: string;
  readonly token: string;
  /** Asks it to stop, by an interrupt or as a service manager does. */
  readonly stop: (how: "interrupt" | "terminate") => Promise<number>;
}

/** In this process. */
async function started(one: Agents, ...words: string[]): Promise<Running> {
  const interrupted = new AbortController();
  const listeners: (() => void)[] = [];
  const env = { ...process.env, CLEVERAGENTS_DATA_DIR: one.dataDir };
  const io = capturedIo({ env, cwd: one.directory, signal: interrupted.signal });
  const onTerminate = (listener: () => void): (() => void) => {
    listeners.push(listener);
    return () => void listeners.splice(0);
  };
  const ended = runCli(["server", "start", "--port", "0", ...words], { ...io, doors, onTerminate });
  while (!io.written.stdout.includes("\n")) {
    const code = await Promise.race([ended, sleep(10)]);
    if (code !== undefined) throw new Error(`exit ${code}: ${io.written.stderr}`);
  }
  return {
    io,
    url: io.written.stdout.trim(),
    token: readFileSync(join(one.dataDir, "server.token"), "utf8"),
    stop: (how) => {
      if (how === "interrupt") interrupted.abort();
      else for (const listener of listeners) listener();
      return ended;
    },
  };
}

async function refused(one: Agents, ...words: string[]): Promise<string> {
  const env = { ...process.env, CLEVERAGENTS_DATA_DIR: one.dataDir };
  const io = capturedIo({ env, cwd: one.directory, signal: new AbortController().signal });
  const code = await runCli(["server", "start", ...words], { ...io, doors });
  expect(code).not.toBe(0);
  expect(io.written.stdout).toBe("");
  return io.written.stderr;
}

describe("a server that was started", () => {
  test("prints its url, is found by its user, and leaves nothing behind", async () => {
    const one = agents();
    expect((await one.json("server", "status")).data).toMatchObject({ running: false });
    const { io, url, token, stop } = await started(one, "--log-format", "json");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await one.json("server", "status")).data).toMatchObject({ running: true, url, pid: process.pid });
    const answer = await fetch(`${url}/api/v1/operations/version`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    for (const file of ["server.token", "server.json"])
      expect([file, statSync(join(one.dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    expect(await stop("interrupt")).toBe(0);
    for (const file of ["server.token", "server.json"]) expect(existsSync(join(one.dataDir, file))).toBe(false);
    expect((await one.run(["server", "status"])).stdout).toContain("No server runs");
    const log = io.written.stderr.trim().split("\n");
    const lines = log.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Record<string, unknown>] : []));
    expect(lines.map(({ message }) => message)).toEqual(["listening", "request", "stopping"]);
    expect(lines[1]).toMatchObject({ method: "GET", path: "/api/v1/operations/version", status: 200, token: "local" });
    expect(io.written.stderr).not.toContain(token);
  });

  test("ends its streams and its idle connections when a service manager asks it to", async () => {
    const one = agents();
    const { url, token, stop, io } = await started(one, "--log-level", "warning");
    const client = new EventClient(url, { token });
    await client.opened();
    expect(await stop("terminate")).toBe(0);
    await client.until(({ ended }) => ended);
    expect(io.written.stderr).toBe("");
    await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  });

  test("is the only one of its data directory", async () => {
    const one = agents();
    const { stop } = await started(one);
    const said = await refused(one, "--port", "0");
    expect(said).toContain("A server is running for");
    expect(said).toContain("agents server status");
    await stop("interrupt");
    await (await started(one)).stop("interrupt");
  });

  test("listens on a socket that only its user can open, also where a killed one left it", async () => {
    const one = agents();
    const path = join(one.directory, "s.sock");
    const env = { ...process.env, CLEVERAGENTS_DATA_DIR: one.dataDir };
    const interrupted = new AbortController();
    // Left behind: the file is there, and nothing listens.
    const left = createServer().listen(`${path}.first`);
    await once(left, "listening");
    renameSync(`${path}.first`, path);
    expect(await refused(one, "--socket", path)).toContain("Another program listens on");
    left.close();
    expect(existsSync(path)).toBe(true);
    writeFileSync(join(one.directory, "file"), "");
    expect(await refused(one, "--socket", join(one.directory, "file"))).toContain("is not a socket");
    const io = capturedIo({ env, cwd: one.directory, signal: interrupted.signal });
    const ended = runCli(["server", "start", "--socket", "s.sock"], { ...io, doors });
    while (io.written.stdout === "") await sleep(10);
    expect(io.written.stdout).toBe(`unix:${path}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await onSocket(path, {})).toBe(401);
    const token = readFileSync(join(one.dataDir, "server.token"), "utf8");
    expect(await onSocket(path, { authorization: `Bearer ${token}`, host: "any.example" })).toBe(200);
    expect(await onSocket(path, { authorization: `Bearer ${token}`, origin: "http://evil.example" })).toBe(403);
    interrupted.abort();
    expect(await ended).toBe(0);
    expect(existsSync(path)).toBe(false);
  });
});

async function onSocket(socketPath: string, headers: Record<string, string>): Promise<number> {
  const asked = request({ socketPath, path: "/api/v1/operations/version", headers, agent: false }).end();
  const [response] = (await once(asked, "response")) as [{ statusCode: number; resume: () => void }];
  response.resume();
  return response.statusCode;
}

describe("a start that is refused says why, and what to do", () => {
  test("a port in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const said = await refused(agents(), "--port", String(port));
    expect(said).toContain(`Another program listens on 127.0.0.1:${port}.`);
    expect(said).toContain("--port");
    taken.close();
  });

  test.each([
    [["--port", "99999"], "A port is a number from 0 to 65535."],
    [["--port", "x"], "--port must be a whole number"],
    [["--socket", "s", "--port", "1"], "A socket has neither host nor port"],
    [["--log-format", "xml"], "Allowed choices are plain, json"],
    [["--socket", "missing/s.sock"], "You may not listen on"],
    [["--socket", "x".repeat(200)], "The server cannot listen on"],
  ])("%j: %s", async (words, message) => {
    expect(await refused(agents(), ...words)).toContain(message);
  });

  test("an address that others can reach, before there is a token; and one that this machine does not have", async () => {
    const one = agents();
    expect(await refused(one, "--host", "0.0.0.0", "--port", "0")).toContain(
      "agents server token create --role editor",
    );
    const { data } = await one.json("server", "token", "create", "--role", "viewer", "--expires", "1h");
    expect(data["token"]).toMatch(/^ca_[0-9a-f]{12}_[\w-]{43}$/);
    expect(await refused(one, "--host", "203.0.113.7", "--port", "0")).toContain("This machine has no address for");
    expect(await refused(one, "--host", "no.such.host.invalid")).toContain(
      "cannot listen on no.such.host.invalid:4400",
    );
    const { url, token, stop } = await started(one, "--host", "0.0.0.0", "--allow-host", "agents.example");
    const port = new URL(url).port;
    const asked = (host: string): Promise<number> => onHost(port, host, token);
    expect(await Promise.all(["203.0.113.7", "agents.example", "evil.example"].map(asked))).toEqual([200, 200, 403]);
    await stop("interrupt");
    await one.json("server", "token", "revoke", String(data["token_id"]));
    expect(await refused(one, "--host", "0.0.0.0", "--port", "0")).toContain("There is no token");
  });
});

async function onHost(port: string, host: string, token: string): Promise<number> {
  const headers = { host, authorization: `Bearer ${token}` };
  const asked = request({ host: "127.0.0.1", port, path: "/api/v1/operations/version", headers, agent: false }).end();
  const [response] = (await once(asked, "response")) as [{ statusCode: number; resume: () => void }];
  response.resume();
  return response.statusCode;
}

test("tokens on the command line: made, listed, refused, revoked", async () => {
  const one = agents();
  expect((await one.run(["server", "token", "list"])).stdout).toContain("No tokens yet.");
  const created = await one.run(["server", "token", "create", "--role", "editor", "--name", "ci", "--expires", "30d"]);
  expect(created.stdout).toContain("Keep the token now");
  const { data } = await one.json("server", "token", "list");
  expect(data["tokens"]).toMatchObject([{ name: "ci", role: "editor", state: "valid", used_at: null }]);
  const { token_id: id } = (data["tokens"] as readonly Record<string, unknown>[])[0] ?? {};
  expect((await one.run(["server", "token", "list"])).stdout).toContain(String(id));
  for (const [words, message] of [
    [["--role", "god"], "Allowed choices"],
    [["--role", "viewer", "--expires", "soon"], 'not "soon"'],
    [["--role", "viewer", "--expires", "0d"], 'not "0d"'],
    [["--role", "viewer", "--name", " "], "The token's name is empty."],
    [["--role", "viewer", "--name", "a\nb"], "The token's name"],
  ] as const)
    expect((await one.run(["server", "token", "create", ...words])).stderr).toContain(message);
  expect((await one.run(["server", "token", "revoke", String(id)])).stdout).toContain("revoked");
  expect((await one.json("server", "token", "revoke", String(id))).exit_code).toBe(3);
  expect((await one.json("server", "token", "list")).data["tokens"]).toMatchObject([{ state: "revoked" }]);
  const audit = await one.json("audit", "list");
  expect(JSON.stringify(audit.data)).toContain("server_token.revoked");
});

describe("a process of its own", () => {
  async function process(one: Agents): Promise<Started & { readonly url: string }> {
    const running = one.start(["server", "start", "--port", "0"]);
    const [line] = (await once(running.child.stdout, "data")) as [string];
    return { ...running, url: line.trim() };
  }

  test("ends with success by SIGTERM, and by SIGINT", async () => {
    const one = agents();
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, finished, url } = await process(one);
      expect((await fetch(`${url}/ready`)).status).toBe(200);
      child.kill(signal);
      expect((await finished).code).toBe(0);
    }
  });

  test("that was killed is not taken for one that runs", async () => {
    const one = agents();
    const { child, finished } = await process(one);
    child.kill("SIGKILL");
    await finished;
    expect(existsSync(join(one.dataDir, "server.json"))).toBe(true);
    expect((await one.json("server", "status")).data).toMatchObject({ running: false });
    const { stop, token } = await started(one);
    expect(token).not.toBe("");
    await stop("interrupt");
  });
});
