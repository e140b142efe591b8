import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { BUILT_IN_TOOLS } from "../execution/tools/tool-set.ts";
import { TOOL_NAMES } from "../domain/names/tool-names.ts";
import { READ_ONLY_TOOLS } from "../domain/validation/validation.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { ROOT } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

test("a plan is executed in a sandbox, shown, repeated without effect, and cleaned up; the user's repository stays as it is", async () => {
  using world = new World();
  const { agents } = world;
  const before = world.state();
  const id =
    await world.plan(`  - { id: write, tool: write_file, params: { path: "docs/{who}.txt", content: "hello {who}\\n" } }
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
  expect((await agents.run(["plan", "diff", id, "--stat"])).stdout).toContain("3 files changed");
  expect((await agents.json("plan", "artifacts", id)).data["summary"]).toEqual({
    total: 4,
    writes: 3,
    edits: 0,
    deletes: 1,
    total_size: 30,
  });
  expect((await agents.run(["plan", "artifacts", id])).stdout).toContain("4 artifacts listed");
  expect(world.state()).toBe(before);

  // Git applies the diff to the user's commit and gets the files of the sandbox.
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

test("what git ignores or a submodule holds is listed, and is not part of the plan", async () => {
  using world = new World();
  const { agents } = world;
  const head = world.git("rev-parse", "HEAD").trim();
  world.git("update-index", "--add", "--cacheinfo", `160000,${head},lib`);
  world.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "--message=submodule");
  const id = await world.plan(`  - { id: kept, tool: write_file, params: { path: out/kept.txt, content: kept } }
  - id: make
    tool: shell_execute
    params:
      command: |
        echo out/ >> .gitignore; echo "node_modules/" >> .gitignore; mkdir -p node_modules/a
        for i in 1 2 3 4 5; do echo $i > node_modules/a/$i; done
        echo x > out/extra.txt; echo x > '*.log'; mkdir -p lib; echo x > lib/x
`);
  const paths = ["*.log", "lib/", "node_modules/", "out/extra.txt"];
  const left = paths.map((path) => ({ resource: "api", path }));
  const executed = await agents.json("plan", "execute", id);
  expect(executed.data["left_out"]).toEqual(left);
  expect(executed.messages.at(-1)?.text).toBe(
    "4 paths left out, ignored by git, junk of commands or in a submodule: *.log, lib/, node_modules/ and 1 more.",
  );
  const diff = await agents.json("plan", "diff", id);
  expect(diff.data["left_out"]).toEqual(left);
  expect(diff.data["files"]).toMatchObject([{ path: ".gitignore" }, { path: "out/kept.txt" }]);
  expect((await agents.run(["plan", "diff", id, "--stat"])).stdout).toContain("4 paths left out");
  // With the sandbox they are gone; without its repository nothing is known, and the diff is there all the same.
  const tree = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  rmSync(join(tree, "../git"), { recursive: true });
  expect((await agents.json("plan", "diff", id)).data).toMatchObject({ left_out: null, files: [{}, {}] });
  rmSync(join(agents.dataDir, "sandboxes"), { recursive: true });
  expect((await agents.json("plan", "diff", id)).data).toMatchObject({ left_out: [], files: [{}, {}] });
});
/** The home that commands of the plan see, confined or not. */
function homeOf({ agents }: World, id: string): string {
  return join(agents.dataDir, "sandboxes", id, "1", "api", "home");
}

test("two steps that fail side by side leave two failures, in the order of the steps", async () => {
  using world = new World();
  const { agents } = world;
  const id = await world.plan(`  - { id: fine, tool: write_file, params: { path: fine.txt, content: done } }
  - { id: read, tool: read_file, params: { path: not-there.txt }, needs: [fine] }
  - { id: also, tool: read_file, params: { path: nor-there.txt }, needs: [fine] }
`);
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({ exit_code: 1, error: { message: expect.stringContaining("not-there.txt") } });
  expect((await agents.json("plan", "errors", id)).data["errors"]).toMatchObject([
    { phase: "execute", kind: "errored", message: expect.stringContaining("not-there.txt") },
    { phase: "execute", kind: "errored", message: expect.stringContaining("nor-there.txt") },
  ]);
});

test("a failing step stops the plan and says why; executed again it goes on behind the recorded steps", async () => {
  using world = new World();
  const { agents } = world;
  const id = await world.plan(`  - { id: count, tool: shell_execute, params: { command: "echo x >> count.txt" } }
  - { id: check, tool: shell_execute, params: { command: "echo half > half.txt; test -e $HOME/flag" } }
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
  // The failed step's half-done work is credited to no actor.
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "count.txt", steps: ["count"] },
  ]);
  writeFileSync(join(homeOf(world, id), "flag"), "");
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

test("a step that fails in color stops the plan all the same", async () => {
  using world = new World();
  const command = "printf '\\\\033[31mred\\\\033[0m \\\\007'; exit 1";
  const id = await world.plan(`  - { id: loud, tool: shell_execute, params: { command: "${command}" } }\n`);
  expect((await world.agents.json("plan", "execute", id)).error?.code).toBe("TOOL_FAILED");
  expect((await world.agents.json("plan", "status", id)).data).toMatchObject({
    state: "errored",
    error: { message: "The command ended with exit code 1: red " },
  });
});

test("of several that execute one plan at once one does, and nothing is done twice", async () => {
  using world = new World();
  const id = await world.plan(
    `  - { id: slow, tool: shell_execute, params: { command: "sleep 0.5; echo x >> count.txt" } }\n`,
  );
  const runs = await Promise.all(Array.from({ length: 4 }, () => world.agents.processJson("plan", "execute", id)));
  expect(runs.filter((run) => run.data["ran"] === true)).toHaveLength(1);
  for (const run of runs) expect([0, 4]).toContain(run.exit_code);
  expect(String((await world.agents.json("plan", "diff", id)).data["patch"]).match(/^\+x$/gm)).toHaveLength(1);
});

test("Ctrl-C stops cleanly, and the plan can go on at once", async () => {
  using world = new World();
  const { agents } = world;
  const id = await world.plan(`  - { id: first, tool: write_file, params: { path: first.txt, content: "1" } }
  - { id: slow, tool: shell_execute, params: { command: "test -e $HOME/started || { sleep 60; }; echo slow > slow.txt" } }
`);
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts";
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
  writeFileSync(join(homeOf(world, id), "started"), "");
  const { data } = await agents.json("plan", "execute", id);
  expect(data["steps"]).toMatchObject([
    { id: "first", status: "recorded" },
    { id: "slow", status: "done" },
  ]);
});

test("a command dies with the process that ran it, even when that was killed", async () => {
  using world = new World();
  const { agents } = world;
  const seconds = uniqueSeconds();
  const id = await world.plan(
    `  - { id: slow, tool: shell_execute, params: { command: "test -e $HOME/second || { touch $HOME/second; sleep ${seconds}; echo late > late.txt; }" } }\n`,
  );
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/agents"), "--data-dir", agents.dataDir, "plan", "execute", id],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const place = join(agents.dataDir, "sandboxes", id, "1", "api");
  // The shell's own command line has the number too: only the file says that the next run will not sleep.
  while (!existsSync(join(place, "home", "second"))) {
    expect([child.exitCode, stderr]).toEqual([null, expect.any(String)]);
    await sleep(20);
  }
  expect(running(seconds)).toBeGreaterThan(0);
  child.kill("SIGKILL");
  expect(await gone(seconds)).toBe(true);
  // Had it gone on, it would have written this before it was gone.
  expect(existsSync(join(place, "tree", "late.txt"))).toBe(false);
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ state: "processing" });
  // Its owner is dead, so the next one does not wait for the lease.
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
});

test("what a command writes into its sandbox's .git neither hides files nor runs outside", async () => {
  using world = new World();
  const { agents } = world;
  const marker = join(agents.directory, "marker");
  const id = await world.plan(`  - id: hide
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
  using world = new World();
  const { agents } = world;
  const id = await world.plan(`  - { tool: write_file, params: { resource: api, path: x.txt, content: x } }\n`);
  await agents.json("project", "create", "other");
  await agents.json("resource", "add", "fs-directory", "second", "--path", agents.directory);
  await agents.json("project", "link-resource", "other", "second", "--alias", "API");
  const clash = await agents.json("plan", "use", "greet", "shop", "other", "--arg", "who=x");
  const refused = await agents.json("plan", "execute", String(clash.data["plan_id"]));
  expect(refused).toMatchObject({ exit_code: 2, error: { message: expect.stringContaining("one alias twice") } });

  const foreign = ["greet", "shop", "--arg", "who=x", "--execution-actor", "local/unknown"];
  expect(await agents.json("plan", "use", ...foreign)).toMatchObject({ exit_code: 3, error: { code: "NOT_FOUND" } });

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
  using world = new World();
  const { agents } = world;
  const directory = join(agents.directory, "plain");
  mkdirSync(directory);
  writeFileSync(join(directory, "notes.txt"), "mine\n");
  const id =
    await world.plan(`  - { id: dir, tool: edit_file, params: { resource: notes, path: notes.txt, old: mine, new: ours } }
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

test("the tools an actor may name are the tools there are, and those a validation may name do not write", () => {
  expect([...BUILT_IN_TOOLS.keys()].sort()).toEqual([...TOOL_NAMES].sort());
  const reading = [...BUILT_IN_TOOLS.values()]
    .filter((tool) => !tool.writes && !("ask" in tool))
    .map(({ name }) => name);
  expect(reading.sort()).toEqual([...READ_ONLY_TOOLS].sort());
});
