/**
 * Carries a queued plan on without a person: as far as its profile and what its user said beforehand let it. It stops
 * where the command line without a terminal would, and leaves the plan waiting there. Everything is read from the plan,
 * so a job that comes a second time does nothing that was done before.
 */
import { ModelError, type ModelErrorKind } from "../../actors/models/model-error.ts";
import { AgentsError, AwaitingInputError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { decidedWaves } from "../../changes/decided-steps.ts";
import type { Job, JobEnd } from "../../ledger/jobs.ts";
import { findLease } from "../../ledger/leases.ts";
import { cameToGate } from "../../plans/autonomy.ts";
import type { App } from "../base/app.ts";
import { approveEverything, type Call } from "../base/call.ts";
import { carryOn } from "./carry-on.ts";
import { carryOut } from "./carry-out.ts";
import { applyPlan } from "./land-plan.ts";

/** The part of a job that says how its plan is carried out. */
export type QueuedPlan = Pick<Job, "planId" | "kind" | "options" | "agreedVersion">;

export async function carryAlone(
  app: App,
  job: QueuedPlan,
  { signal, tell }: Pick<Call, "signal" | "tell">,
): Promise<JobEnd> {
  const call: Call = job.options.approve
    ? { signal, tell, ask: approveEverything, answers: "program" }
    : { signal, tell, ask: () => Promise.resolve({ kind: "none" }), answers: "none" };
  try {
    return { state: await carried(app, job, call) };
  } catch (error) {
    return endOf(app, job, error);
  }
}

async function carried(app: App, { planId, kind, options, agreedVersion }: QueuedPlan, call: Call) {
  const plan = await (await app.plans()).getPlan(planId);
  if (isTerminal(plan)) return "done";
  // Only a person can say what should become of a result that a check refused.
  if (plan.state === "constrained") return "waiting";
  if (plan.phase === "apply") {
    // An apply that was begun had been agreed to.
    await applyPlan(app, plan, { allowEmpty: false, verify: options.verify, agreed: true }, call);
    return "done";
  }
  // To execute a strategy that was shown is the yes to it, and a job that comes again is not.
  if (!options.approve && agreedVersion !== plan.version && (await waitsForYes(app, plan))) return "waiting";
  const carrying = { ...options, seenVersion: plan.version };
  if (kind === "execute") {
    const { outcome } = await carryOut(app, plan, carrying, call);
    return outcome === "strategy" ? "waiting" : "done";
  }
  const outcome = await carryOn(app, plan, carrying, call);
  if (outcome.outcome === "strategy") return "waiting";
  if (outcome.applied === true) return "done";
  return outcome.changes.files === 0 && outcome.answer !== null ? "done" : "waiting";
}

/** The strategy was shown, and no guidance came since. */
async function waitsForYes(app: App, plan: Plan): Promise<boolean> {
  if (statusKey(plan) !== "strategize/complete") return false;
  const store = await app.store();
  const last = (await decidedWaves(store, plan.id, plan.attempt)).flat().at(-1);
  return last !== undefined && (await cameToGate(store, plan, last.decision));
}

/** The kinds of failures of a provider after which the plan continues by itself when it is tried again. */
const PASSING: readonly ModelErrorKind[] = ["rate_limit", "network", "overloaded", "server", "timeout"];

async function endOf(app: App, { planId }: QueuedPlan, error: unknown): Promise<JobEnd> {
  if (error instanceof AwaitingInputError) return { state: "waiting" };
  const message = error instanceof Error ? error.message : String(error);
  const plan = await (await app.plans()).getPlan(planId);
  if (isTerminal(plan)) return { state: "done" };
  if (error instanceof ModelError && PASSING.includes(error.kind)) return { state: "again", error: message };
  if (plan.state === "errored" || plan.state === "constrained") return { state: "failed", error: message };
  if (error instanceof AgentsError && error.code === "conflict") {
    const lease = await (await app.store()).read((reader) => findLease(reader, planId));
    // Another process carries it out: it is the owner now.
    if (lease?.lapsed === false) return { state: "done" };
  }
  return { state: "again", error: message };
}
