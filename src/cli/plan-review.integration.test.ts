/** A review decides on single changes: those that are accepted land alone, and the others stay in the plan. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../testing/git-repository.ts";
import { ROOT, type Envelope } from "./testing/agents.ts";
import { World, type Step } from "./testing/user-world.ts";

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("");
const edited = (...numbers: readonly number[]): string =>
  numbers.reduce((text, number) => text.replace(`line ${number}\n`, `LINE ${number}\n`), LINES);
const edit = (path: string, number: number): Step => [
  "edit_file",
  { resource: "api", path, old: `line ${number}\n`, new: `LINE ${number}\n` },
  { id: `${path.replaceAll(/\W/g, "-")}-${number}` },
];

async function reviewWorld(...more: readonly Step[]): Promise<{ world: World; id: string }> {
  const world = await World.make({ files: { "long.txt": LINES, "other.txt": LINES, "name.txt": LINES } });
  const id = await world.executed(
    edit("long.txt", 2),
    edit("long.txt", 4),
    edit("long.txt", 25),
    edit("other.txt", 9),
    ...more,
  );
  return { world, id };
}

interface Change {
  readonly name: string;
  readonly verdict: string;
  readonly reason: string | null;
}

function changesOf({ data }: Envelope): Change[] {
  return (data["files"] as { changes: Change[] }[]).flatMap(({ changes }) => changes);
}

function verdicts(answer: Envelope): Record<string, string> {
  return Object.fromEntries(changesOf(answer).map(({ name, verdict }) => [name, verdict]));
}

test("only the accepted changes land, credited to their steps; the rest is shown as rejected; undo and redo move exactly them", async () => {
  const { world, id } = await reviewWorld();
  await using _ = world;
  const review = (...words: string[]): Promise<Envelope> => world.agents.json("plan", "review", id, ...words);
  expect(verdicts(await review())).toEqual({
    "long.txt:1.1": "undecided",
    "long.txt:1.2": "undecided",
    "long.txt:2": "undecided",
    "other.txt:1": "undecided",
  });
  const none = await world.agents.json("plan", "apply", id, "--accepted", "--yes");
  expect([none.exit_code, none.error?.message]).toEqual([2, `Nothing of plan ${id} is accepted.`]);
  await review("--accept", "long.txt:1.2", "--accept", "other.txt", "--reject", "long.txt:2", "-m", "25 stays small");
  const applied = await world.agents.json("plan", "apply", id, "--accepted", "--yes");
  expect([applied.exit_code, applied.data["changes_left"]]).toEqual([0, 2]);
  expect([world.read("long.txt"), world.read("other.txt")]).toEqual([edited(4), edited(9)]);
  expect(world.git("status", "--porcelain")).toBe("");
  const message = world.git("log", "-1", "--format=%B");
  const { data: tree } = await world.agents.json("plan", "tree", id);
  expect(JSON.stringify(tree)).toContain("long-txt-25");
  expect(message).toContain(id);
  const shown = await review("--list");
  expect(verdicts(shown)).toMatchObject({
    "long.txt:2": "rejected",
    "long.txt:1.1": "undecided",
    "other.txt:1": "accepted",
  });
  expect(changesOf(shown).find(({ name }) => name === "long.txt:2")?.reason).toBe("25 stays small");
  expect((await review("--accept", ".")).error?.message).toContain("its review is closed");
  const { stdout } = await world.agents.run(["plan", "diff", id]);
  expect(stdout.match(/^[-+](?:line|LINE).*$/gim)).toEqual(["-line 4", "+LINE 4", "-line 9", "+LINE 9"]);
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect([world.read("long.txt"), world.read("other.txt")]).toEqual([LINES, LINES]);
  expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
  expect([world.read("long.txt"), world.read("other.txt")]).toEqual([edited(4), edited(9)]);
});

test("an undo of one decision never brings a rejected change in, and leaves other files", async () => {
  const { world, id } = await reviewWorld();
  await using _ = world;
  await world.agents.json("plan", "review", id, "--accept", ".");
  await world.agents.json("plan", "review", id, "--reject", "long.txt:1.1", "-m", "no");
  expect((await world.agents.json("plan", "apply", id, "--accepted", "--yes")).exit_code).toBe(0);
  expect(world.read("long.txt")).toBe(edited(4, 25));
  const undone = await world.agents.json("plan", "undo", id, "--decision", "long-txt-25", "--yes");
  expect(undone.exit_code).toBe(0);
  expect([world.read("long.txt"), world.read("other.txt")]).toEqual([LINES, edited(9)]);
  expect((await world.redo(id)).exit_code).toBe(0);
  expect([world.read("long.txt"), world.read("other.txt")]).toEqual([edited(4, 25), edited(9)]);
});

test("of two reviewers at once one is refused, and a yes is for the review that was seen", async () => {
  const { world, id } = await reviewWorld();
  await using _ = world;
  const first = await world.agents.json("plan", "review", id, "--accept", "other.txt", "--revision", "0");
  expect([first.exit_code, first.data["revision"]]).toEqual([0, 1]);
  const file = join(world.agents.directory, "review.json");
  const marks = [{ change: "other.txt", verdict: "rejected", reason: "late" }];
  writeFileSync(file, JSON.stringify({ revision: 0, marks }));
  const second = await world.agents.json("plan", "review", id, "--file", file);
  expect([second.exit_code, second.error?.code, second.error?.kept]).toEqual([
    4,
    "CONFLICT",
    "The other reviewer's marks are kept; nothing of this was recorded.",
  ]);
  writeFileSync(file, JSON.stringify({ revision: 1, marks }));
  const third = await world.agents.json("plan", "review", id, "--file", file);
  expect([third.exit_code, verdicts(third)["other.txt:1"]]).toEqual([0, "rejected"]);
  // The file is for revision 1, and the review is at 2 by now.
  const late = await world.agents.json("plan", "review", id, "--file", file);
  expect([late.exit_code, late.error?.code]).toEqual([4, "CONFLICT"]);
  writeFileSync(file, "{ nonsense");
  expect((await world.agents.json("plan", "review", id, "--file", file)).exit_code).toBe(2);
  expect((await world.agents.json("plan", "review", id, "--accept", "nowhere.txt:7")).error?.message).toBe(
    'The plan has no change "nowhere.txt:7".',
  );
});

test("renames, permissions, deleted, new and binary files are taken or left like lines", async () => {
  await using world = await World.make({
    files: { "name.txt": LINES, "gone.txt": "bye\n", "kept.txt": "stay\n", "blob.bin": Buffer.from([0, 1, 2]) },
  });
  const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
  const id = await world.executed(
    api("edit_file", { path: "name.txt", old: "line 3\n", new: "LINE 3\n" }),
    api("edit_file", { path: "name.txt", old: "line 20\n", new: "LINE 20\n" }),
    api("move_file", { path: "name.txt", to: "moved.txt" }),
    api("delete_file", { path: "gone.txt" }),
    api("delete_file", { path: "kept.txt" }),
    api("write_file", { path: "new.txt", content: "new\n" }),
    api("write_file", { path: "unwanted.txt", content: "new\n" }),
    api("delete_file", { path: "blob.bin" }),
  );
  const review = await world.agents.json(
    "plan",
    "review",
    id,
    "--accept",
    "moved.txt:2",
    "--accept",
    "gone.txt",
    "--accept",
    "new.txt",
  );
  expect(verdicts(review)).toEqual({
    "moved.txt:rename": "undecided",
    "moved.txt:1": "undecided",
    "moved.txt:2": "accepted",
    "gone.txt": "accepted",
    "kept.txt": "undecided",
    "new.txt": "accepted",
    "unwanted.txt": "undecided",
    "blob.bin": "undecided",
  });
  expect((await world.agents.json("plan", "apply", id, "--accepted", "--yes")).exit_code).toBe(0);
  const listed = git(world.repository, "ls-files").trim().split("\n");
  expect(listed).toEqual([".gitignore", "a.txt", "blob.bin", "kept.txt", "name.txt", "new.txt"]);
  expect(world.read("name.txt")).toBe(edited(20));
  expect(world.git("status", "--porcelain")).toBe("");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect([world.read("name.txt"), world.read("gone.txt")]).toEqual([LINES, "bye\n"]);
});

test("the page about reviews can be followed", async () => {
  const page = readFileSync(join(ROOT, "docs/reviewing.md"), "utf8");
  await using world = await World.make({ files: { "src/health.js": LINES } });
  const api = (path: string, number: number): Step => edit(path, number);
  const readme: Step = ["write_file", { resource: "api", path: "README.md", content: "hello\n" }];
  await world.executed(api("src/health.js", 2), api("src/health.js", 25), readme);
  const lines = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, text = ""]) => text.trim().split("\n"));
  for (const line of lines) {
    const words = [...line.replace(/\s+#.*$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, word]) => quoted ?? word ?? "",
    );
    const { code, stderr } = await world.agents.run(words.slice(1), { cwd: world.repository });
    expect([line, code, code === 0 ? "" : stderr]).toEqual([line, 0, ""]);
  }
  expect([world.read("src/health.js"), world.read("README.md")]).toEqual([edited(2), "hello\n"]);
});
