/** How far a landing has come, read from the disk while it runs or after a kill; and kills at a chosen point. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Finished, Started } from "./agents.ts";
import type { JournalFacts, LandingWorld } from "./landing-world.ts";

/** The points of a landing that can be seen from outside, in their order. */
export const MARKS = [
  "started",
  "journaled",
  "index locked",
  "checkout staged",
  "directory staged",
  "branch moved",
  "checkout files",
  "directory files",
  "index copied",
  "sealed",
  "finished",
] as const;

export type Mark = (typeof MARKS)[number];

export interface Before {
  readonly journal: string | undefined;
  readonly branch: string;
}

export function beforeLanding(world: LandingWorld): Before {
  return { journal: world.journal()?.id, branch: branchOf(world) };
}

export function branchOf({ repository }: LandingWorld): string {
  return readFileSync(join(repository, ".git/refs/heads/main"), "utf8");
}

/** Whether the landing that began after `before` has come to the mark. */
export function reached(
  mark: Mark,
  world: LandingWorld,
  before: Before,
  journal: () => JournalFacts | undefined,
): boolean {
  const found = mark === "started" ? undefined : journal();
  const own = found?.id === before.journal ? undefined : found;
  if (mark === "started" || own === undefined) return mark === "started";
  const inGit = (name: string): boolean => existsSync(join(world.repository, ".git", name));
  const staging = (root: string): string => join(root, `.cleveragents-${own.id}`);
  const movedAside = (root: string): boolean => filesIn(join(staging(root), "before")) > 0;
  switch (mark) {
    case "journaled":
      return true;
    case "index locked":
      return inGit("index.lock");
    case "checkout staged":
      return filesIn(join(staging(world.repository), "after")) > 0;
    case "directory staged":
      return filesIn(join(staging(world.directory), "after")) > 0;
    case "branch moved":
      return branchOf(world) !== before.branch;
    case "checkout files":
      return movedAside(world.repository);
    case "directory files":
      return movedAside(world.directory);
    case "index copied":
      return inGit(`cleveragents-${own.id}.index`);
    case "sealed":
      return own.outcome !== null;
    case "finished":
      return own.finished_at !== null;
  }
}

function filesIn(directory: string): number {
  return existsSync(directory) ? readdirSync(directory).length : 0;
}

/** How far a killed landing had come. Marks may be removed on the way, so the latest one that is there counts. */
export function stageOf(world: LandingWorld, before: Before): Mark {
  const journal = world.journal();
  const own = journal?.id === before.journal ? undefined : journal;
  if (own === undefined) return "started";
  const found = MARKS.findLast((mark) => reached(mark, world, before, () => own));
  return found ?? "started";
}

/**
 * Waits until `condition` holds or the command has ended; then a moment longer. `nearby` says when to look without a
 * pause: before that, each look would take processor time from the command.
 */
export async function until(
  condition: () => boolean,
  { child }: Started,
  { nearby = () => true, thenMs = 0 }: { nearby?: () => boolean; thenMs?: number } = {},
): Promise<boolean> {
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!ended() && !nearby()) await sleep(2);
  while (!ended() && !condition()) await nextTurn();
  const end = performance.now() + thenMs;
  while (!ended() && performance.now() < end) await (end - performance.now() > 5 ? sleep(2) : nextTurn());
  return !ended();
}

/** Kills the command alone, as a shortage of memory does, or with all its processes, as the end of a container does. */
export async function kill({ child, finished }: Started, group: boolean): Promise<Finished> {
  if (child.pid !== undefined && child.exitCode === null) {
    try {
      process.kill(group ? -child.pid : child.pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
  return finished;
}

/** When each mark was reached in an undisturbed run, in milliseconds since its start. */
export async function timeMarks(world: LandingWorld, args: readonly string[]): Promise<ReadonlyMap<Mark, number>> {
  const before = beforeLanding(world);
  using watch = world.watch();
  const begun = performance.now();
  const started = world.agents.start(args);
  const times = new Map<Mark, number>();
  for (const mark of MARKS) {
    await until(() => reached(mark, world, before, watch.journal), started);
    times.set(mark, performance.now() - begun);
  }
  const { code, stdout, stderr } = await started.finished;
  if (code !== 0) throw new Error(`agents ${args.join(" ")}: ${stdout}${stderr}`);
  return times;
}
