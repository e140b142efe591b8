/** A conflict is shown with its lines, and a plan that cannot be applied can still be carried away by git. */
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../testing/git-repository.ts";
import { ROOT } from "./testing/agents.ts";
import { World, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const edit = (path: string): Step => api("edit_file", { path, old: "two\n", new: "PLAN 二\n" });

interface Conflict {
  readonly path: string;
  readonly kind: string;
  readonly lines: readonly unknown[];
}

test("each kind of conflict has a form of its own, and the lines of all three sides are shown", async () => {
  const names = ["lines.txt", "gone.txt", "kept.txt", "dirty.txt", "blob.bin"];
  const binary = Buffer.from([0, 1, 2, 3]);
  await using world = await World.make({
    files: { ...Object.fromEntries(names.map((name) => [name, LINES])), "blob.bin": binary, "mode.sh": LINES },
  });
  const id = await world.executed(
    edit("lines.txt"),
    edit("gone.txt"),
    api("delete_file", { path: "kept.txt" }),
    api("delete_file", { path: "blob.bin" }),
    api("write_file", { path: "new.txt", content: "plan\n" }),
  );
  world.write({
    "lines.txt": LINES.replace("two", "MINE"),
    "kept.txt": LINES.replace("two", "MINE"),
    "blob.bin": Buffer.from([0, 9]),
    "new.txt": "mine\n",
  });
  rmSync(join(world.repository, "gone.txt"));
  chmodSync(join(world.repository, "mode.sh"), 0o755);
  world.commit("mine");
  const before = world.everything();
  const { data, exit_code } = await world.agents.json("plan", "conflicts", id);
  expect(exit_code).toBe(0);
  const conflicts = data["conflicts"] as Conflict[];
  expect(Object.fromEntries(conflicts.map(({ path, kind }) => [path, kind]))).toEqual({
    "lines.txt": "lines",
    "gone.txt": "deleted",
    "kept.txt": "deleted",
    "blob.bin": "deleted",
    "new.txt": "added",
  });
  expect(conflicts.find(({ path }) => path === "lines.txt")?.lines).toEqual([
    { line: 2, yours: ["MINE"], base: ["two"], plans: ["PLAN 二"] },
  ]);
  const { stdout } = await world.agents.run(["plan", "conflicts", id]);
  expect(stdout).toContain("api/lines.txt was changed on both sides");
  expect(stdout).toMatch(/line 2\n +base │ two\n +yours│ MINE\n +plan │ PLAN 二/);
  expect(stdout).toContain("plan │ no file");
  const refused = await world.apply(id);
  expect(refused.error?.suggestions.slice(0, 2)).toEqual([`agents plan conflicts ${id}`, `agents plan resolve ${id}`]);
  expect(world.everything()).toEqual(before);
});

test("uncommitted changes in the way are told as that, with the command; afterwards the plan applies", async () => {
  await using world = await World.make({ files: { "lines.txt": LINES } });
  const id = await world.executed(edit("lines.txt"));
  world.write({ "lines.txt": LINES.replace("eight", "EIGHT") });
  const refused = await world.apply(id);
  expect(refused.error?.suggestions).toEqual(["git stash push -- lines.txt", `then: agents plan apply ${id}`]);
  expect((await world.agents.json("plan", "conflicts", id)).data).toMatchObject({
    conflicts: [{ path: "lines.txt", kind: "uncommitted" }],
  });
  world.git("stash", "push", "--quiet", "--", "lines.txt");
  expect((await world.apply(id)).exit_code).toBe(0);
  world.git("stash", "pop", "--quiet");
  expect(world.read("lines.txt")).toBe(LINES.replace("two", "PLAN 二").replace("eight", "EIGHT"));
});

test("a branch is made and never moved; a patch and a bundle carry the same commit to another repository", async () => {
  await using world = await World.make({ files: { "lines.txt": LINES, "blob.bin": Buffer.from([0, 1]) } });
  const clone = join(world.agents.directory, "clone");
  git(world.agents.directory, "clone", "--quiet", world.repository, clone);
  const id = await world.executed(edit("lines.txt"), api("delete_file", { path: "blob.bin" }));
  world.write({ "lines.txt": LINES.replace("two", "MINE") });
  world.commit("mine");
  const before = world.git("rev-parse", "main");
  const [patch, bundle] = ["all.patch", "all.bundle"].map((name) => join(world.agents.directory, name));
  const made = await world.agents.json(
    "plan",
    "export",
    id,
    "--branch",
    "topic",
    "--patch",
    patch ?? "",
    "--bundle",
    bundle ?? "",
  );
  expect(made.exit_code).toBe(0);
  expect(world.git("show", "topic:lines.txt")).toBe(LINES.replace("two", "PLAN 二"));
  expect(world.git("log", "-1", "--format=%an %B", "topic")).toContain(`CleverAgents-Plan: ${id}`);
  expect([world.git("rev-parse", "main"), world.git("status", "--porcelain")]).toEqual([before, ""]);
  const topic = world.git("rev-parse", "topic");
  for (const [words, message] of [
    [["--branch", "topic"], 'There is a branch "topic"'],
    [["--branch", "main"], 'There is a branch "main"'],
    [["--branch", "bad..name"], "cannot be the name of a branch"],
    [["--patch", patch ?? ""], "cannot be written"],
    [[], "Say what to make of the plan"],
  ] as const) {
    const answer = await world.agents.json("plan", "export", id, ...words);
    expect([answer.exit_code === 0, answer.error?.message.includes(message)]).toEqual([false, true]);
  }
  expect([world.git("rev-parse", "topic"), world.git("rev-parse", "main")]).toEqual([topic, before]);
  git(clone, "am", "--quiet", patch ?? "");
  expect(git(clone, "show", "HEAD:lines.txt")).toBe(LINES.replace("two", "PLAN 二"));
  expect(existsSync(join(clone, "blob.bin"))).toBe(false);
  git(clone, "fetch", "--quiet", bundle ?? "", "topic:from-bundle");
  expect(git(clone, "rev-parse", "from-bundle")).toBe(topic);
  expect(() => world.git("merge", "--quiet", "topic")).toThrow("git");
});

test("only the accepted part can be exported too, and uncommitted work never gets into a commit", async () => {
  await using world = await World.make({ files: { "a.md": LINES, "b.md": LINES } });
  const id = await world.executed(edit("a.md"), edit("b.md"));
  await world.agents.json("plan", "review", id, "--accept", "a.md");
  expect((await world.agents.json("plan", "export", id, "--branch", "part", "--accepted")).exit_code).toBe(0);
  expect(world.git("diff", "--name-only", "main", "part")).toBe("a.md\n");
  world.write({ "b.md": "mine\n" });
  const dirty = await world.used([edit("a.md")]);
  await world.agents.json("plan", "execute", dirty, "--include-dirty");
  const refused = await world.agents.json("plan", "export", dirty, "--branch", "never");
  expect([refused.exit_code, refused.error?.message]).toEqual([
    1,
    "api cannot be exported: the plan began from files that are not committed there.",
  ]);
});

test("the page about conflicts can be followed, from each of its blocks", async () => {
  const page = readFileSync(join(ROOT, "docs/conflicts.md"), "utf8");
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text.trim().split("\n"));
  for (const lines of blocks) {
    await using world = await World.make({ files: { "lines.txt": LINES } });
    await world.executed(edit("lines.txt"));
    world.write({ "lines.txt": LINES.replace("two", "MINE") });
    world.commit("mine");
    for (const line of lines) {
      const words = line
        .replace(/\s+#.*$/, "")
        .split(" ")
        .slice(1);
      if (words[1] === "apply" || words[1] === "resolve") words.push("--yes");
      const { code, stderr } = await world.agents.run(words, { cwd: world.repository });
      expect([line, code, code === 0 ? "" : stderr]).toEqual([line, 0, ""]);
    }
  }
});
