/** MCP servers through the command line: added, shown, tried and removed, with errors that help and secrets unseen. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { LoginServer } from "../app/testing/login-server.ts";
import { Agents, type Envelope } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

const HOSTILE = fileURLToPath(new URL("../app/testing/hostile-server.ts", import.meta.url));
const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const SECRET = "hunter2-hunter2-hunter2";

/** Everything that is stored, besides the file that only the user can read. */
function stored({ database, directory }: Agents): string {
  const wal = (() => {
    try {
      return readFileSync(`${database}-wal`, "latin1");
    } catch {
      return "";
    }
  })();
  return `${readFileSync(database, "latin1")}${wal}${directory}`;
}

/** The words after `--` are the program's: the format comes before them. */
async function json(agents: Agents, ...words: string[]): Promise<Envelope> {
  const { stdout } = await agents.run(["--format", "json", ...words]);
  return JSON.parse(stdout) as Envelope;
}

test("a program is added, listed, shown, tried and removed, and its secret is never shown", async () => {
  using agents = new Agents();
  const options = ["--env", `API_TOKEN=${SECRET}`, "--pass", "LANG", "--only", "echo", "--read-only", "get_*"];
  const words = ["mcp", "server", "add", "every", ...options, "--timeout", "9"];
  const added = await agents.run([...words, "--", process.execPath, EVERYTHING]);
  expect(added).toMatchObject({ code: 0 });
  expect(added.stdout).toContain("every");
  expect(added.stdout).toContain("MCP server every added.");
  const listed = await json(agents, "mcp", "server", "list");
  expect(listed.data).toMatchObject({ total: 1, repository: null, servers: [{ name: "every", transport: "stdio" }] });
  const shown = await json(agents, "mcp", "server", "show", "EVERY");
  expect(shown.data).toMatchObject({
    logged_in: null,
    server: {
      command: [process.execPath, EVERYTHING],
      values: [
        { name: "API_TOKEN", from: "the credentials file" },
        { name: "LANG", from: "your environment" },
      ],
      tools: ["echo"],
      read_only_tools: ["get_*"],
      timeout_ms: 9000,
      confined: false,
      works_in: "outside",
    },
  });
  const tested = await json(agents, "mcp", "server", "test", "every");
  expect(tested).toMatchObject({ exit_code: 0, data: { server: "every", protocol: "2025-11-25" } });
  const people = await agents.run(["mcp", "server", "show", "every"]);
  const all = [added, people].map(({ stdout, stderr }) => stdout + stderr).join("");
  expect(`${all}${JSON.stringify([listed, shown, tested])}${stored(agents)}`).not.toContain(SECRET);
  expect(readFileSync(join(agents.dataDir, "credentials.yaml"), "utf8")).toContain(SECRET);
  const unasked = await json(agents, "mcp", "server", "remove", "every");
  expect(unasked).toMatchObject({ exit_code: 2, error: { kept: "Nothing was changed." } });
  expect(await json(agents, "mcp", "server", "remove", "every", "--yes")).toMatchObject({
    data: { removed: true, server: "every" },
  });
  expect(readFileSync(join(agents.dataDir, "credentials.yaml"), "utf8")).not.toContain(SECRET);
  expect((await json(agents, "mcp", "server", "list")).data).toMatchObject({ total: 0 });
  expect((await json(agents, "audit", "verify")).exit_code).toBe(0);
});

test("an address is added with a header, and has no login", async () => {
  using agents = new Agents();
  const words = ["mcp", "server", "add", "docs", "--url", "http://127.0.0.1:9/mcp"];
  const headers = ["--header", `X-Key=${SECRET}`, "--header", "Authorization=Bearer ${DOCS_TOKEN}"];
  expect((await json(agents, ...words, ...headers)).data).toMatchObject({
    servers: [{ url: "http://127.0.0.1:9/mcp", command: null }],
  });
  const { data } = await json(agents, "mcp", "server", "show", "docs");
  expect(data).toMatchObject({
    logged_in: false,
    server: {
      values: [
        { name: "X-Key", from: "the credentials file" },
        { name: "Authorization", from: "Bearer ${DOCS_TOKEN}" },
      ],
    },
  });
  expect((await agents.run(["mcp", "server", "show", "docs"])).stdout).toMatch(/login:\s+no/);
  expect(await json(agents, "mcp", "server", "test", "docs")).toMatchObject({
    error: { code: "TOOL_FAILED", message: expect.stringContaining("needs DOCS_TOKEN") },
  });
  const tried = await agents.run(["mcp", "server", "test", "docs"], { env: { DOCS_TOKEN: "x" } });
  expect(tried.code).not.toBe(0);
  expect(tried.stderr).toContain('The MCP server "docs" failed');
  expect(await json(agents, "mcp", "server", "logout", "docs")).toMatchObject({ data: { was_logged_in: false } });
  expect((await agents.run(["mcp", "server", "logout", "docs"])).stdout).toContain("You were not logged in at docs.");
  expect((await json(agents, "mcp", "server", "login", "docs")).error?.code).toBe("TOOL_FAILED");
  expect(stored(agents)).not.toContain(SECRET);
});

test("servers of a file are added after a yes, all or none", async () => {
  using agents = new Agents();
  const one = { command: "prog", args: ["a"], env: { NUMBER: 7, TOKEN: SECRET }, disabled: true };
  const two = { url: "https://example.com/mcp", headers: { X: "${X_KEY:-none}" }, timeout: 5, tools: ["a"] };
  agents.write("servers.json", JSON.stringify({ mcpServers: { one, two } }));
  const all = ["mcp", "server", "add", "--file", "servers.json"];
  const added = await json(agents, ...all, "--yes");
  expect(added).toMatchObject({ exit_code: 0, data: { ignored: ["one.disabled"] } });
  expect(added.messages.map(({ text }) => text)).toContain("Not known here, and left out: one.disabled.");
  const again = await json(agents, ...all, "--yes");
  expect(again).toMatchObject({ exit_code: 4, error: { code: "ALREADY_EXISTS" } });
  expect(again.error?.kept).toContain("Nothing was written");
  await json(agents, "mcp", "server", "remove", "one", "--yes");
  // The one that is there already keeps the other out, whose values are forgotten.
  expect((await json(agents, ...all, "--yes")).error?.code).toBe("ALREADY_EXISTS");
  expect(readFileSync(join(agents.dataDir, "credentials.yaml"), "utf8")).not.toContain(SECRET);
  const chosen = ["mcp", "server", "add", "one", "--file", "servers.json", "--confined", "--timeout", "3", "--yes"];
  expect((await json(agents, ...chosen)).data).toMatchObject({
    servers: [{ name: "one", confined: true, timeout_ms: 3000 }],
  });
  expect((await json(agents, "mcp", "server", "add", "three", "--file", "servers.json")).error?.message).toBe(
    'servers.json has no server "three" (it has: one, two).',
  );
  agents.write("none.json", '{ "mcpServers": {} }');
  expect((await json(agents, "mcp", "server", "add", "--file", "none.json")).error?.message).toBe(
    "none.json defines no servers.",
  );
  expect((await json(agents, ...all, "--url", "https://example.com")).error?.message).toContain(
    "give the file, or a command or url",
  );
});

test("a definition that cannot be used is refused with every reason, and nothing is written", async () => {
  using agents = new Agents();
  const refused = async (...words: string[]): Promise<string> => {
    const { exit_code: code, error } = await json(agents, "mcp", "server", "add", ...words);
    expect(code).not.toBe(0);
    expect(error?.kept).toBe("Nothing was written.");
    return error?.message ?? "";
  };
  expect(await refused()).toContain("Name the server");
  expect(await refused("a__b", "--", "x")).toContain("name must have at most 40");
  expect(await refused("a")).toContain("needs a command or a url, and not both");
  expect(await refused("a", "--url", "https://x.example", "--", "x")).toContain("and not both");
  expect(await refused("a", "--url", "ftp://x.example")).toContain("must be an address");
  expect(await refused("a", "--url", "no address")).toContain("must be an address");
  expect(await refused("a", "--url", "https://me:pass@x.example")).toContain("must not hold a name or a password");
  expect(await refused("a", "--url", "http://169.254.169.254/mcp")).toContain("clouds answer with credentials");
  expect(await refused("a", "--url", "https://x.example", "--env", "A=b")).toContain("env is for servers");
  expect(await refused("a", "--url", "https://x.example", "--works-in", "sandbox")).toContain("works_in is for");
  const headers = ["--header", "bad name=x", "--header", "Mcp-Session-Id=x", "--header", "X=a\nb"];
  const message = await refused("a", "--url", "https://x.example", ...headers);
  expect(message).toContain("headers.bad name is not the name of a header");
  expect(message).toContain("headers.Mcp-Session-Id is set by the protocol");
  expect(message).toContain("headers.X must be one line of Latin characters");
  expect(await refused("a", "--header", "X=y", "--", "x")).toContain("headers are for servers with a url");
  expect(await refused("a", "--timeout", "0", "--", "x")).toContain("timeout must be between");
  expect(await refused("a", "--pass", "1X", "--", "x")).toContain("env.1X is not the name of a variable");
  const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  const secret = await refused("a", "--", "prog", token);
  expect(secret).toContain("args.0 holds a secret");
  expect(secret).not.toContain(token);
  expect(await refused("a", "--", "")).toContain("command must not be empty");
  expect((await json(agents, "mcp", "server", "list")).data).toMatchObject({ total: 0 });
});

test("a file with something wrong in it is refused by name and place", async () => {
  using agents = new Agents();
  const refused = async (content: unknown): Promise<string> => {
    agents.write("servers.json", typeof content === "string" ? content : JSON.stringify(content));
    const { error } = await json(agents, "mcp", "server", "add", "--file", "servers.json", "--yes");
    expect(error?.code).toBe("VALIDATION");
    return error?.message ?? "";
  };
  expect(await refused("{")).toContain("servers.json is not JSON");
  expect(await refused([])).toContain('servers.json has no "mcpServers"');
  expect(await refused({ servers: { a: "x" } })).toContain("a must be an object");
  const wrong = { command: 1, args: "x", env: { A: {} }, type: "sse", works_in: "moon", timeout: "5" };
  const message = await refused({ mcpServers: { a: wrong } });
  expect(message).toContain("sse is the old transport");
  expect(message).toContain("command must be a text");
  expect(message).toContain("works_in must be outside or sandbox");
  expect(message).toContain("timeout must be a number of seconds");
  expect(message).toContain("env must hold texts by their names");
  expect(await refused({ servers: { a: { command: "x", args: "y", headers: 1 } } })).toMatch(/args must be a list/);
  expect(await refused({ servers: { a: { command: "x", type: "pigeon" } } })).toContain("type must be stdio or http");
  expect(await refused({ servers: { a: { command: "x", cwd: "here" } } })).toContain("cwd must be an absolute path");
});

test("servers of projects stand beside the user's, and outlive their project", async () => {
  using world = new World();
  const { agents } = world;
  await json(agents, "project", "create", "shop");
  await json(agents, "project", "create", "bank");
  const add = ["mcp", "server", "add", "memory", "--env", `T=${SECRET}`];
  for (const project of ["shop", "bank"])
    expect((await json(agents, ...add, "--project", project, "--", "x")).exit_code).toBe(0);
  expect((await json(agents, "mcp", "server", "show", "memory")).error).toMatchObject({
    message: 'Several projects have an MCP server "memory": local/shop, local/bank.',
  });
  expect((await json(agents, "mcp", "server", "list", "--project", "shop")).data).toMatchObject({
    total: 1,
    servers: [{ project: "local/shop" }],
  });
  const taken = await json(agents, ...add, "--project", "shop", "--", "y");
  expect(taken.error?.message).toBe('There is already an MCP server "memory" in the project local/shop.');
  expect((await agents.run([...add, "--project", "none", "--", "x"])).stderr).toContain("none");
  await json(agents, ...add, "--", "mine");
  expect((await json(agents, "mcp", "server", "show", "memory")).data).toMatchObject({ server: { project: null } });
  expect((await json(agents, "mcp", "server", "show", "memori")).error).toMatchObject({
    code: "NOT_FOUND",
    detail: { suggestion: "memory" },
  });
  expect((await json(agents, "mcp", "server", "show", "zzzzzz")).error?.code).toBe("NOT_FOUND");
  expect((await json(agents, "project", "delete", "shop", "--yes")).exit_code).toBe(0);
  const removed = await json(agents, "mcp", "server", "remove", "memory", "--project", "shop", "--yes");
  expect(removed).toMatchObject({ exit_code: 0, data: { removed: true } });
  expect((await json(agents, "mcp", "server", "list")).data).toMatchObject({ total: 2 });
  expect((await json(agents, "mcp", "server", "show", "memory", "--project", "shop")).error?.code).toBe("NOT_FOUND");
});

test("a repository's file is listed, accepted, refused and asked for again", async () => {
  using world = new World();
  const { agents, repository } = world;
  const here = async (...words: string[]) => {
    const { stdout, stderr, code } = await agents.run(words, { cwd: repository });
    return { text: stdout + stderr, code };
  };
  expect((await here("mcp", "server", "accept", "--yes")).text).toContain(".mcp.json");
  const file = join(repository, ".mcp.json");
  const helper = { command: "sh", args: ["-c", "x"], env: { A: "${HELPER_TOKEN}" } };
  writeFileSync(file, JSON.stringify({ mcpServers: { helper, far: { url: "https://far.example/mcp" } } }));
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+not accepted/);
  const unasked = await here("mcp", "server", "accept");
  expect(unasked).toMatchObject({ code: 2 });
  expect(unasked.text).toContain("--yes");
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+not accepted/);
  const accepted = await json(agents, "mcp", "server", "accept", repository, "--yes");
  expect(accepted.data).toMatchObject({ accepted: true, servers: ["helper", "far"] });
  expect(JSON.stringify(accepted.data["wants"])).toMatch(/sh -c x.*far\.example.*HELPER_TOKEN/s);
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+accepted/);
  writeFileSync(file, JSON.stringify({ mcpServers: { helper } }));
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+not accepted/);
  expect((await here("mcp", "server", "accept", "--refuse")).text).toContain("are not used");
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+refused/);
  writeFileSync(file, "{ broken");
  expect((await here("mcp", "server", "list")).text).toMatch(/state:\s+not usable/);
});

test("a server that does not work is told with what it said, and the exit code is not 0", async () => {
  using agents = new Agents();
  const log = join(agents.directory, "log");
  await json(agents, "mcp", "server", "add", "bad", "--confined", "--", "sh", "-c", "echo out of order >&2; exit 4");
  const { exit_code: code, error } = await json(agents, "mcp", "server", "test", "bad");
  expect(code).not.toBe(0);
  expect(error?.message).toMatch(/The MCP server "bad" ended.*out of order/);
  await json(agents, "mcp", "server", "add", "odd", "--", process.execPath, HOSTILE, log);
  const tested = await agents.run(["mcp", "server", "test", "odd"]);
  expect(tested).toMatchObject({ code: 0 });
  expect(tested.stdout).toMatch(/protocol:\s+2025-06-18/);
  expect(tested.stdout).toContain("The MCP server odd works: 8 tools.");
  const login = await json(agents, "mcp", "server", "login", "odd");
  expect(login.error).toMatchObject({
    message: 'The MCP server "odd" is a program on this machine; it has no login here.',
    kept: "Nothing was sent.",
  });
});

test("a person logs in, and four processes that renew the tokens at once lose none", { timeout: 60_000 }, async () => {
  await using server = await LoginServer.listen();
  using agents = new Agents();
  await json(agents, "mcp", "server", "add", "docs", "--url", server.url);
  const { child, finished } = agents.start(["mcp", "server", "login", "docs"]);
  const page = await new Promise<string>((resolve) => {
    let seen = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: string) => {
        seen += text;
        const found = /http:\S+authorize\S+/.exec(seen)?.[0];
        if (found !== undefined) resolve(found);
      });
  });
  expect(await server.visit(page)).toContain("You can close this page");
  const login = await finished;
  expect(login).toMatchObject({ code: 0, stdout: expect.stringContaining("Logged in at docs.") });
  server.expire();
  server.renewalMs = 300;
  const words = ["mcp", "server", "test", "docs"];
  const tests = await Promise.all(Array.from({ length: 4 }, () => agents.process(words)));
  expect(tests.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(server).toMatchObject({ renewals: 1, refusedRenewals: 0 });
  const text = [login, ...tests].map(({ stdout, stderr }) => stdout + stderr).join("");
  expect(`${text}${stored(agents)}`).not.toMatch(/access-|refresh-/);
});
