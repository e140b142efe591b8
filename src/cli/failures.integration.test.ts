import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";

const hash = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

test("a damaged database gives one clear error, exit 1, and is left as it is", async () => {
  using agents = new Agents();
  mkdirSync(agents.dataDir, { recursive: true });
  writeFileSync(
    agents.database,
    "this is not a database, but it is long enough to look like a file with content".repeat(50),
  );
  const before = hash(agents.database);
  const failed = await agents.json("plan", "list");
  expect(failed).toMatchObject({
    exit_code: 1,
    status: "error",
    error: { code: "STORE_CORRUPT", kept: "It was left as it is.", message: expect.stringContaining(agents.database) },
  });
  const { stderr, stdout, code } = await agents.run(["plan", "list"]);
  expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 3]);
  expect(await agents.json("diagnostics")).toMatchObject({ status: "error", exit_code: 1, data: { has_errors: true } });
  expect(hash(agents.database)).toBe(before);
});

test("a database of a newer program is refused and not touched", async () => {
  using agents = new Agents();
  await agents.json("init");
  const database = new DatabaseSync(agents.database);
  database.exec("INSERT INTO schema_migrations VALUES (99, 'from the future', 0)");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const before = hash(agents.database);
  expect(await agents.json("plan", "list")).toMatchObject({ exit_code: 1, error: { code: "STORE_TOO_NEW" } });
  expect(hash(agents.database)).toBe(before);
});

test("a data directory that cannot be used says so", async () => {
  using agents = new Agents();
  writeFileSync(agents.dataDir, "a file where a directory should be");
  expect(await agents.json("plan", "list")).toMatchObject({ exit_code: 1, error: { code: "STORE_FAILED" } });
});

test("a broken configuration file is named with its line and stops every command but not help", async () => {
  using agents = new Agents();
  mkdirSync(agents.dataDir, { recursive: true });
  const config = join(agents.dataDir, "config.yaml");
  writeFileSync(config, "core.user: [\n");
  expect(await agents.json("plan", "list")).toMatchObject({
    exit_code: 1,
    error: { code: "CONFIGURATION", message: expect.stringContaining("line 2") },
  });
  writeFileSync(config, "core.format: fancy\n");
  const { code, stderr } = await agents.run(["plan", "list"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("core.format (global)")]);
  expect((await agents.run(["plan", "--help"])).code).toBe(0);
  writeFileSync(
    config,
    "core.user: alice\nunknown.key: 1\nprovider.house.base-url: http://127.0.0.1:1/v1\nprovider.house.bas-url: x\n",
  );
  const { data } = await agents.json("diagnostics");
  expect(data["checks"]).toContainEqual({
    name: "configuration",
    status: "warning",
    message: `${config} has unknown keys: unknown.key, provider.house.bas-url`,
    fixes: ["agents config unset unknown.key", "agents config unset provider.house.bas-url"],
  });
});

test("hostile words are refused with an error, never a crash, never a row", async () => {
  using agents = new Agents();
  await agents.withPlan();
  const before = await agents.json("audit", "list", "-n", "1000");
  const hostile = [
    "../x",
    "/etc/passwd",
    "a\\b",
    "a/b/c",
    "",
    " ",
    "é",
    "a\u0007b",
    "x".repeat(5000),
    "system/x",
    "openai/x",
    "a:b",
    "-x y",
  ];
  for (const word of hostile) {
    const { code, stderr } = await agents.run(["project", "create", "--", word]);
    expect([word, code], stderr).toEqual([word, 2]);
    expect(stderr).not.toContain("at ");
    expect((await agents.run(["plan", "use", "fix-bug", "shop", "--arg", `issue=${word}`])).code).toBe(2);
    expect([2, 3]).toContain((await agents.run(["plan", "status", "--", word])).code);
  }
  const after = await agents.json("audit", "list", "-n", "1000");
  expect(after.data["entries"]).toEqual(before.data["entries"]);
});

test("every problem of a YAML file is shown with file, line, column, key and suggestion", async () => {
  using agents = new Agents();
  agents.write(
    "bad.yaml",
    "name: fix\ndesciption: x\nexecutionActor: local/a\ndefinition_of_done: done {nope}\narguments:\n  - nam: x\n",
  );
  const { error } = await agents.json("action", "create", "--config", "bad.yaml");
  expect(error?.detail["issues"]).toMatchObject([
    { path: "description", message: "is required", line: 1 },
    { path: "desciption", message: "unknown key", suggestion: "description", file: "bad.yaml", line: 2, column: 1 },
    { path: "executionActor", suggestion: "execution_actor", line: 3, column: 1 },
    { path: "arguments.0.name", message: "is required", line: 6 },
    { path: "arguments.0.nam", message: "unknown key", suggestion: "name", line: 6, column: 5 },
  ]);
  for (const [name, text] of [
    ["list.yaml", "- a\n"],
    ["twice.yaml", "name: a\nname: b\n"],
    [
      "bomb.yaml",
      `a: &a [x]\n${"b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n".repeat(1)}c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
    ],
    ["huge.yaml", `name: ${"x".repeat(1_100_000)}\n`],
    ["alias.yaml", "name: *nothing\n"],
  ] as const) {
    agents.write(name, text);
    expect((await agents.json("action", "create", "--config", name)).exit_code, name).toBe(2);
  }
  expect((await agents.json("action", "create", "--config", "missing.yaml")).error?.message).toContain(
    "There is no file missing.yaml.",
  );
  expect((await agents.json("action", "create")).exit_code).toBe(2);
  expect((await agents.json("action", "list")).data["actions"]).toEqual([]);
});

test("usage errors exit 2 in every format and point to the right help", async () => {
  using agents = new Agents();
  expect((await agents.json("plan", "list", "--stat", "x")).error?.suggestions).toEqual(["agents plan list --help"]);
  expect((await agents.json("nonsense")).error?.suggestions).toEqual(["agents --help"]);
  expect((await agents.json("action", "show")).error?.suggestions).toEqual(["agents action show --help"]);
  expect((await agents.json("plan", "prompt")).error?.suggestions).toEqual(["agents plan prompt --help"]);
  expect((await agents.json("plan", "cancle", "x")).error?.message).toContain("agents plan cancel");
  expect((await agents.run(["--format", "fancy", "version"])).code).toBe(2);
  expect((await agents.run(["--format=yaml", "plan", "nope"])).stdout).toContain("status: error");
  expect((await agents.run(["completion", "zshh"])).stderr).toContain("agents completion zsh");
  expect((await agents.run(["plan", "status", "not an id"])).code).toBe(3);
});

test("-v shows the cause of an error, otherwise there is no stack", async () => {
  using agents = new Agents();
  mkdirSync(agents.dataDir, { recursive: true });
  writeFileSync(agents.database, "x".repeat(5000));
  expect((await agents.run(["plan", "list"])).stderr).not.toContain("    at ");
  expect((await agents.run(["-v", "plan", "list"])).stderr).toContain("caused by");
});

test("help is there on every level and fits 80 columns", async () => {
  using agents = new Agents();
  const { COMMANDS } = await import("./words/command-table.ts");
  // Every command and every group around it: "resource type list" is in "resource type", which is in "resource".
  const paths = COMMANDS.flatMap(({ path }) =>
    path.split(" ").map((_, end, words) => words.slice(0, end + 1).join(" ")),
  );
  for (const words of [[], ...[...new Set(paths)].map((path) => path.split(" "))]) {
    const { code, stdout } = await agents.run([...words, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(["Usage: agents", ...words].join(" "));
    expect(Math.max(...stdout.split("\n").map((line) => line.length)), words.join(" ")).toBeLessThanOrEqual(80);
  }
});

test("a reader that goes away is not an error", async () => {
  using agents = new Agents();
  await agents.withPlan();
  const program = join(ROOT, "bin/agents");
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    `"$0" "$1" --data-dir "$2" plan --help | head -1; echo "$?"`,
    process.execPath,
    program,
    agents.dataDir,
  ]);
  expect(stdout).toContain("Usage");
});

test("a command that fails when its messages have no reader any more ends with its exit code", async () => {
  using agents = new Agents();
  const child = spawn(
    process.execPath,
    [join(ROOT, "src/agents-program.ts"), "--data-dir", agents.dataDir, "plan", "status", "x"],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  child.stderr.destroy();
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(3);
});

test("completion scripts complete commands and options", async () => {
  using agents = new Agents();
  const { stdout: script } = await agents.run(["completion", "bash"]);
  const complete = async (...words: string[]): Promise<string[]> => {
    const lines = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _agents; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", lines]);
    return stdout.trim().split(" ");
  };
  expect(await complete("agents", "pl")).toEqual(["plan"]);
  expect(await complete("agents", "plan", "can")).toEqual(["cancel"]);
  expect(await complete("agents", "plan", "list", "--ph")).toEqual(["--phase"]);
  expect(await complete("agents", "resource", "ty")).toEqual(["type"]);
  expect(await complete("agents", "resource", "type", "")).toEqual(["list", "show"]);
  expect(await complete("agents", "resource", "list", "--t")).toEqual(["--type"]);
  expect(await complete("agents", "resource", "add", "--b")).toEqual(["--branch"]);
  expect(await complete("agents", "completion", "z")).toEqual(["zsh"]);
});

test("the launcher works through a link from anywhere, and tells an old Node what is needed", async () => {
  using agents = new Agents();
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "bin/agents"), "version"], { cwd: "/" });
  expect(stdout).toContain("CleverAgents");
  const { stdout: link } = await promisify(execFile)("sh", [
    "-c",
    `ln -s "$1" "$2/agents" && "$0" "$2/agents" --version`,
    process.execPath,
    join(ROOT, "bin/agents"),
    agents.directory,
  ]);
  expect(link).toContain("CleverAgents");
  // The launcher alone, without a checkout around it, as seen by a Node that says it is 20.
  const pretend = agents.write("old.cjs", 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });');
  const lonely = agents.write("lonely.cjs", readFileSync(join(ROOT, "bin/agents"), "utf8"));
  const old = spawn(process.execPath, ["--require", pretend, lonely], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  old.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise((resolve) => old.on("close", resolve));
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: .* needs Node 24\.15 or newer .*: npm install -g n .*\n$/),
  ]);
});

test("four processes that write the configuration, the data and the first database at once all succeed", async () => {
  using agents = new Agents();
  const runs = await Promise.all([
    ...Array.from({ length: 4 }, (_, index) => agents.process(["project", "create", `project-${index}`])),
    agents.process(["config", "set", "core.user", "alice"]),
    agents.process(["config", "set", "core.automation-profile", "ci"]),
  ]);
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
  expect((await agents.json("project", "list")).data["summary"]).toEqual({ total: 4 });
  expect((await agents.json("config", "get", "core.automation-profile")).data["value"]).toBe("ci");
  expect((await agents.json("config", "get", "core.user")).data["value"]).toBe("alice");
  expect(readdirSync(agents.dataDir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});
