import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TOOLS } from "../execution/tool-pipeline.ts";
import { TOOL_NAMES } from "../domain/tool-actor.ts";
import { ROOT } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

test("a plan is executed in a sandbox, shown, repeated without effect, and cleaned up; the user's repository stays as it is", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const before = userState(world);
  const id =
    await world.typed(`  - { id: write, tool: write_file, params: { path: "docs/{who}.txt", content: "hello {who}\\n" } }
  - { id: shout, tool: shell_execute, params: { command: "tr a-z A-Z < docs/{who}.txt > docs/LOUD.txt; echo noise > x.log" }, needs: [write] }
  - { id: edit, tool: edit-file, params: { path: a.txt, old: two, new: "2" } }
  - { id: move, tool: move_file, params: { path: a.txt, to: b.txt }, needs: [edit] }
`);
  const { stderr, code } = await agents.run(["plan", "execute", id]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("done     shout  shell_execute")]);
  const again = await agents.json("plan", "execute", id);
  expect(again.data).toMatchObject({
    ran: false,
    phase: "execute",
    state: "complete",
    steps: [],
    changes: { files: 4 },
  });
  const diff = await agents.json("plan", "diff", id);
  expect(diff.data).toMatchObject({
    diff_summary: { files_changed: 4, insertions: 3, deletions: 1 },
    files: [
      { path: "a.txt", change: "deleted", steps: ["edit", "move"] },
      { path: "b.txt", change: "added", steps: ["move"] },
      { path: "docs/LOUD.txt", change: "added", steps: ["shout"] },
      { path: "docs/world.txt", change: "added", steps: ["write"] },
    ],
  });
  expect((await agents.run(["plan", "diff", id])).stdout).toContain("rename from a.txt\nrename to b.txt");
  expect((await agents.run(["plan", "diff", id], { env: { FORCE_COLOR: "1" } })).stdout).toContain(
    "\u001b[32m+hello world",
  );
  expect((await agents.run(["plan", "diff", id, "--stat"])).stdout).toContain("4 files changed");
  expect((await agents.json("plan", "artifacts", id)).data["summary"]).toEqual({
    total: 4,
    writes: 3,
    edits: 0,
    deletes: 1,
    total_size: 30,
  });
  expect((await agents.run(["plan", "artifacts", id])).stdout).toContain("4 artifacts listed");
  expect(userState(world)).toBe(before);

  // What the diff says, applied by git itself to the user's commit, is what the sandbox holds.
  const patch = String(diff.data["patch"]);
  execFileSync("git", ["apply", "--check", "-"], { cwd: world.repository, input: patch });

  expect((await agents.json("cleanup", "list")).data).toMatchObject({ summary: { total: 1, removable: 0 } });
  await agents.json("plan", "cancel", id);
  expect((await agents.json("cleanup", "run")).exit_code).toBe(2);
  expect((await agents.json("cleanup", "run", "--yes")).data["removed"]).toHaveLength(1);
  expect((await agents.run(["cleanup", "list"])).stdout).toContain("No sandboxes.");
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
  expect((await agents.json("plan", "diff", id)).data).toMatchObject({ diff_summary: { files_changed: 4 } });
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("a failing step stops the plan and says why; executed again it goes on behind the recorded steps", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const flag = join(agents.directory, "flag");
  const id = await world.typed(`  - { id: count, tool: shell_execute, params: { command: "echo x >> count.txt" } }
  - { id: check, tool: shell_execute, params: { command: "echo half > half.txt; test -e '${flag}'" } }
  - { id: after, tool: write_file, params: { path: after.txt, content: done } }
`);
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({
    exit_code: 1,
    error: { code: "TOOL_FAILED", message: expect.stringContaining("exit code 1") },
  });
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "execute", state: "errored" });
  expect((await agents.json("plan", "errors", id)).data["errors"]).toMatchObject([
    { phase: "execute", kind: "errored" },
  ]);
  // The failed step's half-done work is credited to nobody.
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "count.txt", steps: ["count"] },
  ]);
  writeFileSync(flag, "");
  const resumed = await agents.json("plan", "execute", id);
  expect(resumed.data["steps"]).toMatchObject([
    { id: "count", status: "recorded" },
    { id: "check", status: "done" },
    { id: "after", status: "done" },
  ]);
  const { data } = await agents.json("plan", "diff", id);
  expect(data["files"]).toMatchObject([
    { path: "after.txt" },
    { path: "count.txt", steps: ["count"] },
    { path: "half.txt", steps: ["check"] },
  ]);
  expect(String(data["patch"])).toContain("+x\n");
});

/** Everything of the user's repository that a plan must not change. */
function userState(world: World): string {
  const refs = world
    .git("for-each-ref")
    .split("\n")
    .filter((line) => !line.includes("refs/cleveragents/"));
  return [
    refs.join("\n"),
    world.git("status", "--porcelain", "--ignored"),
    readFileSync(join(world.repository, ".git/config"), "utf8"),
  ].join();
}

test("of several that execute one plan at once one does, and nothing is done twice", async () => {
  await using world = await World.make({ registered: false });
  const id = await world.typed(
    `  - { id: slow, tool: shell_execute, params: { command: "sleep 0.5; echo x >> count.txt" } }\n`,
  );
  const runs = await Promise.all(Array.from({ length: 4 }, () => world.agents.json("plan", "execute", id)));
  expect(runs.filter((run) => run.data["ran"] === true)).toHaveLength(1);
  for (const run of runs) expect([0, 4]).toContain(run.exit_code);
  expect(String((await world.agents.json("plan", "diff", id)).data["patch"]).match(/^\+x$/gm)).toHaveLength(1);
});

test("Ctrl-C stops cleanly, and the plan can go on at once", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const started = join(agents.directory, "started");
  const id = await world.typed(`  - { id: first, tool: write_file, params: { path: first.txt, content: "1" } }
  - { id: slow, tool: shell_execute, params: { command: "test -e '${started}' || { sleep 60; }; echo slow > slow.txt" } }
`);
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/cli/main.ts";
  const child = spawn(process.execPath, [join(ROOT, program), "--data-dir", agents.dataDir, "plan", "execute", id], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  while (!stderr.includes("started  slow")) await sleep(20);
  await sleep(200);
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, stderr]).toEqual([1, expect.stringContaining("was interrupted")]);
  expect(stderr).toContain(`agents plan execute ${id}`);
  writeFileSync(started, "");
  const { data } = await agents.json("plan", "execute", id);
  expect(data["steps"]).toMatchObject([
    { id: "first", status: "recorded" },
    { id: "slow", status: "done" },
  ]);
});

test("a command dies with the process that ran it, even when that was killed", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const id = await world.typed(
    `  - { id: slow, tool: shell_execute, params: { command: "sleep 61.7531; echo late > late.txt" } }\n`,
  );
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/agents"), "--data-dir", agents.dataDir, "plan", "execute", id],
    { stdio: "ignore" },
  );
  while (running("61.7531") === 0) await sleep(20);
  child.kill("SIGKILL");
  while (running("61.7531") > 0) await sleep(20);
  // Had it gone on, it would have written this before it was gone.
  expect(existsSync(join(agents.dataDir, "sandboxes", id, "1", "api", "tree", "late.txt"))).toBe(false);
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ state: "processing" });
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(4);
});

/** How many processes have the word in their command line. */
function running(word: string): number {
  const lines = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine);
  return lines.filter((line) => line.includes(word)).length;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test("what a command writes into its sandbox's .git neither hides files nor runs outside", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const marker = join(agents.directory, "marker");
  const id = await world.typed(`  - id: hide
    tool: shell_execute
    params:
      command: |
        echo hidden > hidden.txt
        echo hidden.txt >> .git/info/exclude
        git config filter.evil.clean "touch '${marker}'; cat"
        git config core.excludesFile "$PWD/hidden.txt"
        echo '* filter=evil' > .git/info/attributes
  - { id: again, tool: shell_execute, params: { command: "echo more >> hidden.txt; git config --list --local" } }
`);
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "hidden.txt", steps: ["hide", "again"] },
  ]);
  expect(existsSync(marker)).toBe(false);
});

test("what cannot be executed is refused before anything is changed", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const id = await world.typed(`  - { tool: write_file, params: { resource: api, path: x.txt, content: x } }\n`);
  await agents.json("project", "create", "other");
  await agents.json("resource", "add", "fs-directory", "second", "--path", agents.directory);
  await agents.json("project", "link-resource", "other", "second", "--alias", "API");
  const clash = await agents.json("plan", "use", "greet", "shop", "other", "--arg", "who=x");
  const refused = await agents.json("plan", "execute", String(clash.data["plan_id"]));
  expect(refused).toMatchObject({ exit_code: 2, error: { message: expect.stringContaining("one alias twice") } });

  const foreign = await agents.json(
    "plan",
    "use",
    "greet",
    "shop",
    "--arg",
    "who=x",
    "--execution-actor",
    "local/nobody",
  );
  expect(await agents.json("plan", "execute", String(foreign.data["plan_id"]))).toMatchObject({
    exit_code: 3,
    error: { code: "NOT_FOUND" },
  });

  await agents.json("plan", "cancel", id);
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(4);
  expect(existsSync(join(agents.dataDir, "sandboxes"))).toBe(false);

  const inside = await agents.json("plan", "use", "greet", "other", "--arg", "who=x");
  const recursive = await agents.json("plan", "execute", String(inside.data["plan_id"]));
  expect(recursive).toMatchObject({
    exit_code: 1,
    error: { message: expect.stringContaining("contains the data directory") },
  });
});

test("a read-only resource is not written, and a plan of a plain directory works on a copy", async () => {
  await using world = await World.make({ registered: false });
  const { agents } = world;
  const directory = join(agents.directory, "plain");
  mkdirSync(directory);
  writeFileSync(join(directory, "notes.txt"), "mine\n");
  const id =
    await world.typed(`  - { id: dir, tool: edit_file, params: { resource: notes, path: notes.txt, old: mine, new: ours } }
  - { id: api, tool: write_file, params: { resource: api, path: x.txt, content: x } }
`);
  await agents.json("resource", "add", "fs-directory", "notes", "--path", directory);
  await agents.json("plan", "cancel", id);
  await agents.json("project", "link-resource", "shop", "notes");
  await agents.json("project", "unlink-resource", "shop", "api");
  await agents.json("project", "link-resource", "shop", "api", "--read-only");
  const use = await agents.json("plan", "use", "greet", "shop", "--arg", "who=x");
  const failed = await agents.json("plan", "execute", String(use.data["plan_id"]));
  expect(failed).toMatchObject({
    exit_code: 1,
    error: { code: "CONTAINED", message: expect.stringContaining("read-only") },
  });
  expect(String((await agents.json("plan", "diff", String(use.data["plan_id"]))).data["patch"])).toContain("+ours");
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("mine\n");
});

test("the tools an actor may name are the tools there are", () => {
  expect([...TOOLS.keys()].sort()).toEqual([...TOOL_NAMES].sort());
});
