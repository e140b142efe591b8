/**
 * One worker process of the demo: `demo-worker.ts <name> <store url> <scratch directory>`. It knows nothing of the other workers;
 * it looks for plans with something to do, tries to start them, and leaves those that somebody else was faster at.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ConflictError,
  openStore,
  PlanLifecycleService,
  runStep,
  StaleLeaseError,
  statusKey,
  type Lease,
  type Plan,
  type PlanId,
  type PlanSummary,
} from "../src/index.ts";
import { mishapSchema, orderSchema, STEPS, STRIKES, type Mishap, type Order, type Report } from "./demo-messages.ts";

const [name = "", url = "", scratch = ""] = process.argv.slice(2);

/** Short, so that the demo need not wait long for it to lapse. */
const CRASH_TTL_MS = 1_500;
const STEP_MS = 25;
/** How long a worker rests when it found nothing to do. */
const REST_MS = 60;

const holder = `worker ${name}`;
const orders: Order[] = [];
let wake = Promise.withResolvers<void>();
process.on("message", (message) => {
  orders.push(orderSchema.parse(message));
  wake.resolve();
  wake = Promise.withResolvers();
});
// The demo is gone: nobody is left to work for.
const orphaned = (): void => process.exit(1);
process.on("disconnect", orphaned);

await work();

async function work(): Promise<void> {
  await using store = await openStore(url);
  const service = new PlanLifecycleService({ store, user: holder });
  report({ kind: "ready" });
  const first = await order((one) => "at" in one);
  if ("at" in first) await sleep(first.at - Date.now());
  if (first.kind === "race") {
    const { planId } = first;
    await attempt(planId, "startStrategize", () => strategize(service, planId));
  }

  const stopped = (): boolean => orders.some(({ kind }) => kind === "stop");
  while (!stopped()) {
    const { plans } = await service.listPlans();
    let found = false;
    for (const plan of fromOwnStart(plans)) {
      if (stopped()) break;
      if (first.kind === "work" && plan.id === first.avoid) continue;
      found = (await advance(service, plan)) || found;
    }
    if (!found) await sleep(REST_MS);
  }
  process.off("disconnect", orphaned).disconnect();
}

/** Every worker begins at another plan, so that they spread out; they still meet often enough. */
function fromOwnStart(plans: readonly PlanSummary[]): PlanSummary[] {
  const oldestFirst = plans.toReversed();
  const start = ((name.codePointAt(0) ?? 0) * 2) % Math.max(1, oldestFirst.length);
  return [...oldestFirst.slice(start), ...oldestFirst.slice(0, start)];
}

/** Does the next phase of the plan if it is free, or if its owner is gone; true when it did. */
async function advance(service: PlanLifecycleService, { id, status }: PlanSummary): Promise<boolean> {
  switch (statusKey(status)) {
    case "strategize/queued":
    case "strategize/processing":
      return attempt(id, "startStrategize", () => strategize(service, id));
    case "execute/queued":
    case "execute/processing":
      return attempt(id, "startExecute", () => execute(service, id));
    case "apply/queued":
    case "apply/processing":
      return attempt(id, "startApply", () => apply(service, id));
    // Waiting for somebody to decide, or over.
    case "strategize/complete":
    case "strategize/errored":
    case "strategize/cancelled":
    case "execute/complete":
    case "execute/errored":
    case "execute/cancelled":
    case "apply/applied":
    case "apply/constrained":
    case "apply/errored":
    case "apply/cancelled":
      return false;
  }
}

async function attempt(planId: PlanId, operation: string, phase: () => Promise<void>): Promise<boolean> {
  try {
    await phase();
    return true;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    report({ kind: "conflict", planId, operation, message: error.message });
    return false;
  }
}

async function strategize(service: PlanLifecycleService, planId: PlanId): Promise<void> {
  const lease = await service.startStrategize(planId, { holder });
  moved("startStrategize", lease.plan);
  moved("completeStrategize", await service.completeStrategize(lease));
  moved("executePlan", await service.executePlan(planId));
}

async function execute(service: PlanLifecycleService, planId: PlanId): Promise<void> {
  const mishap = mishapSchema.parse((await service.getPlan(planId)).arguments.get("mishap"));
  const ttl = mishap === "crash" ? { ttlMs: CRASH_TTL_MS } : {};
  const lease = await service.startExecute(planId, { holder, ...ttl });
  moved("startExecute", lease.plan);
  for (const step of STEPS) {
    let ran = false;
    try {
      await runStep(lease, step, () => {
        ran = true;
        return doStep(lease, step, mishap);
      });
    } catch (error) {
      if (!(error instanceof StaleLeaseError)) throw error;
      lease.stop();
      report({ kind: "refused", planId, step, message: error.message });
      return;
    }
    report({ kind: "recorded", planId, attempt: lease.plan.attempt, step, ran });
  }
  moved("completeExecute", await service.completeExecute(lease));
  if (mishap === "revert" && lease.plan.attempt === 1) report({ kind: "review", planId });
  else moved("applyPlan", await service.applyPlan(planId));
}

async function apply(service: PlanLifecycleService, planId: PlanId): Promise<void> {
  const lease = await service.startApply(planId, { holder });
  moved("startApply", lease.plan);
  moved("completeApply", await service.completeApply(lease));
}

/** A step's work, seen from outside as one line in a file: whatever ran twice would show there twice. */
async function doStep(lease: Lease, step: (typeof STEPS)[number], mishap: Mishap): Promise<{ by: string }> {
  await sleep(STEP_MS);
  const { planId, plan } = lease;
  const strikes = (mishap === "crash" || mishap === "cancel") && STRIKES[mishap] === step;
  if (strikes && existsSync(join(scratch, `strike-${planId}`))) {
    report({ kind: "waiting", planId, step });
    await order(({ kind }) => kind === "continue");
  }
  appendFileSync(
    join(scratch, "effects"),
    `${JSON.stringify({ planId, attempt: plan.attempt, step, worker: name })}\n`,
  );
  return { by: name };
}

/** The next order of that kind, also one that came already. */
async function order(wanted: (order: Order) => boolean): Promise<Order> {
  for (;;) {
    const index = orders.findIndex(wanted);
    const [found] = index === -1 ? [] : orders.splice(index, 1);
    if (found !== undefined) return found;
    await wake.promise;
  }
}

function moved(operation: string, plan: Plan): void {
  report({ kind: "moved", planId: plan.id, operation, version: plan.version });
}

function report(message: Report): void {
  process.send?.(message);
}
