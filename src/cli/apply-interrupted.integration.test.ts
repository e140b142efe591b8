/** Interrupted landings: other commands, people and the machine act before they are recovered. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { PlanApplier } from "../apply/plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import type { Started } from "./testing/agents.ts";
import { beforeLanding, kill, reached, until, type Mark } from "./testing/disturbed-landing.ts";
import { LandingWorld, type Resources } from "./testing/landing-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });

let world: LandingWorld;
let executed: Resources;
let applied: Resources;

beforeAll(async () => {
  world = await LandingWorld.build();
  executed = world.look();
  await world.done("plan", "apply", world.planId, "--yes");
  applied = world.look();
  world.save("applied");
});

beforeEach(() => world.restore("executed"));
afterAll(() => world[Symbol.dispose]());

/** An apply stopped where it has come to the mark and is not sealed; one that is too fast is tried again. */
async function applyUpTo(mark: Mark): Promise<Started> {
  for (let tries = 0; tries < 20; tries += 1) {
    world.restore("executed");
    const before = beforeLanding(world);
    using watch = world.watch();
    const started = world.agents.start(["plan", "apply", world.planId, "--yes", "--format", "json"], { group: true });
    const has = (which: Mark) => (): boolean => reached(which, world, before, watch.journal);
    const there = await until(has(mark), started, { nearby: has("journaled") });
    if (there) signal(started, "SIGSTOP");
    if (there && world.journal()?.outcome === null) return started;
    signal(started, "SIGCONT");
    await started.finished;
  }
  throw new Error(`no apply could be stopped at "${mark}"`);
}

async function killedAt(mark: Mark): Promise<void> {
  await kill(await applyUpTo(mark), true);
}

function signal({ child }: Started, name: "SIGSTOP" | "SIGCONT"): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
}

test("a stopped apply is not overtaken, not even when its lease has lapsed, and ends in all of it", async () => {
  const started = await applyUpTo("index locked");
  try {
    for (const lapsed of [false, true]) {
      if (lapsed) world.lapseLease();
      const before = [world.look(), world.journal()];
      const status = await world.done("plan", "status", world.planId);
      expect(status.data).toMatchObject({ phase: "apply", state: "processing" });
      for (const command of [["apply", "--yes"], ["cancel"]]) {
        const { exit_code, error } = await world.agents.json("plan", ...command, world.planId);
        expect([command, exit_code, error?.message]).toEqual([
          command,
          4,
          expect.stringContaining("being written to its resources"),
        ]);
      }
      expect([world.look(), world.journal()]).toEqual(before);
    }
  } finally {
    signal(started, "SIGCONT");
  }
  const { code, stdout } = await started.finished;
  expect([code, stdout]).toEqual([0, expect.stringContaining('"applied"')]);
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
  expect((await world.done("plan", "status", world.planId)).data).toMatchObject({ state: "applied", owner: null });
  await world.done("audit", "verify");
});

test("an apply that was stopped while it prepared finds its lease taken over, and changes nothing", async () => {
  const slept = world.agents.start(["plan", "apply", world.planId, "--yes", "--format", "json"], { group: true });
  const locks = join(world.agents.dataDir, "locks");
  const held = (): boolean =>
    existsSync(locks) && readdirSync(locks).filter((name) => name.endsWith(".lock")).length === 2;
  await until(held, slept);
  signal(slept, "SIGSTOP");
  expect(world.journal()).toBeUndefined();
  const early = await world.agents.json("plan", "apply", world.planId, "--yes");
  expect([early.exit_code, early.error?.message]).toEqual([4, expect.stringContaining("worked on by")]);
  world.lapseLease();
  const second = world.agents.start(["plan", "apply", world.planId, "--yes", "--format", "json"]);
  const epoch = (): unknown => world.query("SELECT epoch FROM leases")["epoch"];
  const first = epoch();
  await until(() => epoch() !== first, second);
  signal(slept, "SIGCONT");
  const [late, landed] = [await slept.finished, await second.finished];
  expect([late.code, late.stdout]).toEqual([4, expect.stringContaining("no longer held")]);
  expect(landed.code).toBe(0);
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
});

test("files that a power loss emptied are written again, and edits made since then stay", async () => {
  world.restore("applied");
  const long = new Date(0);
  for (const root of [world.repository, world.directory]) {
    truncateSync(join(root, "a/00.txt"), 0);
    writeFileSync(join(root, "new/deep/er/1.txt"), Buffer.alloc(4_096));
    // As they were written: before the seal.
    for (const path of ["a/00.txt", "new/deep/er/1.txt"]) utimesSync(join(root, path), long, long);
    // The work of a person since then.
    rmSync(join(root, "moved/deep/16.txt"));
    truncateSync(join(root, "a/06.txt"), 0);
    appendFileSync(join(root, "a/05.txt"), "a person was here\n");
  }
  world.turn("UPDATE journals SET finished_at = NULL, boot = 'the run before'");
  await world.done("plan", "status", world.planId);
  for (const root of [world.repository, world.directory]) {
    const edited = join(root, "a/05.txt");
    expect(readFileSync(edited, "utf8")).toMatch(/changed\na person was here\n$/);
    truncateSync(edited, readFileSync(edited).length - "a person was here\n".length);
    expect(existsSync(join(root, "moved/deep/16.txt"))).toBe(false);
    expect(readFileSync(join(root, "a/06.txt"), "utf8")).toBe("");
  }
  const others = (lines: Resources): string[] => lines.filter((line) => !/moved\/deep\/16|a\/06/.test(line));
  expect(others(world.look())).toEqual(others(applied));
  expect(world.leftovers()).toEqual([]);
});

test("applied changes that a person left, by another branch or an undo, do not come back after a power loss", async () => {
  world.restore("applied");
  world.git("stash", "--quiet", "--include-untracked");
  world.git("checkout", "--quiet", "-b", "elsewhere", "main~1");
  const before = world.look();
  world.turn("UPDATE journals SET finished_at = NULL, boot = 'the run before'");
  await world.done("plan", "status", world.planId);
  expect(world.look()).toEqual(before);

  world.restore("applied");
  await world.done("plan", "undo", world.planId, "--yes");
  const undone = world.look();
  world.turn("UPDATE journals SET finished_at = NULL, boot = 'the run before'");
  await world.done("plan", "status", world.planId);
  expect(world.look()).toEqual(undone);
});

test("what a person changed between the kill and the recovery is kept and named; all the rest goes back", async () => {
  await killedAt("checkout files");
  const edited = ["api/a/01.txt", "notes/a/02.txt"].map((path) => path.replace("api", "my repo"));
  for (const path of edited) writeFileSync(join(world.agents.directory, path), "a person was here\n");
  const status = await world.agents.json("plan", "status", world.planId);
  const said = status.messages.map(({ text }) => text).join("\n");
  expect(said).toContain("it was undone now");
  for (const path of ["a/01.txt", "a/02.txt"]) expect(said).toContain(path);
  expect(status.data).toMatchObject({ phase: "apply", state: "errored" });
  for (const path of edited)
    expect(readFileSync(join(world.agents.directory, path), "utf8")).toBe("a person was here\n");
  const others = (lines: Resources): string[] => lines.filter((line) => !/a\/0[12]\.txt/.test(line));
  expect(others(world.look())).toEqual(others(executed));
  expect(world.leftovers()).toEqual([]);
});

test("a landing is finished below the commit that a person built on it", async () => {
  await killedAt("checkout files");
  const on = world.git("commit-tree", "-p", "main", "-m", "mine", "main^{tree}").trim();
  world.git("update-ref", "refs/heads/main", on);
  const status = await world.done("plan", "status", world.planId);
  expect(status.data).toMatchObject({ state: "applied" });
  expect(world.git("rev-parse", "main").trim()).toBe(on);
  expect(world.look().slice(1)).toEqual(applied.slice(1));
});

test("the user's own index.lock is said and left; a later command recovers", async () => {
  await killedAt("checkout files");
  const lock = join(world.repository, ".git/index.lock");
  writeFileSync(lock, "");
  const status = await world.done("plan", "status", world.planId);
  expect(status.data).toMatchObject({ state: "processing" });
  const [message] = status.messages;
  expect(message?.text).toContain("cannot be finished or undone yet: Another git command is running in");
  expect(message?.text).toContain(`remove ${lock}`);
  expect(readFileSync(lock, "utf8")).toBe("");
  rmSync(lock);
  expect((await world.done("plan", "status", world.planId)).data).toMatchObject({ state: "applied" });
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
});

test("locks of our own git, killed with its owner, are cleared away", async () => {
  await killedAt("index locked");
  const { id, landings } = world.query("SELECT id, landings FROM journals");
  const commit = /"newCommit":"(\w+)"/.exec(String(landings))?.[1] ?? "";
  writeFileSync(join(world.repository, ".git/refs/heads/main.lock"), `${commit}\n`);
  writeFileSync(join(world.repository, ".git/HEAD.lock"), "");
  writeFileSync(join(world.repository, `.git/cleveragents-${String(id)}.index.lock`), "half an index");
  expect((await world.done("plan", "status", world.planId)).data).toMatchObject({ state: "applied" });
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
});

test("another program's lock on the branch is named and left alone; a later command recovers", async () => {
  await killedAt("index locked");
  const lock = join(world.repository, ".git/refs/heads/main.lock");
  writeFileSync(lock, `${"5".repeat(40)}\n`);
  const status = await world.done("plan", "status", world.planId);
  expect(status.data).toMatchObject({ state: "processing" });
  expect(status.messages[0]?.text).toMatch(/cannot be finished or undone yet: git update-ref failed .*main\.lock/);
  expect(existsSync(lock)).toBe(true);
  rmSync(lock);
  expect((await world.done("plan", "status", world.planId)).data).toMatchObject({ state: "applied" });
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
});

test("a checkout that is not there any more stands in the way of nothing else", async () => {
  await killedAt("checkout files");
  renameSync(world.repository, `${world.repository} elsewhere`);
  const listed = await world.done("plan", "list");
  expect(listed.messages[0]?.text).toContain("cannot be finished or undone yet");
  expect((await world.agents.json("plan", "cancel", world.planId)).exit_code).toBe(4);
  renameSync(`${world.repository} elsewhere`, world.repository);
  await world.done("plan", "list");
  expect(world.look()).toEqual(applied);
  expect(world.leftovers()).toEqual([]);
});

const CHURN = FULL ? 100 : 10;

test(`${CHURN} landings that fail leave nothing behind`, { timeout: FULL ? 1_200_000 : 180_000 }, async () => {
  for (const [verb, from] of [
    ["apply", "executed"],
    ["undo", "applied"],
  ] as const) {
    world.restore(from);
    await inTheWay(verb, 0);
    const seen = [world.look(), world.surroundings()];
    for (let round = 1; round <= CHURN / 2; round += 1) await inTheWay(verb, round);
    expect([world.look(), world.surroundings()]).toEqual(seen);
  }
  world.restore("executed");
  await inTheWay("apply", 0);
  const seen = [world.look(), world.surroundings()];
  await world.done("plan", "cancel", world.planId);
  expect((await world.agents.json("plan", "apply", world.planId, "--yes")).exit_code).toBe(4);
  expect([world.look(), world.surroundings()]).toEqual(seen);
});

test("landings that fail in one process leave no handle open", async () => {
  writeFileSync(join(world.directory, "a/03.txt"), "in the way\n");
  await using store = await openStore(`sqlite:${world.agents.database}`);
  const service = new PlanLifecycleService({ store });
  const applier = new PlanApplier({ store, service, data: new DataDirectory(world.agents.dataDir) });
  const { id } = await service.getPlan(world.planId);
  const handles = (): number => readdirSync("/proc/self/fd").length;
  await expect(applier.apply(id)).rejects.toThrow("a/03.txt was changed on both sides");
  const open = handles();
  for (let round = 0; round < CHURN; round += 1) await expect(applier.apply(id)).rejects.toThrow("both sides");
  // The test's own channels may come and go; what leaks would leak each time.
  expect(handles()).toBeLessThan(open + CHURN / 2);
});

/** One landing that must not happen, each for another reason. Afterwards its obstacle is removed for the next one. */
async function inTheWay(verb: "apply" | "undo", round: number): Promise<void> {
  const command = ["plan", verb, world.planId, "--yes"];
  const touched = join(round % 2 === 0 ? world.repository : world.directory, "a/03.txt");
  const content = readFileSync(touched);
  if (round % 3 === 2) {
    const preparing = join(world.agents.directory, "preparing");
    const started = world.agents.start([...command, "--format", "json"], { env: { PATH: slowImport(preparing) } });
    await until(() => existsSync(preparing), started);
    started.child.kill("SIGINT");
    const { code, stdout } = await started.finished;
    rmSync(preparing);
    expect([code, stdout]).toEqual([1, expect.stringContaining("was interrupted")]);
    return;
  }
  writeFileSync(touched, String(content).replaceAll("file", "person"));
  const { exit_code, error } = await world.agents.json(...command);
  expect([exit_code, error?.code]).toEqual([4, "MERGE_CONFLICT"]);
  writeFileSync(touched, content);
}

/** A PATH whose git marks the start of the import of the files and is slow with it: nothing has moved by then. */
function slowImport(mark: string): string {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const directory = join(world.agents.directory, "slow");
  mkdirSync(directory, { recursive: true });
  const script = `case "$*" in *fast-import*) : > '${mark}'; sleep 0.3;; esac\nexec '${real}' "$@"`;
  writeFileSync(join(directory, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${directory}:${process.env["PATH"]}`;
}
