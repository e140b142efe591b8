/** `plan resolve`: refusals, the terminal, plain directories, the plan's own actor, and branches. */
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import { git } from "../testing/git-repository.ts";
import { runCli } from "./run-cli.ts";
import type { Envelope } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";
import { stepTurn, strategyTurn, turn } from "./testing/thinking-world.ts";
import { World, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const edit = (resource: string, path: string, old = "two\n", now = "PLAN\n"): Step => [
  "edit_file",
  { resource, path, old, new: now },
];
const resolve = (world: World, id: string, ...words: string[]): Promise<Envelope> =>
  world.agents.json("plan", "resolve", id, ...words);

async function conflicting(): Promise<{ world: World; id: PlanId }> {
  const world = await World.make({ files: { "lines.txt": LINES, "more.txt": LINES } });
  const id = await world.executed(edit("api", "lines.txt"), edit("api", "more.txt"));
  const mine = LINES.replace("two", "MINE");
  world.write({ "lines.txt": mine, "more.txt": mine });
  world.commit("mine");
  return { world, id };
}

test("what cannot be resolved so is refused, and plan and files stay as they are", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.agents.write("marked.txt", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n");
  world.agents.write("good.txt", "good\n");
  const before = world.everything();
  const both = ["--take-plan", "more.txt", "--yes"];
  for (const [words, exit, message] of [
    [[], 2, "Say how to resolve api/lines.txt, api/more.txt."],
    [both, 2, "Say how to resolve api/lines.txt."],
    [["--take-yours", "none.txt", ...both], 2, '"none.txt" is not in conflict.'],
    [["--take-yours", ".", ...both], 2, "more.txt is named twice."],
    [["--file", "lines.txt=none.txt", ...both], 1, 'none.txt" cannot be read.'],
    [["--file", "lines.txt=marked.txt", ...both], 1, 'marked.txt" still has conflict markers.'],
    [["--edit", "--tool"], 2, "Say --edit or --tool, not both."],
    [["--agent", "--edit"], 2, "--agent resolves all conflicts by itself."],
    [["--agent"], 1, `The steps of plan ${id} are fixed`],
  ] as const) {
    const answer = await resolve(world, id, ...words);
    expect([words, answer.exit_code, answer.error?.message]).toEqual([words, exit, expect.stringContaining(message)]);
  }
  expect(world.everything()).toEqual(before);
  expect((await world.agents.json("plan", "diff", id)).data["patch"]).not.toContain("MINE");
  // Uncommitted work keeps its own way out.
  world.git("reset", "--quiet", "--hard", "HEAD^");
  world.write({ "lines.txt": "not committed\n" });
  expect((await resolve(world, id, "--take-yours", ".", "--yes")).error?.suggestions[0]).toBe(
    "git stash push -- lines.txt",
  );
  world.git("checkout", "--quiet", "lines.txt");
  const none = await resolve(world, id, "--take-plan", ".", "--yes");
  expect([none.exit_code, none.error?.suggestions]).toEqual([4, [`agents plan apply ${id}`]]);
  await world.apply(id);
  expect((await resolve(world, id, "--take-plan", ".", "--yes")).error?.code).toBe("INVALID_TRANSITION");
});

test("a file that one side has renamed is refused, because the plan would still conflict", async () => {
  await using world = await World.make({ files: { "lines.txt": LINES } });
  const id = await world.executed(edit("api", "lines.txt"));
  world.git("mv", "lines.txt", "renamed.txt");
  world.write({ "renamed.txt": LINES.replace("two", "MINE") });
  world.commit("mine");
  const answer = await resolve(world, id, "--take-yours", ".", "--yes");
  expect([answer.exit_code, answer.error?.message]).toEqual([1, expect.stringContaining("still conflicts")]);
  expect((await world.apply(id)).exit_code).toBe(4);
});

/** Keeps one file and edits the other; types an answer to each question. */
async function typed(world: World, id: string, editor: string, answers: readonly string[]) {
  const env = { CLEVERAGENTS_DATA_DIR: world.agents.dataDir, EDITOR: editor, PATH: process.env["PATH"] ?? "" };
  const io = capturedIo({ env, cwd: world.repository });
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  let [seen, at] = ["", 0];
  output.on("data", (data) => {
    seen += String(data);
    if (!stripVTControlCharacters(seen).endsWith("[y/N] ")) return;
    input.write(`${answers[at] ?? ""}\n`);
    at += 1;
  });
  const words = ["plan", "resolve", id, "--take-yours", "more.txt"];
  const code = await runCli(words, { ...io, stdin: input, stderr: output });
  return { code, stdout: io.written.stdout, seen };
}

test("on a terminal the editor opens again while markers are left, and the diff comes before the question", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  const counted = join(world.agents.directory, "count");
  const empty = world.agents.write("empty.sh", "#!/bin/sh\n");
  const second = world.agents.write(
    "second.sh",
    `#!/bin/sh\necho x >> '${counted}'\n[ $(wc -l < '${counted}') -lt 2 ] || echo merged > "$1"\n`,
  );
  for (const file of [empty, second]) chmodSync(file, 0o755);
  const stopped = await typed(world, id, empty, ["n"]);
  expect([stopped.code, stopped.seen]).toEqual([1, expect.stringContaining("has conflict markers. Open it again?")]);
  const failed = await typed(world, id, "false", ["n"]);
  expect(failed.seen).toContain("was not merged: the program failed. Open it again?");
  const declined = await typed(world, id, second, ["y", "n"]);
  expect([declined.code, declined.stdout]).toEqual([0, expect.stringContaining("Nothing was resolved.")]);
  const done = await typed(world, id, second, ["y"]);
  expect([done.code, done.seen]).toEqual([0, expect.stringMatching(/-MINE.*\+merged.*Resolve the conflicts so\?/s)]);
  expect(done.stdout).toContain("2 conflicts of plan");
  expect((await world.apply(id)).exit_code).toBe(0);
  expect([world.read("lines.txt"), world.read("more.txt")]).toEqual(["merged\n", LINES.replace("two", "MINE")]);
});

test("in a plain directory a resolution is validated again, applied and undone", async () => {
  await using world = await World.make({ notes: { "lines.txt": LINES, "left.txt": LINES } });
  world.agents.write("check.yaml", "name: strict\ndescription: checks\ncommand: '! grep -q WRONG lines.txt'\n");
  await world.agents.json("validation", "add", "--config", "check.yaml");
  await world.agents.json("validation", "attach", "notes", "strict");
  const id = await world.executed(edit("notes", "lines.txt"), edit("notes", "left.txt"));
  const mine = LINES.replace("two", "MINE");
  world.writeNotes({ "lines.txt": mine, "left.txt": mine });
  world.agents.write("wrong.txt", "WRONG\n");
  world.agents.write("right.txt", "RIGHT\n");
  const take = (file: string): Promise<Envelope> =>
    resolve(world, id, "--file", `lines.txt=${file}`, "--take-yours", "left.txt", "--yes");
  expect((await take("wrong.txt")).exit_code).toBe(0);
  expect((await world.apply(id)).error?.code).toBe("CONSTRAINED");
  expect(world.readNote("lines.txt")).toBe(mine);
  const again = await world.executed(edit("notes", "lines.txt", "MINE\n"));
  world.writeNotes({ "lines.txt": LINES.replace("two", "OTHER") });
  expect((await resolve(world, again, "--file", "lines.txt=right.txt", "--yes")).exit_code).toBe(0);
  expect((await world.apply(again)).error).toBeUndefined();
  expect([world.readNote("lines.txt"), world.readNote("left.txt")]).toEqual(["RIGHT\n", mine]);
  expect((await world.undo(again)).exit_code).toBe(0);
  expect(world.readNote("lines.txt")).toBe(LINES.replace("two", "OTHER"));
  expect((await world.redo(again)).exit_code).toBe(0);
  expect(world.readNote("lines.txt")).toBe("RIGHT\n");
});

test("a resolved plan applies onto a branch from where it was resolved with, is not exported, and has a true sandbox", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  world.agents.write("merged.txt", "merged\n");
  await resolve(world, id, "--file", "lines.txt=merged.txt", "--take-yours", "more.txt", "--yes");
  const refused = await world.agents.json("plan", "export", id, "--branch", "out");
  expect(refused.error?.suggestions).toEqual([`agents plan apply ${id} --onto <branch>`]);
  const file = join(world.sandbox(id, "api"), "lines.txt");
  writeFileSync(file, "tampered\n");
  expect((await world.apply(id)).error?.message).toContain('The sandbox of "api" differs from the record: lines.txt.');
  rmSync(file);
  writeFileSync(file, LINES.replace("two", "PLAN"));
  expect((await world.agents.json("plan", "apply", id, "--onto", "side", "--yes")).exit_code).toBe(0);
  expect(world.git("rev-parse", "side^")).toBe(world.git("rev-parse", "main"));
  expect([world.git("show", "side:lines.txt"), world.git("show", "side:more.txt")]).toEqual([
    "merged\n",
    LINES.replace("two", "MINE"),
  ]);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(world.git("show", "side:lines.txt")).toBe(LINES.replace("two", "MINE"));
});

test("of two people who resolve at once one wins; a rollback takes the resolution back", async () => {
  const { world, id } = await conflicting();
  await using _ = world;
  const answers = await Promise.all([
    resolve(world, id, "--take-yours", ".", "--yes"),
    resolve(world, id, "--take-plan", ".", "--yes"),
  ]);
  expect(answers.map(({ exit_code }) => exit_code).sort((a, b) => a - b)).toEqual([0, 4]);
  expect((await world.agents.json("plan", "rollback", id, "start", "--yes")).error).toBeUndefined();
  await world.execute(id);
  expect((await world.apply(id)).error?.message).toContain("api/lines.txt was changed on both sides");
});

test("the plan's own actor resolves its conflicts in the same conversation, credited to its step", async () => {
  using world = new SessionWorld();
  const path = "lines.txt";
  const replace = (old: string, now: string) => [{ tool: "edit_file", parameters: { path, old, new: now } }];
  const step = { id: "change", description: "Change it", risk: 0.1, confidence: 0.9 };
  await world.answering(
    strategyTurn([step], { match: { user: "Decide how this is done: change lines" } }),
    stepTurn("change", { tool_calls: [...replace("two\n", "PLAN\n"), ...replace("seven\n", "SEVEN\n")] }),
    stepTurn("change", { match: { tool: "edit_file" }, text: "Changed." }),
    turn({ match: { user: "the others:\n  MINE\nyou:\n  PLAN" }, tool_calls: replace("MINE\n", "MINE and PLAN\n") }),
    turn({ match: { tool: "edit_file" }, text: "Both are there now." }),
    ...writing("unused", "unused.txt"),
  );
  writeFileSync(join(world.repository, path), LINES);
  git(world.repository, "add", "--all");
  git(world.repository, "commit", "--quiet", "-m", "lines");
  const id = String((await world.asked("change lines")).data["plan_id"]);
  writeFileSync(join(world.repository, path), LINES.replace("two", "MINE"));
  git(world.repository, "commit", "--quiet", "-a", "-m", "mine");
  expect((await world.said("plan", "apply", id, "--yes")).exit_code).toBe(4);
  const told = await world.said("plan", "resolve", id, "--agent");
  expect([told.error, told.data]).toMatchObject([
    undefined,
    { files: [{ path, how: "agent" }], patch: null, next_steps: [`agents plan execute ${id}`] },
  ]);
  expect((await world.said("plan", "execute", id)).error).toBeUndefined();
  const { data } = await world.said("plan", "diff", id, "--why");
  expect(String(data["patch"])).toMatch(/-MINE\n\+MINE and PLAN\n.*-seven\n\+SEVEN\n/s);
  expect((data["hunks"] as { by: { step: string }[] }[])[0]?.by.map(({ step: by }) => by).sort()).toEqual([
    "change",
    "follow-up-1",
  ]);
  expect((await world.said("plan", "apply", id, "--yes")).error).toBeUndefined();
  expect(git(world.repository, "show", `HEAD:${path}`)).toBe(
    LINES.replace("two", "MINE and PLAN").replace("seven", "SEVEN"),
  );
});
