/** People and programs that act in the middle of a landing, where no check beforehand can help. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { PlanApplier } from "./plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { LandingWorld, type Stopping, type WorldState } from "./testing/landing-world.ts";

let world: LandingWorld;
let before: WorldState;
let after: WorldState;

beforeAll(async () => {
  world = await LandingWorld.make();
  before = await world.state();
  await world.run("apply");
  after = await world.state();
}, 60_000);
beforeEach(() => world.reset());
afterAll(() => world[Symbol.dispose]());

function alive(changes: Partial<FileEffects>): Stopping {
  return { effects: { ...FILE_EFFECTS, ...changes }, stopped: false };
}

/** Does it once, right before the first of the matching calls. */
function onceBefore<A extends unknown[], R>(
  act: (...args: A) => R,
  meant: (...args: A) => boolean,
  deed: () => void,
): (...args: A) => R {
  let done = false;
  return (...args) => {
    if (!done && meant(...args)) {
      done = true;
      deed();
    }
    return act(...args);
  };
}

/** Whether the name, which may be one below an open directory, is that of this file in the plain directory. */
function isNote(at: string, name: string): boolean {
  return basename(at) === name && realpathSync(dirname(at)) === realpathSync(world.directory);
}

/** Everything is as before, but for the one path that a person has taken. */
async function expectUntouched(path: string): Promise<void> {
  const state = await world.state();
  const others = (entries: WorldState["directory"]): WorldState["directory"] =>
    entries.filter(([name]) => name !== path);
  expect({ ...state, directory: others(state.directory) }).toEqual({ ...before, directory: others(before.directory) });
  expect(world.leftovers()).toEqual([]);
  expect(await world.planStatus()).toEqual({ status: "apply/errored", undone: false });
}

async function applyWith(changes: Partial<FileEffects>): Promise<readonly string[]> {
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  const applier = new PlanApplier({
    store,
    service,
    data: new DataDirectory(world.dataDir),
    effects: { ...FILE_EFFECTS, ...changes },
  });
  return (await applier.apply(world.planId)).kept;
}

test("a file that a person saves in the moment before it is moved aside is theirs, in its place", async () => {
  const file = join(world.directory, "edit.txt");
  const save = (): void => writeFileSync(file, "saved just now\n");
  const rename = onceBefore(FILE_EFFECTS.rename, (from) => isNote(from, "edit.txt"), save);
  await expect(world.run("apply", alive({ rename }))).rejects.toThrow("edit.txt was changed meanwhile");
  expect(readFileSync(file, "utf8")).toBe("saved just now\n");
  await expectUntouched("edit.txt");
});

test.each(["tail", "edit.txt"])(
  "%s: a file that a person makes in the moment before ours is linked in stays",
  async (name) => {
    const file = join(world.directory, name);
    const make = (): void => writeFileSync(file, "made just now\n");
    const link = onceBefore(FILE_EFFECTS.link, (_, to) => isNote(to, name), make);
    await expect(world.run("apply", alive({ link }))).rejects.toThrow(`${name} was changed meanwhile`);
    expect(readFileSync(file, "utf8")).toBe("made just now\n");
    await expectUntouched(name);
  },
);

test("a branch that moves in the moment before ours moves it keeps the commit it got", async () => {
  const [theirs, own] = [
    world.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}"),
    world.git("rev-parse", "main"),
  ];
  const move = (): void => void world.git("update-ref", "refs/heads/main", theirs.trim());
  const updateRefs = onceBefore(FILE_EFFECTS.updateRefs, () => true, move);
  await expect(world.run("apply", alive({ updateRefs }))).rejects.toThrow("main was changed meanwhile");
  expect(world.git("rev-parse", "main")).toBe(theirs);
  world.git("update-ref", "refs/heads/main", own.trim());
  await expectUntouched("");
});

test.each([
  ["a file of the plan is taken out of the index", ["rm", "--cached", "--quiet", "edit.txt"]],
  ["another branch is checked out", ["symbolic-ref", "HEAD", "refs/heads/other"]],
])("right before git's index is locked %s: nothing moves", async (_, command) => {
  world.git("branch", "other");
  const head = world.git("rev-parse", "main");
  let staged = "";
  const deed = (): void => {
    world.git(...command);
    staged = world.git("ls-files", "--stage");
  };
  const moved: string[] = [];
  const rename: FileEffects["rename"] = (from, to) => {
    moved.push(from);
    FILE_EFFECTS.rename(from, to);
  };
  const link = onceBefore(FILE_EFFECTS.link, (_, to) => basename(to) === "index.lock", deed);
  const applying = world.run("apply", alive({ link, rename }));
  await expect(applying).rejects.toThrow("While the changes were being merged");
  expect(moved).toEqual([]);
  expect(world.git("rev-parse", "main")).toBe(head);
  expect(world.git("ls-files", "--stage")).toBe(staged);
  expect((await world.state()).directory).toEqual(before.directory);
  expect(world.leftovers()).toEqual([]);
});

test("a link put in the place of a directory leads nowhere, and the files below it are not reported as removed", async () => {
  const elsewhere = join(world.dataDir, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "gone.txt"), "gone too\n");
  const inTheWay = join(world.directory, "deep", "er");
  const swap = (): void => {
    renameSync(inTheWay, `${inTheWay} aside`);
    symlinkSync(elsewhere, inTheWay);
  };
  const updateRefs = onceBefore(FILE_EFFECTS.updateRefs, () => true, swap);
  await expect(world.run("apply", alive({ updateRefs }))).rejects.toThrow("deep/er/gone.txt was changed meanwhile");
  expect(readFileSync(join(elsewhere, "gone.txt"), "utf8")).toBe("gone too\n");
  expect(readFileSync(join(`${inTheWay} aside`, "gone.txt"), "utf8")).toBe("gone too\n");
  unlinkSync(inTheWay);
  renameSync(`${inTheWay} aside`, inTheWay);
  await expectUntouched("");
});

test.each(["a directory", "a link"])(
  "with a .git that is %s, no process recovers a landing whose owner is at work",
  async (kind) => {
    if (kind === "a link") {
      const git = join(world.repository, ".git");
      renameSync(git, join(world.dataDir, "git"));
      symlinkSync(join(world.dataDir, "git"), git);
    }
    let found: unknown;
    const updateRefs: FileEffects["updateRefs"] = async (...args) => {
      found ??= await world.recover();
      return FILE_EFFECTS.updateRefs(...args);
    };
    await applyWith({ updateRefs });
    expect(found).toMatchObject([{ result: "busy" }]);
    expect(await world.planStatus()).toMatchObject({ status: "apply/applied" });
  },
);

test("no program commits or stages while branch and files are moving", async () => {
  const refused: string[] = [];
  const attempt = (): void => {
    for (const command of [
      ["add", "stays.txt"],
      ["commit", "--quiet", "-m", "in between"],
    ]) {
      try {
        refused.push(world.git(...command));
      } catch (error) {
        refused.push(String(error));
      }
    }
  };
  const updateRefs = onceBefore(FILE_EFFECTS.updateRefs, () => true, attempt);
  const rename = onceBefore(FILE_EFFECTS.rename, (from) => basename(from) === "edit.txt", attempt);
  const link = onceBefore(FILE_EFFECTS.link, (_, to) => basename(to) === "tail", attempt);
  await world.run("apply", alive({ updateRefs, rename, link }));
  expect(refused).toEqual(Array.from({ length: 6 }, () => expect.stringContaining("index.lock")));
  expect(await world.state()).toEqual(after);
});

test("a file that a program writes into while it is moved aside is put back", async () => {
  const held = openSync(join(world.directory, "edit.txt"), "r+");
  try {
    const rename: FileEffects["rename"] = (from, to) => {
      const meant = isNote(from, "edit.txt");
      FILE_EFFECTS.rename(from, to);
      if (meant) writeSync(held, "late", 0);
    };
    await expect(applyWith({ rename })).rejects.toThrow("edit.txt was changed meanwhile");
    expect(readFileSync(join(world.directory, "edit.txt"), "utf8")).toMatch(/^late/);
    await expectUntouched("edit.txt");
  } finally {
    closeSync(held);
  }
});

test("a file that a program writes into even later, when ours is in its place, is kept and named", async () => {
  const held = openSync(join(world.directory, "edit.txt"), "r+");
  try {
    const link: FileEffects["link"] = (from, to) => {
      FILE_EFFECTS.link(from, to);
      if (isNote(to, "edit.txt")) writeSync(held, "late", 0);
    };
    const kept = await applyWith({ link });
    expect(kept.map((file) => readFileSync(file, "utf8"))).toEqual([expect.stringMatching(/^late/)]);
    expect(readFileSync(join(world.directory, "edit.txt"), "utf8")).toBe("one\nTWO\nthree\nfour\nfive\nsix\n");
  } finally {
    closeSync(held);
  }
});
