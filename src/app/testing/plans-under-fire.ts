/**
 * Plans of outside agents that are killed at random moments: the agent, our process, or both. Written once for small
 * agents of our own and for those of other makers, whose model and programs are the caller's.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Reader } from "../../store/port.ts";
import type { CleverAgents } from "../open.ts";
import { commandLine, killNow, processesAt } from "./agent-processes.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PROGRAM = join(ROOT, process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts");
const WHO = ["agent", "us", "both"] as const;
/** The longest life of a process before it is killed, from its start. */
const LATEST_MS = 1_500;
/** The longest time between a question and the kill that it brings. */
const AFTER_QUESTION_MS = 60;

/** Everything that one plan asked its model. */
export class Asked {
  /** How often, by the number of answers that the conversation had. */
  readonly questions: number[] = [];
  /** How often for a title. */
  titles = 0;
  readonly #waiting: (() => void)[] = [];

  count(position: number | "title"): void {
    if (position === "title") this.titles += 1;
    else this.questions[position] = (this.questions[position] ?? 0) + 1;
    for (const go of this.#waiting.splice(0)) go();
  }

  get total(): number {
    return this.questions.reduce((sum, one) => sum + one, this.titles);
  }

  /** Until the next question comes. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export interface PlanUnderFire {
  readonly id: string;
  /**
   * A word in the command line of what may be killed of the agent; any process of it otherwise. An agent that does not
   * notice the end of a process of its own waits until its time is over.
   */
  readonly victim?: string;
  readonly asked: Asked;
  /** Of its own, so that a seed repeats what happens to each plan. */
  readonly random: () => number;
  /** How many answers the agent has begun to carry out, as its files show. */
  readonly begun: () => number;
}

export interface Surroundings {
  readonly dataDir: string;
  readonly repository: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly agents: () => Promise<CleverAgents>;
  readonly reading: <T>(query: (reader: Reader) => Promise<T>) => Promise<T>;
  /** How much slower than our own agents these are. */
  readonly slowness?: number;
}

interface Life {
  /** Whether it ended by itself. */
  readonly isOver: () => boolean;
  readonly ended: Promise<void>;
  readonly kill: () => void;
}

/** Carries the plan out until it is complete; until then at most so often something of it is killed. */
export async function underFire(plan: PlanUnderFire, kills: number, around: Surroundings): Promise<number> {
  let killed = 0;
  while (killed < kills) {
    const recorded = await recordedQuestions(plan, around);
    if (!(await disturbed(plan, around))) break;
    killed += 1;
    requireNotAskedAgain(plan, recorded);
    await requireRecordedBefore(plan, around);
  }
  const recorded = await recordedQuestions(plan, around);
  const agents = await around.agents();
  const done = await agents.run("plan.execute", { plan: plan.id });
  requireNotAskedAgain(plan, recorded);
  await requireNothingLeft(plan, around);
  if (done.state !== "complete") throw new Error(`the plan is ${done.state} after it was carried out`);
  return killed;
}

/** False when it had ended before the moment came. */
async function disturbed(plan: PlanUnderFire, around: Surroundings): Promise<boolean> {
  const { random } = plan;
  const { slowness = 1 } = around;
  const who = WHO[Math.floor(random() * WHO.length)] ?? "both";
  const life = who === "agent" ? lifeHere(plan, around) : lifeOfItsOwn(plan, around);
  const atQuestion = random() < 0.5;
  const [waits, after] = [random() * LATEST_MS * slowness, random() * AFTER_QUESTION_MS];
  if (atQuestion) await Promise.race([plan.asked.next().then(() => sleep(after)), life.ended]);
  else await Promise.race([sleep(waits), life.ended]);
  const victims = who === "us" ? [] : await agentProcesses(plan, around, life);
  const killed = !life.isOver();
  // Any of them: the agent itself, a command of it, or what confines it.
  const victim = victims[Math.floor(random() * victims.length)];
  if (victim !== undefined) killNow(victim);
  if (who !== "agent") life.kill();
  await life.ended;
  await requireNothingLeft(plan, around);
  return killed;
}

async function agentProcesses(plan: PlanUnderFire, around: Surroundings, life: Life): Promise<number[]> {
  for (;;) {
    const all = processesAt(join(sandboxesOf(plan, around), "1", "shop", "agent-home"));
    const found = all.filter((pid) => commandLine(pid).includes(plan.victim ?? ""));
    if (found.length > 0 || life.isOver()) return found;
    await sleep(30);
  }
}

function lifeOfItsOwn({ id }: PlanUnderFire, { dataDir, repository, environment }: Surroundings): Life {
  const child = spawn(process.execPath, [PROGRAM, "--data-dir", dataDir, "plan", "execute", id], {
    cwd: repository,
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  let killed = false;
  const ended = new Promise<void>((resolve, reject) => {
    child.on("close", (code) =>
      code === 0 || killed ? resolve() : reject(new Error(`agents ended with ${code}: ${said}`)),
    );
  });
  ended.catch(() => undefined);
  const kill = (): void => {
    killed = true;
    child.kill("SIGKILL");
  };
  return { ended, kill, isOver: () => child.exitCode !== null };
}

/** In this process: only the agent is killed. */
function lifeHere({ id }: PlanUnderFire, { agents }: Surroundings): Life {
  let over = false;
  const ended = agents()
    .then((here) => here.run("plan.execute", { plan: id }))
    .then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof AgentsError) || error.code !== "agent_failed") throw error;
      },
    )
    .finally(() => (over = true));
  ended.catch(() => undefined);
  return { ended, kill: () => undefined, isOver: () => over };
}

function sandboxesOf({ id }: PlanUnderFire, { dataDir }: Surroundings): string {
  return join(dataDir, "sandboxes", id);
}

async function requireNothingLeft(plan: PlanUnderFire, around: Surroundings): Promise<void> {
  const left = (): number[] => processesAt(sandboxesOf(plan, around));
  for (const deadline = performance.now() + 30_000; left().length > 0; await sleep(20))
    if (performance.now() > deadline) throw new Error(`still running: ${left().join(", ")}`);
}

interface Recorded {
  readonly questions: readonly number[];
  readonly titles: number | undefined;
}

/** How often the questions had been asked whose answers are recorded now. */
async function recordedQuestions({ id, asked }: PlanUnderFire, { reading }: Surroundings): Promise<Recorded> {
  const before = [[...asked.questions], asked.titles] as const;
  const rows = await reading((reader) =>
    reader.all<{ kind: string; key: string }>(
      `SELECT kind, key FROM steps WHERE plan_id = ? AND superseded_at IS NULL`,
      id,
    ),
  );
  const answers = rows.filter(({ kind }) => kind === "answer").length;
  const titles = rows.some(({ key }) => key.includes("/acp-aside-"));
  return { questions: before[0].slice(0, answers), titles: titles ? before[1] : undefined };
}

/** An answer is on record before its agent does anything with it. */
async function requireRecordedBefore(plan: PlanUnderFire, around: Surroundings): Promise<void> {
  const { questions } = await recordedQuestions(plan, around);
  if (plan.begun() > questions.length)
    throw new Error(`${plan.begun()} answers were carried out, and ${questions.length} are on record`);
}

function requireNotAskedAgain({ asked }: PlanUnderFire, { questions, titles }: Recorded): void {
  const now = asked.questions.slice(0, questions.length);
  if (now.join() !== questions.join()) throw new Error(`asked ${now.join()}, and it was ${questions.join()}`);
  if (titles !== undefined && asked.titles !== titles) throw new Error("a recorded title was asked for again");
}
