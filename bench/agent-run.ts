/** One run of one agent: started as a user starts it, in the user's repository, and looked at when it has ended. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { environment, type Command, type Contestant, type Place } from "./agent-contestants.ts";
import type { Exchange, ScriptedModel } from "./agent-model.ts";
import { resetShop, type Task } from "./agent-tasks.ts";

/** An agent at its place. */
export interface Seat {
  readonly contestant: Contestant;
  readonly place: Place;
}

export interface Outcome {
  readonly seconds: number;
  /** Of all processes of the agent that it waited for. */
  readonly processorSeconds: number;
  readonly exchanges: readonly Exchange[];
  readonly done: boolean;
  readonly code: number | null;
  readonly said: string;
}

const PATIENCE_MS = 300_000;
const TICKS_PER_SECOND = 100;

/** Whole, from the words of the user to the end of the process. */
export async function wholeRun(seat: Seat, task: Task, model: ScriptedModel, thinkMs = 0): Promise<Outcome> {
  const { contestant, place } = seat;
  resetShop(place.repository);
  const exchanges = model.play({ task, speech: contestant.speech(place), thinkMs });
  const before = processorSecondsOfChildren();
  const started = performance.now();
  const ended = await ends(begin(contestant.start(place, task.request), place));
  const seconds = (performance.now() - started) / 1_000;
  const processorSeconds = processorSecondsOfChildren() - before;
  return { seconds, processorSeconds, exchanges, done: task.isDone(place.repository), ...ended };
}

export interface Running {
  readonly child: ChildProcess;
  readonly said: () => string;
}

/** In a process group of its own, so that it can be killed with everything that stayed in it. */
export function begin({ words, env }: Command, place: Place): Running {
  const [file = "", ...args] = words;
  mkdirSync(`${place.home}/tmp`, { recursive: true });
  const child = spawn(file, args, {
    cwd: place.repository,
    env: environment(place, env),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return { child, said: () => said };
}

export async function ends({ child, said }: Running): Promise<{ code: number | null; said: string }> {
  // A process that an agent left behind holds its output open: the end is the end of the agent itself.
  const exited = once(child, "exit");
  const tooLong = new AbortController();
  const first = await Promise.race([exited, sleep(PATIENCE_MS, "late" as const, { signal: tooLong.signal })]);
  tooLong.abort();
  if (first === "late") {
    killGroup(child);
    await exited;
  }
  return { code: child.exitCode, said: said() };
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

/** Linux counts the time of children that ended, and of theirs, in the process that waited for them. */
function processorSecondsOfChildren(): number {
  if (process.platform !== "linux") return Number.NaN;
  const [, rest = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(13, 15).map(Number);
  return ((user ?? 0) + (system ?? 0)) / TICKS_PER_SECOND;
}
