import { chmodSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import type { Envelope } from "./testing/agents.ts";
import { World, type Step } from "./testing/user-world.ts";
import { sized } from "../testing/size.ts";

/**
 * A person and other plans change the same checkout and directory between the steps of a plan. Each row is something
 * they do, each column the moment at which they do it. Either both sides are in the result, or it is a conflict and
 * nothing has changed; once the conflict is out of the way, the plan continues.
 */
const FULL = sized({ normal: false, full: true });
const LINES = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
const TEXT = `${LINES.join("\n")}\n`;
const FILES = {
  "shared.txt": TEXT,
  "other.txt": TEXT,
  "renamed.txt": TEXT,
  "doomed.txt": "going\n",
  "old.txt": "same\n",
};

/** Changes line 2 and more, in both resources. */
const WORK = String.raw`sed -i 's/^line 2$/planned/' shared.txt renamed.txt
echo new > new.txt; rm doomed.txt; mv old.txt moved.txt`;
const STEPS: readonly Step[] = [
  ["shell_execute", { resource: "api", command: WORK }],
  ["shell_execute", { resource: "notes", command: WORK }],
];

interface Row {
  readonly what: string;
  readonly does: (world: World) => void;
  /** Checks that their work is there afterwards, with or without the plan. */
  readonly theirs: (world: World) => void;
  /** For conflicts: how the person gets out of the way. */
  readonly resolve?: (world: World) => void;
}

const swap = (text: string, line: number, by: string): string =>
  text
    .split("\n")
    .map((old, index) => (index === line - 1 ? by : old))
    .join("\n");
const unstage = (world: World): void => {
  world.git("reset", "--quiet", "--hard", "HEAD");
  world.git("clean", "--quiet", "-fd");
};
const uncommit = (world: World): void => void world.git("reset", "--quiet", "--hard", "HEAD^");

const MERGED: readonly Row[] = [
  {
    what: "commits other lines of the same file",
    does: (world) => {
      world.write({ "shared.txt": swap(world.read("shared.txt"), 9, "human") });
      world.commit("other lines");
    },
    theirs: (world) => expect(world.read("shared.txt").split("\n")[8]).toBe("human"),
  },
  {
    what: "commits a rename of a file the plan edits",
    does: (world) => {
      world.git("mv", "renamed.txt", "renamed-again.txt");
      world.commit("rename");
    },
    theirs: (world) => {
      expect(existsSync(join(world.repository, "renamed.txt"))).toBe(false);
      expect(world.read("renamed-again.txt").split("\n")[11]).toBe("line 12");
    },
  },
  {
    what: "commits a new file",
    does: (world) => {
      world.write({ "human/committed.txt": "human\n" });
      world.commit("new file");
    },
    theirs: (world) => expect(world.git("show", "HEAD:human/committed.txt")).toBe("human\n"),
  },
  {
    what: "stashes an edit of the same file",
    does: (world) => {
      world.write({ "shared.txt": "in the stash\n" });
      world.git("stash", "push", "--quiet", "--", "shared.txt");
    },
    theirs: (world) => expect(world.git("show", "stash@{0}:shared.txt")).toBe("in the stash\n"),
  },
  {
    what: "stages one edit of another file and makes a second one",
    does: (world) => {
      world.write({ "other.txt": "staged\n" });
      world.git("add", "other.txt");
      world.write({ "other.txt": "not staged\n" });
    },
    theirs: (world) => {
      expect(world.git("show", ":other.txt")).toBe("staged\n");
      expect(world.read("other.txt")).toBe("not staged\n");
      expect(world.git("show", "HEAD:other.txt")).toBe(TEXT);
    },
  },
  {
    what: "stages a new file and the removal of one",
    does: (world) => {
      world.write({ "staged.txt": "human\n" });
      world.git("add", "staged.txt");
      world.git("rm", "--quiet", "a.txt");
    },
    theirs: (world) => {
      expect(world.git("status", "--porcelain", "staged.txt", "a.txt")).toBe("D  a.txt\nA  staged.txt\n");
      expect(world.git("show", "HEAD:a.txt")).toBe("one\ntwo\n");
    },
  },
  {
    what: "makes untracked and ignored files",
    does: (world) => world.write({ "untracked.txt": "human\n", "human/x.log": "ignored\n", "moved.log": "ignored\n" }),
    theirs: (world) => {
      expect([world.read("untracked.txt"), world.read("human/x.log"), world.read("moved.log")]).toEqual([
        "human\n",
        "ignored\n",
        "ignored\n",
      ]);
    },
  },
  {
    what: "edits other lines of a file of the plain directory, and makes a file there",
    does: (world) =>
      world.writeNotes({ "shared.txt": swap(world.readNote("shared.txt"), 9, "human"), "mine/human.txt": "human\n" }),
    theirs: (world) => {
      expect(world.readNote("shared.txt").split("\n")[8]).toBe("human");
      expect(world.readNote("mine/human.txt")).toBe("human\n");
    },
  },
];

const CONFLICTS: readonly Row[] = [
  {
    what: "edits other lines of the same file without committing",
    does: (world) => world.write({ "shared.txt": swap(world.read("shared.txt"), 9, "human") }),
    theirs: (world) => expect(world.read("shared.txt").split("\n")[8]).toBe("human"),
    resolve: unstage,
  },
  {
    what: "stages other lines of the same file",
    does: (world) => {
      world.write({ "shared.txt": swap(world.read("shared.txt"), 9, "human") });
      world.git("add", "shared.txt");
    },
    theirs: (world) => expect(world.git("show", ":shared.txt").split("\n")[8]).toBe("human"),
    resolve: unstage,
  },
  {
    what: "stages an edit and puts the file back",
    does: (world) => {
      const text = world.read("shared.txt");
      world.write({ "shared.txt": swap(text, 9, "human") });
      world.git("add", "shared.txt");
      world.write({ "shared.txt": text });
    },
    theirs: (world) => expect(world.git("show", ":shared.txt").split("\n")[8]).toBe("human"),
    resolve: unstage,
  },
  {
    what: "commits the same lines",
    does: (world) => {
      world.write({ "shared.txt": swap(world.read("shared.txt"), 2, "human") });
      world.commit("same lines");
    },
    theirs: (world) => expect(world.git("show", "HEAD:shared.txt").split("\n")[1]).toBe("human"),
    resolve: uncommit,
  },
  {
    what: "has other bytes where the plan has its new file",
    does: (world) => world.write({ "new.txt": "human\n" }),
    theirs: (world) => expect(world.read("new.txt")).toBe("human\n"),
    resolve: unstage,
  },
  {
    what: "has a link of that very text where the plan has its new file",
    does: (world) => world.write({ "new.txt": { link: "new\n" } }),
    theirs: (world) => expect(world.git("status", "--porcelain", "new.txt")).not.toBe(""),
    resolve: unstage,
  },
  {
    what: "has a directory of that name",
    does: (world) => {
      rmSync(join(world.repository, "new.txt"), { force: true });
      world.write({ "new.txt/human.txt": "human\n" });
    },
    theirs: (world) => expect(world.read("new.txt/human.txt")).toBe("human\n"),
    resolve: (world) => {
      rmSync(join(world.repository, "new.txt"), { recursive: true });
      unstage(world);
    },
  },
  {
    what: "deletes a file the plan edits, without committing",
    does: (world) => rmSync(join(world.repository, "shared.txt")),
    theirs: (world) => expect(existsSync(join(world.repository, "shared.txt"))).toBe(false),
    resolve: unstage,
  },
  {
    what: "deletes a file the plan edits, and commits it",
    does: (world) => {
      world.git("rm", "--quiet", "shared.txt");
      world.git("commit", "--quiet", "--message=delete");
    },
    theirs: (world) => expect(existsSync(join(world.repository, "shared.txt"))).toBe(false),
    resolve: uncommit,
  },
  {
    what: "renames a file the plan edits, without committing",
    does: (world) => void world.git("mv", "shared.txt", "human.txt"),
    theirs: (world) => expect(world.read("human.txt")).toContain("line 12"),
    resolve: unstage,
  },
  {
    what: "makes the file executable that the plan edits, without committing",
    does: (world) => chmodSync(join(world.repository, "shared.txt"), 0o755),
    theirs: (world) => expect(world.git("diff", "--summary", "shared.txt")).toContain("mode change 100644 => 100755"),
    resolve: unstage,
  },
  {
    what: "is in the middle of a rebase",
    does: (world) => {
      world.write({ "other.txt": "human\n" });
      world.commit("to be rebased");
      expect(() => world.git("rebase", "--quiet", "--exec", "false", "HEAD^")).toThrow("rebase");
    },
    theirs: (world) => expect(existsSync(join(world.repository, ".git", "rebase-merge"))).toBe(true),
    resolve: (world) => {
      world.git("rebase", "--abort");
      uncommit(world);
    },
  },
  {
    what: "edits the same lines in the plain directory",
    does: (world) => world.writeNotes({ "shared.txt": swap(world.readNote("shared.txt"), 2, "human") }),
    theirs: (world) => expect(world.readNote("shared.txt").split("\n")[1]).toBe("human"),
    resolve: (world) => world.writeNotes({ "shared.txt": world.read("shared.txt") }),
  },
  {
    what: "has other bytes where the plan has its new file in the plain directory",
    does: (world) => world.writeNotes({ "new.txt": "human\n" }),
    theirs: (world) => expect(world.readNote("new.txt")).toBe("human\n"),
    resolve: (world) => {
      if (existsSync(join(world.repository, "new.txt"))) world.writeNotes({ "new.txt": world.read("new.txt") });
      else rmSync(join(world.notes, "new.txt"));
    },
  },
  {
    what: "renames a file of the plain directory that the plan edits",
    does: (world) => renameSync(join(world.notes, "shared.txt"), join(world.notes, "human.txt")),
    theirs: (world) => expect(world.readNote("human.txt")).toContain("line 12"),
    resolve: (world) => renameSync(join(world.notes, "human.txt"), join(world.notes, "shared.txt")),
  },
  {
    what: "puts a link in the place of a file of the plain directory",
    does: (world) => {
      renameSync(join(world.notes, "shared.txt"), join(world.notes, "aside.txt"));
      world.writeNotes({ "shared.txt": { link: "aside.txt" } });
    },
    theirs: (world) => expect(world.readNote("aside.txt")).toContain("line 12"),
    resolve: (world) => renameSync(join(world.notes, "aside.txt"), join(world.notes, "shared.txt")),
  },
];

const COLUMNS = ["apply", "undo", "redo"] as const;
type Column = (typeof COLUMNS)[number];

/** A world in which the next thing to do with the plan is `column`. */
async function before(column: Column): Promise<{ world: World; id: PlanId }> {
  const world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...STEPS);
  const applier = await world.applier();
  if (column !== "apply") await applier.apply(id);
  if (column === "redo") await applier.undo(id);
  return { world, id };
}

const act = (world: World, column: Column, id: PlanId): Promise<Envelope> => world[column](id);

/** Whether the plan's changes are in both resources. */
function expectPlan(world: World, column: Column): void {
  const isIn = column !== "undo";
  for (const root of [world.repository, world.notes]) {
    const has = ["new.txt", "moved.txt", "doomed.txt", "old.txt"].map((name) => existsSync(join(root, name)));
    expect(has).toEqual([isIn, isIn, !isIn, !isIn]);
  }
  for (const text of [world.read("shared.txt"), world.readNote("shared.txt"), world.readNote("renamed.txt")])
    expect(text.split("\n")[1]).toBe(isIn ? "planned" : "line 2");
}

test.each(COLUMNS)("a person works in other places before %s: the result has both", async (column) => {
  const { world: made, id } = await before(column);
  await using world = made;
  for (const row of MERGED) row.does(world);
  expect(await act(world, column, id)).toMatchObject({ exit_code: 0 });
  for (const row of MERGED) row.theirs(world);
  expectPlan(world, column);
  expect(world.read("renamed-again.txt").split("\n")[1]).toBe(column === "undo" ? "line 2" : "planned");
  // Nothing of theirs is credited to the plan.
  const changed = world.git("show", "--format=", "--name-only", "--no-renames", "HEAD").trim().split("\n");
  expect(changed).toEqual(["doomed.txt", "moved.txt", "new.txt", "old.txt", "renamed-again.txt", "shared.txt"]);
  expect(world.leftovers()).toEqual([]);
});

test.each(COLUMNS)(
  "a person works in the same places before %s: nothing changes until their work is out of the way",
  async (column) => {
    const { world: made, id } = await before(column);
    await using world = made;
    // Redo takes the same way as undo: a few rows show it, unless all are asked for.
    const rows = CONFLICTS.filter((_, index) => FULL || column !== "redo" || index % 4 === 0);
    for (const row of rows) {
      row.does(world);
      const everything = world.everything();
      const answer = await act(world, column, id);
      expect(answer, row.what).toMatchObject({
        exit_code: 4,
        error: {
          code: "MERGE_CONFLICT",
          kept: "Nothing was changed, in any resource.",
          suggestions: expect.arrayContaining([expect.stringContaining(`agents plan ${column} ${id}`)]),
        },
      });
      expect(world.everything(), row.what).toEqual(everything);
      row.theirs(world);
      row.resolve?.(world);
    }
    expect(await act(world, column, id)).toMatchObject({ exit_code: 0 });
    expectPlan(world, column);
    expect(world.git("status", "--porcelain")).toBe("");
    expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
  },
);
