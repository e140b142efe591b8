/**
 * Each agent is killed (SIGKILL, with its process group) while the command of its third action runs, and resumed in the
 * best way that it offers: is the work finished, and what was lost, left behind or asked twice on the way?
 */
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { git } from "../src/testing/git-repository.ts";
import { countTokens } from "./agent-bill.ts";
import type { Exchange, ScriptedModel } from "./agent-model.ts";
import { begin, ends, killGroup, type Seat } from "./agent-run.ts";
import { KILLED, resetShop } from "./agent-tasks.ts";
import { grouped, table } from "./measure.ts";

/** Of the five seconds that the command takes. */
const INTO_THE_COMMAND_MS = 1_500;
const SETTLED_MS = 300;

interface Survival {
  readonly name: string;
  readonly finished: boolean;
  /** Answers that were given before the kill and had to be asked for again. */
  readonly askedTwice: number;
  readonly tokensOfThose: number;
  /** Files of the user that were changed while the work was not finished. */
  readonly halfDone: number;
  /** Processes that ran on after the kill. */
  readonly leftRunning: number;
  readonly said: string;
}

export async function measureKills(seats: readonly Seat[], model: ScriptedModel): Promise<void> {
  const survivals: Survival[] = [];
  for (const seat of seats) survivals.push(await killed(seat, model));
  console.log("\nkilled while the command of the third action ran, then resumed");
  console.log(
    table([
      ["", "finished", "answers asked twice", "tokens of those", "the user's files in between", "left running"],
      ...survivals.map((one) => [
        one.name,
        one.finished ? "yes" : "NO",
        String(one.askedTwice),
        grouped(one.tokensOfThose),
        one.halfDone === 0 ? "untouched" : "half of the change",
        String(one.leftRunning),
      ]),
    ]),
  );
  for (const { name, finished, said } of survivals)
    if (!finished) console.log(`${name} said at last: ${said.trim().slice(-600)}`);
  const [own] = survivals;
  const peers = survivals.filter(({ name }) => !name.startsWith("ours"));
  const alone = own !== undefined && isWhole(own) && !peers.some(isWhole);
  if (peers.length > 0)
    console.log(`the only one that repeats no question and leaves nothing behind: ${alone ? "yes" : "NO"}`);
  if (own !== undefined && !own.finished) throw new Error("ours did not finish after a kill");
}

function isWhole({ finished, askedTwice, halfDone, leftRunning }: Survival): boolean {
  return finished && askedTwice === 0 && halfDone === 0 && leftRunning === 0;
}

async function killed({ contestant, place }: Seat, model: ScriptedModel): Promise<Survival> {
  resetShop(place.repository);
  const speech = contestant.speech(place);
  const slow = KILLED.actions.findIndex(({ does }) => does === "run");
  const commandRuns = Promise.withResolvers<void>();
  const before = model.play({
    task: KILLED,
    speech,
    onAction: (index) => (index === slow ? commandRuns.resolve() : undefined),
  });
  const running = begin(contestant.start(place, KILLED.request), place);
  const ended = ends(running);
  await Promise.race([commandRuns.promise, ended]);
  await Promise.race([sleep(INTO_THE_COMMAND_MS), ended]);
  if (running.child.exitCode !== null) throw new Error(`${contestant.name} ended by itself: ${running.said()}`);
  killGroup(running.child);
  await ended;
  await sleep(SETTLED_MS);
  const halfDone = git(place.repository, "status", "--porcelain").split("\n").filter(Boolean).length;
  const leftRunning = processesIn([place.repository, place.home]);
  const after = model.play({ task: KILLED, speech });
  let said = "";
  for (const command of contestant.resume(place)) ({ said } = await ends(begin(command, place)));
  const again = askedAgain(before, after);
  return {
    name: contestant.name,
    finished: KILLED.isDone(place.repository),
    askedTwice: again.length,
    tokensOfThose: again.reduce((sum, { prompt }) => sum + tokensOf(prompt.pieces), 0),
    halfDone,
    leftRunning,
    said,
  };
}

/** Requests of the second life at a point of the work for which the first had its answer. */
function askedAgain(before: readonly Exchange[], after: readonly Exchange[]): Exchange[] {
  const point = ({ done, decided }: Exchange): string => `${done} ${decided}`;
  const known = new Set(before.flatMap((one) => (one.done === undefined ? [] : [point(one)])));
  return after.filter((one) => one.done !== undefined && known.has(point(one)));
}

function tokensOf(pieces: Exchange["prompt"]["pieces"]): number {
  return pieces.reduce((sum, { text }) => sum + countTokens(text), 0);
}

function processesIn(directories: readonly string[]): number {
  if (process.platform !== "linux") return Number.NaN;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => directories.some((directory) => workingDirectory(pid).startsWith(directory))).length;
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile.
    return "";
  }
}
