/** `plan apply --onto`: the changes become a new branch in each repository, and nothing else of the user's changes. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FILE_EFFECTS } from "../apply/file-effects.ts";
import { git, makeRepository } from "../testing/git-repository.ts";
import { put, World, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const edit = (path: string, old = "two\n", now = "PLAN\n"): Step => api("edit_file", { path, old, new: now });

async function conflicting(): Promise<{ world: World; id: string }> {
  const world = await World.make({ files: { "lines.txt": LINES } });
  const id = await world.executed(edit("lines.txt"), api("write_file", { path: "new.txt", content: "new\n" }));
  world.write({ "lines.txt": LINES.replace("two", "MINE") });
  world.commit("mine");
  world.write({ "a.txt": "not committed\n" });
  return { world, id };
}

test("a plan that conflicts becomes a branch where it began; undo and redo move that branch alone", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  expect((await world.apply(id)).error?.suggestions).toContain(`agents plan apply ${id} --onto <branch>`);
  const before = world.everything();
  const applied = await world.agents.json("plan", "apply", id, "--onto", "wip/health", "--yes");
  expect([applied.error, applied.data["state"]]).toEqual([undefined, "applied"]);
  expect(applied.data["landings"]).toMatchObject([
    { branch: "wip/health", new_branch: true, checked_out: false, files: [] },
  ]);
  expect(applied.messages.at(-1)?.text).toContain("to the new branch wip/health of");
  const now = world.everything();
  const changed = Object.keys(now).filter((path) => now[path] !== before[path] && !path.includes("cleveragents"));
  expect(changed.filter((path) => !/wip/.test(path))).toEqual([]);
  expect(world.git("rev-parse", "wip/health^")).toBe(world.git("rev-parse", "main^"));
  expect(world.git("show", "wip/health:lines.txt")).toBe(LINES.replace("two", "PLAN"));
  expect(world.git("log", "-1", "--format=%an %B", "wip/health")).toMatch(
    new RegExp(`^Ann .*CleverAgents-Plan: ${id}\nCleverAgents-Changeset: `, "s"),
  );
  expect((await world.agents.json("plan", "status", id)).data["new_branches"]).toEqual([
    { resource: "api", branch: "wip/health" },
  ]);
  expect((await world.agents.run(["plan", "status", id])).stdout).toMatch(/new branch: +wip\/health in api/);
  const tree = join(world.agents.directory, "tree");
  world.git("worktree", "add", "--quiet", tree, "wip/health");
  // Another commit on the branch stays; the plan's lines go, and come back.
  put(tree, { "theirs.txt": "theirs\n" });
  git(tree, "add", "--all");
  git(tree, "commit", "--quiet", "-m", "theirs");
  expect((await world.undo(id)).error?.message).toContain("wip/health is checked out in");
  world.git("worktree", "remove", tree);
  expect((await world.undo(id)).data).toMatchObject({ undone: true, landings: [{ branch: "wip/health" }] });
  expect(world.git("show", "wip/health:lines.txt")).toBe(LINES);
  expect(world.git("ls-tree", "--name-only", "wip/health")).toBe(".gitignore\na.txt\nlines.txt\ntheirs.txt\n");
  expect((await world.undo(id)).exit_code).toBe(4);
  expect((await world.redo(id)).exit_code).toBe(0);
  expect(world.git("show", "wip/health:lines.txt")).toBe(LINES.replace("two", "PLAN"));
  expect([world.read("lines.txt"), world.read("a.txt")]).toEqual([LINES.replace("two", "MINE"), "not committed\n"]);
  world.git("branch", "-D", "wip/health");
  const gone = await world.undo(id);
  expect(gone.error?.message).toContain("api: the branch wip/health is gone");
});

test("undo on the branch follows it when it is checked out, and an overlap is a conflict that changes nothing", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.git("checkout", "--quiet", "a.txt");
  expect((await world.agents.json("plan", "apply", id, "--onto", "health", "--yes")).exit_code).toBe(0);
  world.git("checkout", "--quiet", "health");
  world.write({ "lines.txt": LINES.replace("two", "PLAN, and more") });
  world.commit("on top");
  const before = world.everything();
  expect((await world.undo(id)).error?.message).toContain("api/lines.txt was changed on both sides");
  expect(world.everything()).toEqual(before);
  world.git("revert", "--no-edit", "HEAD");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect([world.read("lines.txt"), existsSync(join(world.repository, "new.txt"))]).toEqual([LINES, false]);
  expect(world.git("status", "--porcelain")).toBe("");
});

test("a plan on a branch of its own holds nothing of what another plan did to the branch of the user", async () => {
  await using world = await World.make({ files: { "lines.txt": LINES } });
  const [mine, other] = [await world.executed(edit("lines.txt")), await world.executed(edit("lines.txt"))];
  await world.agents.json("plan", "apply", other, "--onto", "other", "--yes");
  expect((await world.apply(mine)).exit_code).toBe(0);
  expect((await world.undo(mine)).data).toMatchObject({ held: [] });
  expect([world.read("lines.txt"), world.git("show", "other:lines.txt")]).toEqual([
    LINES,
    LINES.replace("two", "PLAN"),
  ]);
});

test("a name that is taken, uncommitted beginnings and plain directories are refused, and the plan stays ready", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.git("branch", "taken");
  world.git("branch", "deep/er");
  const before = world.everything();
  for (const [name, exit, message] of [
    ["taken", 4, 'There is a branch "taken" in'],
    ["main", 4, 'There is a branch "main" in'],
    ["taken/below", 4, 'There is a branch "taken" in'],
    ["deep", 4, 'There is a branch "deep/er" in'],
    ["-d", 2, "cannot be the name of a branch"],
    ["bad..name", 2, "cannot be the name of a branch"],
  ] as const) {
    const { exit_code, error } = await world.agents.json("plan", "apply", id, `--onto=${name}`, "--yes");
    expect([name, exit_code, error?.message.includes(message)]).toEqual([name, exit, true]);
  }
  expect(world.everything()).toEqual(before);
  const status = await world.agents.json("plan", "status", id);
  expect([status.data["standing"], status.data["new_branches"]]).toEqual(["ready to review", []]);
  const dirty = await world.used([edit("lines.txt", "three\n", "3\n")]);
  await world.agents.json("plan", "execute", dirty, "--include-dirty");
  const notes = await world.executed(["write_file", { resource: "notes", path: "n.txt", content: "n\n" }]);
  for (const [plan, why] of [
    [dirty, "api cannot be applied to a branch: the plan began from files that are not committed there."],
    [notes, "notes cannot be applied to a branch: has no commit that the changes could stand on."],
  ] as const)
    expect((await world.agents.json("plan", "apply", plan, "--onto", "new", "--yes")).error?.message).toBe(why);
  world.git("checkout", "--quiet", "--orphan", "unborn");
  expect((await world.agents.json("plan", "apply", id, "--onto", "unborn", "--yes")).exit_code).toBe(4);
  expect(world.git("for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe("deep/er\nmain\ntaken\n");
});

test("all repositories get the branch or none, also when another process makes one of that name meanwhile", async () => {
  await using world = await World.make({ files: { "lines.txt": LINES } });
  const second = makeRepository(join(realpathSync(world.agents.directory), "second"), "health");
  await world.link("git-checkout", "web", second);
  const id = await world.executed(edit("lines.txt"), [
    "write_file",
    { resource: "web", path: "b.txt", content: "2\n" },
  ]);
  expect((await world.agents.json("plan", "apply", id, "--onto", "health", "--yes")).exit_code).toBe(4);
  expect(world.git("branch", "--list", "health")).toBe("");
  git(second, "branch", "-D", "health");
  let raced = false;
  const applier = await world.applier({
    ...FILE_EFFECTS,
    updateRefs: async (repository, commands, reason) => {
      if (!raced && repository === second) git(second, "branch", "health");
      raced ||= repository === second;
      await FILE_EFFECTS.updateRefs(repository, commands, reason);
    },
  });
  await expect(applier.apply(id, { onto: "health" })).rejects.toThrow("health was changed meanwhile");
  expect([world.git("branch", "--list", "health"), git(second, "rev-parse", "health")]).toEqual([
    "",
    git(second, "rev-parse", "main"),
  ]);
  git(second, "branch", "-D", "health");
  const both = await world.agents.run(["plan", "apply", id, "--onto", "health", "--yes"]);
  expect(both.stdout).toContain("new branch");
  expect([world.git("show", "health:lines.txt"), git(second, "show", "health:b.txt")]).toEqual([
    LINES.replace("two", "PLAN"),
    "2\n",
  ]);
});
