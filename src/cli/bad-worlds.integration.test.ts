/** Executing where something is missing, moved, odd or full: a clear error, nothing half done, and a way on. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { SmallDisk } from "../testing/small-disk.ts";
import { World } from "./testing/world.ts";

const WRITE = `  - { id: write, tool: write_file, params: { path: new.txt, content: new } }\n`;

/** Nothing of a sandbox is left: no directory, no half of one, no ref. */
function expectNothingLeft(world: World): void {
  const directory = join(world.agents.dataDir, "sandboxes");
  const files = existsSync(directory) ? readdirSync(directory, { recursive: true }).map(String) : [];
  expect(files.filter((file) => file.split("/").length > 2)).toEqual([]);
  if (existsSync(join(world.repository, ".git"))) expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
}

async function stateOf(world: World, id: string): Promise<string> {
  const { data } = await world.agents.json("plan", "status", id);
  return `${String(data["phase"])}/${String(data["state"])}`;
}

describe("git", () => {
  test.each([
    ["is missing", undefined, "git cannot be run: it is not in any absolute directory of PATH."],
    ["is too old", "echo git version 2.30.2", "git 2.30.2 is too old"],
  ])("%s: told before the plan is touched", async (_what, script, message) => {
    using world = new World();
    const id = await world.plan(WRITE);
    const programs = join(world.agents.directory, "programs");
    mkdirSync(programs);
    if (script !== undefined) {
      writeFileSync(join(programs, "git"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(programs, "git"), 0o755);
    }
    const env = { PATH: script === undefined ? programs : `${programs}${delimiter}${process.env["PATH"] ?? ""}` };
    const { code, stderr } = await world.agents.process(["plan", "execute", id], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain("Nothing was changed.");
    expect(await stateOf(world, id)).toBe("strategize/queued");
    expectNothingLeft(world);
    expect((await world.agents.process(["diagnostics"], { env })).stdout).toMatch(/git +warning/);
    expect((await world.agents.json("plan", "execute", id)).exit_code).toBe(0);
  });
});

describe("the repository", () => {
  /** Executes, expects this error and nothing left, mends what was wrong, and executes again. */
  async function refusedThenDone(world: World, id: string, message: string, mend: () => void): Promise<number> {
    const refused = await world.agents.json("plan", "execute", id);
    expect(refused).toMatchObject({ exit_code: 1, error: { message: expect.stringContaining(message) } });
    expect(refused.error?.kept).toMatch(/Nothing/);
    expect(await stateOf(world, id)).toBe("execute/errored");
    mend();
    expectNothingLeft(world);
    return (await world.agents.json("plan", "execute", id)).exit_code;
  }

  test("with a detached HEAD: works from the commit that is checked out", async () => {
    using world = new World();
    world.git("checkout", "--quiet", "--detach");
    const before = world.state();
    const id = await world.plan(WRITE);
    const { data } = await world.agents.json("plan", "execute", id);
    expect(data["sandboxes"]).toMatchObject([
      { ref: null, base: world.git("rev-parse", "HEAD").trim(), status: "made" },
    ]);
    expect(world.state()).toBe(before);
  });

  test("whose branch is gone: told, and found when it is back", async () => {
    using world = new World();
    world.git("branch", "develop");
    world.resource.push("--branch", "develop");
    const id = await world.plan(WRITE);
    world.git("branch", "-D", "develop");
    expect(await refusedThenDone(world, id, 'there is no branch "develop"', () => world.git("branch", "develop"))).toBe(
      0,
    );
    // Once the sandbox is there, the branch may go.
    const other = await world.another();
    world.agents.write(
      "odd.yaml",
      "name: odd\ntype: tool\ndescription: d\nsteps: [{ tool: shell_execute, params: { command: test -e $HOME/flag } }]\n",
    );
    await world.agents.json("actor", "add", "--config", "odd.yaml");
    await world.agents.json("plan", "cancel", other);
    const begun = await world.another("--execution-actor", "local/odd");
    expect((await world.agents.json("plan", "execute", begun)).exit_code).toBe(1);
    world.git("branch", "-D", "develop");
    writeFileSync(join(world.agents.dataDir, "sandboxes", begun, "1", "api", "home", "flag"), "");
    expect((await world.agents.json("plan", "execute", begun)).data["sandboxes"]).toMatchObject([
      { ref: "refs/heads/develop", status: "resumed" },
    ]);
  });

  test("that became bare: told", async () => {
    using world = new World();
    const id = await world.plan(WRITE);
    world.git("config", "core.bare", "true");
    expect(
      await refusedThenDone(world, id, "is a bare repository", () => world.git("config", "core.bare", "false")),
    ).toBe(0);
  });

  test("that is none any more: told", async () => {
    using world = new World();
    const id = await world.plan(WRITE);
    renameSync(join(world.repository, ".git"), join(world.repository, "git"));
    expect(
      await refusedThenDone(world, id, "is not in a git repository", () =>
        renameSync(join(world.repository, "git"), join(world.repository, ".git")),
      ),
    ).toBe(0);
  });

  test("that is gone: told", async () => {
    using world = new World();
    const id = await world.plan(WRITE);
    renameSync(world.repository, `${world.repository}-away`);
    expect(
      await refusedThenDone(world, id, "no longer exists", () =>
        renameSync(`${world.repository}-away`, world.repository),
      ),
    ).toBe(0);
  });

  test("without a commit: told", async () => {
    using world = new World();
    rmSync(join(world.repository, ".git"), { recursive: true });
    world.git("init", "--quiet", "--initial-branch=main");
    const id = await world.plan(WRITE);
    expect(await refusedThenDone(world, id, "has no commit at HEAD to start from", () => world.commit())).toBe(0);
  });

  test("cloned without its history: works", async () => {
    using world = new World();
    world.commit("second");
    const shallow = join(world.agents.directory, "shallow");
    world.git("clone", "--quiet", "--depth=1", `file://${world.repository}`, shallow);
    world.resource = ["git-checkout", "api", "--path", shallow];
    const id = await world.plan(
      `${WRITE}  - { tool: shell_execute, params: { command: "git log --oneline > log.txt" } }\n`,
    );
    expect((await world.agents.json("plan", "execute", id)).error).toBeUndefined();
    const { data } = await world.agents.json("plan", "diff", id);
    expect(String(data["patch"]).match(/^\+[0-9a-f]{7,} /gm)).toHaveLength(1);
  });

  test("with submodules: they are empty directories; what a command puts there is listed, what a tool would is refused", async () => {
    using world = new World();
    const inner = join(world.agents.directory, "inner");
    world.git("clone", "--quiet", world.repository, inner);
    world.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "lib/inner");
    world.commit("with a submodule");
    const before = world.state();
    const id = await world.plan(`${WRITE}  - { tool: list_directory, params: { path: lib/inner } }
  - { id: shell, tool: shell_execute, params: { command: "ls -A lib/inner > listed.txt; echo x > lib/inner/x" } }
`);
    expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({
      changes: { files: 2, insertions: 1 },
      left_out: [{ resource: "api", path: "lib/inner/" }],
    });
    world.agents.write(
      "into.yaml",
      "name: into\ntype: tool\ndescription: d\nsteps: [{ tool: write_file, params: { path: lib/inner/x.txt, content: x } }]\n",
    );
    await world.agents.json("actor", "add", "--config", "into.yaml");
    const into = await world.another("--execution-actor", "local/into");
    expect(await world.agents.json("plan", "execute", into)).toMatchObject({
      exit_code: 1,
      error: {
        message: expect.stringContaining("lies in a submodule, and submodules are not part of a plan"),
      },
    });
    expect(world.state()).toBe(before);
  });

  test("eight plans of it at once: each in its own sandbox", async () => {
    using world = new World();
    const before = world.state();
    const plans = [
      await world.plan(
        `  - { tool: shell_execute, params: { command: "pwd > where.txt; git tag mine; git stash" } }\n${WRITE}`,
      ),
    ];
    while (plans.length < 8) plans.push(await world.another());
    const runs = await Promise.all(plans.map((id) => world.agents.processJson("plan", "execute", id)));
    expect(runs.map(({ exit_code: code }) => code)).toEqual(plans.map(() => 0));
    expect(world.git("for-each-ref", "refs/cleveragents").trim().split("\n")).toHaveLength(8);
    expect(world.state()).toBe(before);
    for (const id of plans) await world.agents.json("plan", "cancel", id);
    // Two at once do not get in each other's way.
    const cleanups = await Promise.all([1, 2].map(() => world.agents.processJson("cleanup", "run", "--yes")));
    expect(cleanups.map(({ error }) => error)).toEqual([undefined, undefined]);
    expectNothingLeft(world);
  });
});

describe("what is not committed", () => {
  test("is part of the beginning with --include-dirty, stays what it is, and is not what the plan changed", async () => {
    using world = new World();
    writeFileSync(join(world.repository, "a.txt"), "mine\ntwo\n");
    writeFileSync(join(world.repository, "b.txt"), "new\n");
    world.git("add", "b.txt");
    const before = [world.state(), world.git("diff", "HEAD")];
    const edit = `  - { id: edit, tool: edit_file, params: { path: a.txt, old: mine, new: ours } }\n`;
    const id = await world.plan(edit);
    const without = await world.agents.json("plan", "execute", id);
    expect(without).toMatchObject({
      exit_code: 1,
      error: { message: expect.stringContaining('does not contain "mine"') },
    });
    // The sandbox was made of what is committed, and that is what it goes on from.
    const late = await world.agents.run(["plan", "execute", id, "--include-dirty"]);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('does not contain "mine"')]);
    const other = await world.another();
    const { data, error } = await world.agents.json("plan", "execute", other, "--include-dirty");
    expect(error).toBeUndefined();
    expect(data["sandboxes"]).toMatchObject([{ include_dirty: true, ref: "refs/heads/main" }]);
    const diff = await world.agents.json("plan", "diff", other);
    expect(diff.data["files"]).toMatchObject([{ path: "a.txt", change: "modified" }]);
    expect(String(diff.data["patch"])).toContain("-mine\n+ours\n two");
    expect([world.state(), world.git("diff", "HEAD")]).toEqual(before);
  });

  test("of another branch cannot be included", async () => {
    using world = new World();
    world.git("branch", "develop");
    world.resource.push("--branch", "develop");
    const id = await world.plan(WRITE);
    expect(await world.agents.json("plan", "execute", id, "--include-dirty")).toMatchObject({
      exit_code: 1,
      error: {
        message: expect.stringContaining('it is on "main", and the plan is for "develop"'),
        suggestions: ["git switch develop", "execute without --include-dirty"],
      },
    });
    expectNothingLeft(world);
    const other = await world.another();
    await world.agents.json("plan", "execute", other, "--include-dirty");
    await world.agents.json("plan", "cancel", other);
    await world.agents.json("cleanup", "run", "--yes");
    expect(readdirSync(join(world.agents.dataDir, "sandboxes"))).toEqual([id]);
    expect((await world.agents.json("plan", "execute", id)).exit_code).toBe(0);
  });
});

describe("a sandbox that is lost", () => {
  const TWO = `${WRITE}  - { id: wait, tool: shell_execute, params: { command: "test -e new.txt && test -e go.txt" } }\n`;

  test("is made again from where the plan began, though the branch has moved", async () => {
    using world = new World();
    const id = await world.plan(TWO.replace("&& test -e go.txt", "&& test -e $HOME/flag"));
    const begun = world.git("rev-parse", "HEAD").trim();
    expect((await world.agents.json("plan", "execute", id)).exit_code).toBe(1);
    writeFileSync(join(world.repository, "a.txt"), "moved on\n");
    world.commit("moved on");
    const home = join(world.agents.dataDir, "sandboxes", id, "1", "api");
    rmSync(join(home, "tree"), { recursive: true });
    const again = await world.agents.json("plan", "execute", id);
    expect(again.exit_code).toBe(1);
    expect(readFileSync(join(home, "tree", "a.txt"), "utf8")).toBe("one\ntwo\n");
    mkdirSync(join(home, "home"), { recursive: true });
    writeFileSync(join(home, "home", "flag"), "");
    expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({
      sandboxes: [{ base: begun, status: "resumed" }],
      steps: [{ status: "recorded" }, { status: "done" }],
    });
  });

  test("of a directory that has moved on where the plan changed something cannot be, and says so", async () => {
    using world = new World();
    const directory = join(world.agents.directory, "plain");
    mkdirSync(directory);
    writeFileSync(join(directory, "notes.txt"), "mine\n");
    world.resource = ["fs-directory", "api", "--path", directory];
    const id = await world.plan(`  - { id: edit, tool: edit_file, params: { path: notes.txt, old: mine, new: ours } }
  - { id: wait, tool: shell_execute, params: { command: "test -e go.txt" } }
`);
    expect((await world.agents.json("plan", "execute", id)).exit_code).toBe(1);
    rmSync(join(world.agents.dataDir, "sandboxes"), { recursive: true });
    writeFileSync(join(directory, "notes.txt"), "mine, and changed\n");
    for (const _time of [1, 2]) {
      expect(await world.agents.json("plan", "execute", id)).toMatchObject({
        exit_code: 1,
        error: {
          message: expect.stringContaining('was lost, and "notes.txt"'),
          suggestions: [`agents plan diff ${id}`, `agents plan revert ${id}`],
        },
      });
    }
    // Put back, with other files beside it, it can go on.
    writeFileSync(join(directory, "notes.txt"), "mine\n");
    writeFileSync(join(directory, "go.txt"), "");
    expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({ changes: { files: 1 } });
    expect(String((await world.agents.json("plan", "diff", id)).data["patch"])).toContain("+ours");
  });
});

describe.skipIf(!SmallDisk.possible())("a disk of its own, which only those who may mount one can have", () => {
  test("that is full: told, nothing half made, and it goes on once there is space", async () => {
    using disk = new SmallDisk(12);
    using world = new World(join(disk.path, "data"));
    writeFileSync(join(world.repository, "large.bin"), Buffer.alloc(20 * 1024 * 1024, "x"));
    world.commit("large");
    const before = world.state();
    const id = await world.plan(WRITE);
    const full = await world.agents.json("plan", "execute", id);
    expect(full).toMatchObject({
      exit_code: 1,
      error: { code: "STORE_FULL", message: expect.stringContaining("no space left") },
    });
    expectNothingLeft(world);
    expect(world.state()).toBe(before);
    disk.remount("size=100m");
    expect((await world.agents.json("plan", "execute", id)).error).toBeUndefined();
    expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
  });

  test("that is read-only: told, and the plan stays as it is", async () => {
    using disk = new SmallDisk(30);
    using world = new World(join(disk.path, "data"));
    const id = await world.plan(WRITE);
    disk.remount("ro");
    const refused = await world.agents.json("plan", "execute", id);
    expect(refused).toMatchObject({ exit_code: 1, error: { code: "STORE_READ_ONLY" } });
    disk.remount("rw");
    expect(await stateOf(world, id)).toBe("strategize/queued");
    expectNothingLeft(world);
    expect((await world.agents.json("plan", "execute", id)).error).toBeUndefined();
  });
});
