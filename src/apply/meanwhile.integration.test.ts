/** People and programs that act between two moments of a landing, where no look beforehand can help. */
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
import { PlanApplier, PlanLifecycleService } from "../index.ts";
import { HANDS, type Hands } from "./hands.ts";
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

function alive(changes: Partial<Hands>): Stopping {
  return { hands: { ...HANDS, ...changes }, stopped: false };
}

/** Does it once, right before the first of the calls that are meant. */
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

async function applyWith(changes: Partial<Hands>): Promise<readonly string[]> {
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  const applier = new PlanApplier({ store, service, directory: world.dataDir, hands: { ...HANDS, ...changes } });
  return (await applier.apply(world.planId)).kept;
}

test("a file that a person saves in the moment before it is moved aside is theirs, in its place", async () => {
  const file = join(world.directory, "edit.txt");
  const save = (): void => writeFileSync(file, "saved just now\n");
  const rename = onceBefore(HANDS.rename, (from) => isNote(from, "edit.txt"), save);
  await expect(world.run("apply", alive({ rename }))).rejects.toThrow("edit.txt was changed meanwhile");
  expect(readFileSync(file, "utf8")).toBe("saved just now\n");
  await expectUntouched("edit.txt");
});

test.each(["tail", "edit.txt"])("%s: what a person makes in the moment before ours comes in stays", async (name) => {
  const file = join(world.directory, name);
  const make = (): void => writeFileSync(file, "made just now\n");
  const link = onceBefore(HANDS.link, (_, to) => isNote(to, name), make);
  await expect(world.run("apply", alive({ link }))).rejects.toThrow(`${name} was changed meanwhile`);
  expect(readFileSync(file, "utf8")).toBe("made just now\n");
  await expectUntouched(name);
});

test("a branch that moves in the moment before ours moves it keeps the commit it got", async () => {
  const [theirs, own] = [
    world.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}"),
    world.git("rev-parse", "main"),
  ];
  const move = (): void => void world.git("update-ref", "refs/heads/main", theirs.trim());
  const updateRefs = onceBefore(HANDS.updateRefs, () => true, move);
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
  const rename: Hands["rename"] = (from, to) => {
    moved.push(from);
    HANDS.rename(from, to);
  };
  const link = onceBefore(HANDS.link, (_, to) => basename(to) === "index.lock", deed);
  const applying = world.run("apply", alive({ link, rename }));
  await expect(applying).rejects.toThrow("While the change was being prepared");
  expect(moved).toEqual([]);
  expect(world.git("rev-parse", "main")).toBe(head);
  expect(world.git("ls-files", "--stage")).toBe(staged);
  expect((await world.state()).directory).toEqual(before.directory);
  expect(world.leftovers()).toEqual([]);
});

test("a link put in the place of a directory leads nowhere, and what it should have held is not called removed", async () => {
  const elsewhere = join(world.dataDir, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "gone.txt"), "gone too\n");
  const inTheWay = join(world.directory, "deep", "er");
  const swap = (): void => {
    renameSync(inTheWay, `${inTheWay} aside`);
    symlinkSync(elsewhere, inTheWay);
  };
  const updateRefs = onceBefore(HANDS.updateRefs, () => true, swap);
  await expect(world.run("apply", alive({ updateRefs }))).rejects.toThrow("deep/er/gone.txt was changed meanwhile");
  expect(readFileSync(join(elsewhere, "gone.txt"), "utf8")).toBe("gone too\n");
  expect(readFileSync(join(`${inTheWay} aside`, "gone.txt"), "utf8")).toBe("gone too\n");
  unlinkSync(inTheWay);
  renameSync(`${inTheWay} aside`, inTheWay);
  await expectUntouched("");
});

test.each(["a directory", "a link"])("with a .git that is %s, nobody recovers what its owner is at", async (kind) => {
  if (kind === "a link") {
    const git = join(world.repository, ".git");
    renameSync(git, join(world.dataDir, "git"));
    symlinkSync(join(world.dataDir, "git"), git);
  }
  let found: unknown;
  const updateRefs: Hands["updateRefs"] = async (...args) => {
    found ??= await world.recover();
    return HANDS.updateRefs(...args);
  };
  await applyWith({ updateRefs });
  expect(found).toMatchObject([{ result: "busy" }]);
  expect(await world.planStatus()).toMatchObject({ status: "apply/applied" });
});

test("nobody commits or stages while branch and files are moving", async () => {
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
  const updateRefs = onceBefore(HANDS.updateRefs, () => true, attempt);
  const rename = onceBefore(HANDS.rename, (from) => basename(from) === "edit.txt", attempt);
  const link = onceBefore(HANDS.link, (_, to) => basename(to) === "tail", attempt);
  await world.run("apply", alive({ updateRefs, rename, link }));
  expect(refused).toEqual(Array.from({ length: 6 }, () => expect.stringContaining("index.lock")));
  expect(await world.state()).toEqual(after);
});

test("what a program writes into a file that it holds open while it is moved aside brings the file back", async () => {
  const held = openSync(join(world.directory, "edit.txt"), "r+");
  try {
    const rename: Hands["rename"] = (from, to) => {
      const meant = isNote(from, "edit.txt");
      HANDS.rename(from, to);
      if (meant) writeSync(held, "late", 0);
    };
    await expect(applyWith({ rename })).rejects.toThrow("edit.txt was changed meanwhile");
    expect(readFileSync(join(world.directory, "edit.txt"), "utf8")).toMatch(/^late/);
    await expectUntouched("edit.txt");
  } finally {
    closeSync(held);
  }
});

test("what it writes even later, when ours is in the place, is kept and named", async () => {
  const held = openSync(join(world.directory, "edit.txt"), "r+");
  try {
    const link: Hands["link"] = (from, to) => {
      HANDS.link(from, to);
      if (isNote(to, "edit.txt")) writeSync(held, "late", 0);
    };
    const kept = await applyWith({ link });
    expect(kept.map((file) => readFileSync(file, "utf8"))).toEqual([expect.stringMatching(/^late/)]);
    expect(readFileSync(join(world.directory, "edit.txt"), "utf8")).toBe("one\nTWO\nthree\nfour\nfive\nsix\n");
  } finally {
    closeSync(held);
  }
});
