/**
 * `npm run demo`: six plans, four worker processes at once, and what usually goes wrong: two workers reach for one plan, one is
 * killed in the middle, one plan is cancelled while it runs, one is sent back. It tells what happened from what the store
 * recorded, and checks every promise it makes; the exit code is not 0 if one is broken. Needs no network and no key.
 */
import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { styleText } from "node:util";
import { z } from "zod";
import {
  openStore,
  PlanLifecycleService,
  ProjectService,
  subscribeEvents,
  verifyAudit,
  type DomainEvent,
  type Plan,
  type PlanId,
  type Store,
} from "../src/index.ts";
import { bold, check, dim, PLANS, tell, tellConflicts } from "./demo-account.ts";
import type { Checked, Effect, Evidence, Heard, StepRow } from "./demo-account.ts";
import { reportSchema, type Order, type Report } from "./demo-messages.ts";

const ROOT = join(import.meta.dirname, "..");
const AGENTS = join(ROOT, "bin", "agents");
const WORKERS = ["A", "B", "C", "D"] as const;
const PATIENCE_MS = 18_000;

interface Worker {
  readonly name: string;
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
}

/** The part of `agents plan list --format json` that is relied on. */
const listSchema = z.object({
  data: z.object({ plans: z.array(z.object({ id: z.string(), phase: z.string(), state: z.string() })) }),
});

await main();

async function main(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-demo-"));
  const workers: Worker[] = [];
  const cleanUp = async (): Promise<void> => {
    for (const worker of workers) worker.process.kill("SIGKILL");
    // Only then is nobody left who could write into the directory while it is removed.
    await Promise.all(workers.map(({ ended }) => ended));
    await rm(scratch, { recursive: true, force: true });
  };
  let interrupted = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    interrupted = true;
    void cleanUp().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const promises = await show(scratch, workers);
    if (promises.some(({ kept }) => !kept)) process.exitCode = 1;
  } catch (error) {
    // Workers that end because of the interruption are no failure of theirs.
    if (!interrupted) throw error;
  } finally {
    await cleanUp();
  }
}

async function show(scratch: string, workers: Worker[]): Promise<Checked[]> {
  const dataDir = join(scratch, "data");
  await using store = await openStore(`sqlite:${join(dataDir, "cleveragents.db")}`);
  const plans = await setUp(store, scratch);
  console.log(bold(`${plans.length} plans of one action, ${WORKERS.length} worker processes, one database`));

  const evidence = await carryOut(store, scratch, plans, workers);
  for (const [index, plan] of evidence.plans.entries()) tell(plan, index, evidence);
  tellConflicts(evidence);

  const checked = check(evidence);
  checked.push(await checkAudit(store));
  if (existsSync(AGENTS)) {
    checked.push(command(dataDir, ["plan", "list"]), command(dataDir, ["audit", "verify"]));
    checked.push(checkListed(dataDir, evidence.plans));
  } else {
    console.log(dim("\nThere is no bin/agents here, so the command line is not shown."));
  }
  console.log(bold("\nPromises"));
  for (const { promise, kept } of checked) {
    console.log(`  ${kept ? styleText("green", "kept  ") : styleText("red", "BROKEN")}  ${promise}`);
  }
  return checked;
}

async function setUp(store: Store, scratch: string): Promise<PlanId[]> {
  const service = new PlanLifecycleService({ store });
  const projects = new ProjectService({ store });
  await projects.createProject({ name: "local/shop", description: "What customers see" });
  await projects.createProject({ name: "local/warehouse", description: "What they do not" });
  await service.createAction({
    name: "local/change",
    description: "Change: {change}",
    definitionOfDone: "The change is made, tested and reviewed.",
    executionActor: "local/demo-worker",
    arguments: [
      { name: "change", required: true },
      { name: "mishap", default: "none", pattern: "none|crash|cancel|revert" },
    ],
  });
  const ids: PlanId[] = [];
  for (const [index, { change, mishap }] of PLANS.entries()) {
    const plan = await service.useAction({
      action: "local/change",
      projects: [index % 2 === 0 ? "local/shop" : "local/warehouse"],
      arguments: { change, mishap },
    });
    ids.push(plan.id);
    await writeFile(join(scratch, `strike-${plan.id}`), "");
  }
  return ids;
}

/** Lets the workers loose and plays the two parts they do not: the one who kills, and the person who steers. */
async function carryOut(store: Store, scratch: string, ids: readonly PlanId[], workers: Worker[]): Promise<Evidence> {
  const service = new PlanLifecycleService({ store, user: "demo" });
  const heard: Heard[] = [];
  const failed = Promise.withResolvers<never>();
  let killed = "";

  const react = async (worker: Worker, report: Report): Promise<void> => {
    heard.push({ ...report, worker: worker.name });
    if (report.kind === "review") {
      await service.revertPlan(report.planId, { reason: "a test is missing" });
    } else if (report.kind === "waiting") {
      // Only the first one to come here meets the mishap.
      await rm(join(scratch, `strike-${report.planId}`));
      const { mishap } = PLANS[ids.indexOf(report.planId)] ?? { mishap: "none" };
      if (mishap === "crash") {
        killed = worker.name;
        worker.process.kill("SIGKILL");
      } else {
        await service.cancelPlan(report.planId, { reason: "the customers still need it" });
        send(worker, { kind: "continue" });
      }
    }
  };
  const ready = WORKERS.map((name) => {
    const worker = start(name, store.url, scratch, (code, signal) => {
      if (code !== 0 && name !== killed) failed.reject(new Error(`worker ${name} ended with ${code ?? signal}`));
    });
    workers.push(worker);
    return new Promise<void>((resolve) => {
      worker.process.on("message", (message) => {
        const report = reportSchema.parse(message);
        if (report.kind === "ready") resolve();
        else react(worker, report).catch(failed.reject);
      });
    });
  });
  const timer = setTimeout(() => failed.reject(new Error(`not finished after ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS);
  try {
    await Promise.race([Promise.all(ready), failed.promise]);
    const [raced] = ids;
    if (raced === undefined) throw new Error("there are no plans");
    const at = Date.now() + 100;
    for (const worker of workers) {
      const races = worker.name === "A" || worker.name === "B";
      send(worker, races ? { kind: "race", planId: raced, at } : { kind: "work", avoid: raced, at });
    }
    const events = await Promise.race([eventsUntilAllEnded(store, ids), failed.promise]);
    for (const worker of workers) if (worker.name !== killed) send(worker, { kind: "stop" });
    await Promise.race([Promise.all(workers.map(({ ended }) => ended)), failed.promise]);
    return {
      plans: await Promise.all(ids.map((id) => service.getPlan(id))),
      events,
      steps: await store.read((reader) => reader.all<StepRow>("SELECT plan_id, attempt, key, epoch FROM steps")),
      effects: await readEffects(join(scratch, "effects")),
      heard,
      killed,
    };
  } finally {
    clearTimeout(timer);
  }
}

function start(
  name: string,
  url: string,
  scratch: string,
  onExit: (code: number | null, signal: NodeJS.Signals | null) => void,
): Worker {
  const child = fork(join(import.meta.dirname, "demo-worker.ts"), [name, url, scratch]);
  child.on("exit", onExit);
  // Its last words may arrive after its end: only when the channel is closed too, all of them were heard.
  const ended = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  return { name, process: child, ended };
}

function send(worker: Worker, order: Order): void {
  worker.process.send(order);
}

async function eventsUntilAllEnded(store: Store, ids: readonly PlanId[]): Promise<DomainEvent[]> {
  const events: DomainEvent[] = [];
  const open = new Set<PlanId>(ids);
  for await (const event of subscribeEvents(store, { after: 0, pollMs: 50 })) {
    events.push(event);
    const ended = event.type === "plan.applied" || event.type === "plan.cancelled";
    if (ended && event.planId !== undefined) open.delete(event.planId);
    if (open.size === 0) break;
  }
  return events;
}

async function readEffects(file: string): Promise<Effect[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return lines.map((line): Effect => JSON.parse(line));
}

async function checkAudit(store: Store): Promise<Checked> {
  const { problem, entries, chains } = await verifyAudit(store, { at: Date.now() });
  return {
    promise: `the audit log verifies: ${entries} entries in ${chains} chains${problem === undefined ? "" : `: ${problem.message}`}`,
    kept: problem === undefined,
  };
}

/** Runs the real command line on the same data and shows what it says. */
function command(dataDir: string, words: readonly string[]): Checked {
  const shown = `agents ${words.join(" ")}`;
  const { status, stdout, stderr } = agents(dataDir, words);
  console.log(`\n${bold(`$ ${shown}`)}\n${(stdout + stderr).trimEnd()}`);
  return { promise: `${shown} succeeds`, kept: status === 0 };
}

/** What people see may be shortened; programs get the whole ids and the states. */
function checkListed(dataDir: string, plans: readonly Plan[]): Checked {
  const { status, stdout } = agents(dataDir, ["--format", "json", "plan", "list"]);
  const listed = status === 0 ? listSchema.parse(JSON.parse(stdout)).data.plans : [];
  const kept =
    listed.length === plans.length &&
    plans.every((plan) =>
      listed.some(({ id, phase, state }) => id === plan.id && phase === plan.phase && state === plan.state),
    );
  return { promise: "the command line lists the same plans in the same states", kept };
}

function agents(dataDir: string, words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(AGENTS, ["--data-dir", dataDir, ...words], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}` },
  });
}
