/** Undo of one decision of an applied plan, with the decisions that depend on it and no others. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { contents, World, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const FILES = { "shared.txt": LINES, "old.txt": LINES, "b.txt": LINES };

const api = (tool: Step[0], params: Step[1], more: Step[2] = {}): Step => [tool, { resource: "api", ...params }, more];
const notes = (tool: Step[0], params: Step[1], more: Step[2] = {}): Step => [
  tool,
  { resource: "notes", ...params },
  more,
];
const replaced = (path: string, old: string): Step[1] => ({ path, old, new: old.toUpperCase() });

async function applied(world: World, ...steps: readonly Step[]): Promise<string> {
  const id = await world.executed(...steps);
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  return id;
}

function undoDecision(world: World, id: string, decision: string): Promise<Envelope> {
  return world.agents.json("plan", "undo", id, "--decision", decision, "--yes");
}

async function status(world: World, id: string): Promise<Envelope["data"]> {
  return (await world.agents.json("plan", "status", id)).data;
}

/**
 * Step "first" changes a line of one file in each resource; "second", later, another line of them; "beside" changes a
 * separate file.
 */
const STEPS: readonly Step[] = [
  api("edit_file", replaced("shared.txt", "one"), { id: "first" }),
  notes("edit_file", replaced("shared.txt", "one"), { id: "first-note" }),
  api("write_file", { path: "beside.txt", content: "beside\n" }, { id: "beside" }),
  notes("write_file", { path: "beside.txt", content: "beside\n" }, { id: "beside-note" }),
  api("edit_file", replaced("shared.txt", "seven"), { id: "second", needs: ["beside"] }),
  notes("edit_file", replaced("shared.txt", "seven"), { id: "second-note", needs: ["beside-note"] }),
];

test("one step goes alone; then the rest; redo brings all of it back; at each moment the plan says what is out", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const before = [contents(world.repository), contents(world.notes)];
  const id = await applied(world, ...STEPS);
  const after = [contents(world.repository), contents(world.notes)];
  const commits = Number(world.git("rev-list", "--count", "HEAD"));

  const undone = await undoDecision(world, id, "second");
  expect(undone).toMatchObject({
    exit_code: 0,
    data: { undone_at: null, steps: ["second"], undone_steps: ["second"], landings: [{ resource: "api" }] },
  });
  expect(world.read("shared.txt")).toBe(LINES.replace("one", "ONE"));
  expect(world.readNote("shared.txt")).toBe(LINES.replace("one", "ONE").replace("seven", "SEVEN"));
  expect(world.read("beside.txt")).toBe("beside\n");
  expect(world.git("status", "--porcelain")).toBe("");
  expect(Number(world.git("rev-list", "--count", "HEAD"))).toBe(commits + 1);
  const { data: tree } = await world.agents.json("plan", "tree", id);
  const ids = tree["decision_ids"] as Record<string, string>;
  const trailers = world.git("log", "-1", "--format=%(trailers:key=CleverAgents-Decision,valueonly)").trim();
  expect(trailers).toBe(ids["second"]);
  expect(tree).toMatchObject({ undone_steps: ["second"] });
  const children = (tree["tree"] as { children: { step: string; undone: boolean }[] }).children;
  expect(children.filter(({ undone: out }) => out).map(({ step }) => step)).toEqual(["second"]);
  expect((await world.agents.run(["plan", "tree", id])).stdout).toMatch(/second\s.*undone/);
  expect(await status(world, id)).toMatchObject({
    state: "applied",
    undone_at: null,
    undone_steps: ["second"],
    next_steps: [`agents plan undo ${id}`, `agents plan redo ${id}`, expect.any(String)],
  });
  expect((await world.agents.run(["plan", "status", id])).stdout).toContain("only second");

  const everything = world.everything();
  expect(await undoDecision(world, id, "second")).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("No change of second of plan"), kept: "Nothing was changed." },
  });
  expect(world.everything()).toEqual(everything);

  // By its id, and in a plain directory.
  expect(await undoDecision(world, id, ids["second-note"] ?? "")).toMatchObject({
    exit_code: 0,
    data: { undone_steps: ["second", "second-note"], landings: [{ resource: "notes" }] },
  });
  expect(world.readNote("shared.txt")).toBe(LINES.replace("one", "ONE"));

  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect([contents(world.repository), contents(world.notes)]).toEqual(before);
  expect(await status(world, id)).toMatchObject({
    undone_at: expect.any(String),
    undone_steps: STEPS.map(([, , more]) => String(more?.id)).sort(),
    next_steps: [`agents plan redo ${id}`, expect.any(String)],
  });
  expect((await undoDecision(world, id, "first")).exit_code).toBe(4);

  expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
  expect([contents(world.repository), contents(world.notes)]).toEqual(after);
  expect(await status(world, id)).toMatchObject({ undone_at: null, undone_steps: [] });
  expect(world.leftovers()).toEqual([]);
  await world.agents.json("audit", "verify");
});

test("a step takes those that need it along, and later ones on its paths; what is beside stays", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await applied(world, ...STEPS);
  expect(await undoDecision(world, id, "first")).toMatchObject({ data: { steps: ["first", "second"] } });
  expect(world.read("shared.txt")).toBe(LINES);
  expect(world.read("beside.txt")).toBe("beside\n");
  expect(await world.redo(id)).toMatchObject({ exit_code: 0, data: { undone_steps: [] } });
  expect(world.read("shared.txt")).toBe(LINES.replace("one", "ONE").replace("seven", "SEVEN"));
  expect(await undoDecision(world, id, "beside-note")).toMatchObject({
    data: { steps: ["beside-note", "second-note"] },
  });
  expect(world.readNote("shared.txt")).toBe(LINES.replace("one", "ONE"));
  expect(existsSync(join(world.notes, "beside.txt"))).toBe(false);
  expect(world.read("beside.txt")).toBe("beside\n");
});

test("a later change is found through a rename, and where a file and a directory took each other's place", async () => {
  const files = { "old.txt": LINES, place: "a file\n", "folder/in.txt": "in\n" };
  await using world = await World.make({ files, notes: files });
  const gate = { needs: ["gate"] };
  const on = (make: typeof api, name: string): Step[] => [
    make("move_file", { path: "old.txt", to: "new.txt" }, { id: `move-${name}` }),
    make("delete_file", { path: "place" }, { id: `clear-${name}` }),
    make("shell_execute", { command: "rm -r folder" }, { id: `empty-${name}` }),
    make("edit_file", replaced("new.txt", "four"), { id: `edit-${name}`, ...gate }),
    make("write_file", { path: "place/deep/x.txt", content: "x\n" }, { id: `fill-${name}`, ...gate }),
    make("write_file", { path: "folder", content: "now a file\n" }, { id: `file-${name}`, ...gate }),
  ];
  const before = [contents(world.repository), contents(world.notes)];
  const id = await applied(
    world,
    api("read_file", { path: "a.txt" }, { id: "gate" }),
    ...on(api, "api"),
    ...on(notes, "notes"),
  );
  for (const name of ["api", "notes"]) {
    for (const [step, later] of [
      ["move", "edit"],
      ["clear", "fill"],
      ["empty", "file"],
    ]) {
      const undone = await undoDecision(world, id, `${step}-${name}`);
      expect([undone.error?.message, undone.exit_code, undone.data["steps"]]).toEqual([
        undefined,
        0,
        [`${step}-${name}`, `${later}-${name}`],
      ]);
    }
  }
  expect([contents(world.repository), contents(world.notes)]).toEqual(before);
  // The step that is left only read: nothing of the plan is there any more.
  expect(await status(world, id)).toMatchObject({ undone_at: expect.any(String) });
  expect((await world.undo(id)).exit_code).toBe(4);
  expect(await undoDecision(world, id, "gate")).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("No change of gate") },
  });
  expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
  expect(contents(world.repository)).toEqual(contents(world.sandbox(id, "api")));
  expect(contents(world.notes)).toEqual(contents(world.sandbox(id, "notes")));
});

test.each([
  ["beside another change", ["other"]],
  ["which is all the plan did", []],
])(
  "a file that one step made and a later one deleted, %s, comes back when only the deletion is undone",
  async (_, others) => {
    await using world = await World.make();
    const on = (make: typeof api, name: string): Step[] => [
      make("write_file", { path: "made.txt", content: "made\n" }, { id: `make-${name}` }),
      ...others.map((id) => make("write_file", { path: "other.txt", content: "other\n" }, { id: `${id}-${name}` })),
      make("delete_file", { path: "made.txt" }, { id: `drop-${name}`, needs: [`make-${name}`] }),
    ];
    const id = await applied(world, ...on(api, "api"), ...on(notes, "notes"));
    for (const [name, root] of [
      ["api", world.repository],
      ["notes", world.notes],
    ] as const) {
      expect(await undoDecision(world, id, `drop-${name}`)).toMatchObject({ exit_code: 0 });
      expect(existsSync(join(root, "made.txt"))).toBe(true);
      expect(await undoDecision(world, id, `make-${name}`)).toMatchObject({ exit_code: 0 });
      expect(existsSync(join(root, "made.txt"))).toBe(false);
    }
  },
);

test("what others did beside it stays; where they changed the same, nothing at all is undone", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const both = (id: string): Step[] => [
    api("edit_file", replaced("shared.txt", "one"), { id }),
    notes("edit_file", replaced("shared.txt", "one"), { id: `${id}-note`, needs: [id] }),
    notes("edit_file", replaced("b.txt", "one"), { id: "beside" }),
  ];
  const id = await applied(world, ...both("first"));
  const theirs = (text: string): string => text.replace("six", "a person's");
  world.write({ "shared.txt": theirs(world.read("shared.txt")), "theirs.txt": "theirs\n" });
  world.commit("theirs");
  world.write({ "untracked.txt": "mine\n" });
  world.writeNotes({ "shared.txt": world.readNote("shared.txt").replace("ONE", "One") });
  const everything = world.everything();
  expect(await undoDecision(world, id, "first")).toMatchObject({
    exit_code: 4,
    error: {
      code: "MERGE_CONFLICT",
      message: expect.stringContaining("notes/shared.txt was changed on both sides"),
      kept: "Nothing was changed, in any resource.",
    },
  });
  expect(world.everything()).toEqual(everything);
  expect(await status(world, id)).toMatchObject({ undone_at: null, undone_steps: [] });

  world.writeNotes({ "shared.txt": theirs(LINES.replace("one", "ONE")) });
  expect(await undoDecision(world, id, "first")).toMatchObject({ exit_code: 0 });
  expect(world.read("shared.txt")).toBe(theirs(LINES));
  expect(world.readNote("shared.txt")).toBe(theirs(LINES));
  expect(world.readNote("b.txt")).toBe(LINES.replace("one", "ONE"));
  expect(world.git("status", "--porcelain")).toBe("?? untracked.txt\n");
});

test("where a person had done what all steps do together, a part of it is a conflict and no failure", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const on = (make: typeof api, name: string): Step[] => [
    make("edit_file", { path: "shared.txt", old: "one", new: "half" }, { id: `half-${name}` }),
    make("edit_file", { path: "shared.txt", old: "half", new: "whole" }, { id: `w-${name}`, needs: [`half-${name}`] }),
    make("edit_file", replaced("shared.txt", "seven"), { id: `more-${name}`, needs: [`w-${name}`] }),
  ];
  const id = await world.executed(...on(api, "api"), ...on(notes, "notes"));
  const theirs = { "shared.txt": LINES.replace("one", "whole") };
  world.write(theirs);
  world.commit("the same");
  world.writeNotes(theirs);
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  const everything = world.everything();
  for (const name of ["api", "notes"]) {
    expect(await undoDecision(world, id, `w-${name}`)).toMatchObject({
      exit_code: 4,
      error: {
        code: "MERGE_CONFLICT",
        message: expect.stringContaining(`${name}/shared.txt was also changed by someone else`),
      },
    });
  }
  expect(world.everything()).toEqual(everything);
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect([world.read("shared.txt"), world.readNote("shared.txt")]).toEqual([
    theirs["shared.txt"],
    theirs["shared.txt"],
  ]);
});

test("what a hook made of a file goes with the file's change; what it made of others, and by itself, stays", async () => {
  await using world = await World.make({
    arrange: ({ repository }) => {
      const hook = join(repository, ".git/hooks/pre-commit");
      mkdirSync(join(repository, ".git/hooks"), { recursive: true });
      writeFileSync(
        hook,
        "#!/bin/sh\nfor f in x.txt y.txt; do tr a-z A-Z < $f > t; cat t > $f; rm t; done; echo by itself > made.txt\n",
      );
      chmodSync(hook, 0o755);
    },
  });
  const id = await applied(
    world,
    api("write_file", { path: "x.txt", content: "x\n" }, { id: "x" }),
    api("write_file", { path: "y.txt", content: "y\n" }, { id: "y" }),
  );
  expect([world.read("x.txt"), world.read("y.txt")]).toEqual(["X\n", "Y\n"]);
  expect(await undoDecision(world, id, "x")).toMatchObject({ exit_code: 0, data: { steps: ["x"] } });
  expect(existsSync(join(world.repository, "x.txt"))).toBe(false);
  expect([world.read("y.txt"), world.read("made.txt")]).toEqual(["Y\n", "by itself\n"]);
  expect(await undoDecision(world, id, "y")).toMatchObject({ exit_code: 0, data: { undone_at: null } });
  expect(existsSync(join(world.repository, "y.txt"))).toBe(false);
  const hook = await undoDecision(world, id, "hook:api:pre-commit");
  expect(hook).toMatchObject({ exit_code: 0, data: { undone_at: expect.any(String) } });
  expect(Object.keys(contents(world.repository))).toEqual([".gitignore", "a.txt"]);

  expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
  // The hook's own part alone: the files are as the steps left them.
  expect(await undoDecision(world, id, "hook:api:pre-commit")).toMatchObject({ exit_code: 0 });
  expect([world.read("x.txt"), world.read("y.txt")]).toEqual(["x\n", "y\n"]);
  expect(existsSync(join(world.repository, "made.txt"))).toBe(false);
  expect(world.git("status", "--porcelain")).toBe("");
});

test("a decision that is not there, or is another plan's, is said; so is a plan that is not applied", async () => {
  await using world = await World.make();
  const write = api("write_file", { path: "x.txt", content: "x\n" }, { id: "write" });
  const id = await world.executed(write);
  expect(await undoDecision(world, id, "write")).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("only an applied plan can be undone") },
  });
  await world.apply(id);
  const other = await world.executed(api("write_file", { path: "y.txt", content: "y\n" }));
  const { decision_ids: ids } = (await world.agents.json("plan", "tree", other)).data as {
    decision_ids: Record<string, string>;
  };
  const everything = world.everything();
  for (const named of ["wrote", ids["step-1"] ?? "", "01HZZZZZZZZZZZZZZZZZZZZZZZ"]) {
    const { exit_code, error } = await undoDecision(world, id, named);
    expect([exit_code, error?.message, error?.suggestions]).toEqual([
      expect.any(Number),
      expect.stringContaining("There is no decision"),
      [`agents plan tree ${id}`],
    ]);
    expect(exit_code).not.toBe(0);
  }
  expect(world.everything()).toEqual(everything);
});
