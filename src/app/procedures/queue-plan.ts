/** Leaves a plan to the plan workers, and says whether any is there. */
import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { enqueueJob, PRIORITIES, type JobKind, type JobOptions } from "../../ledger/jobs.ts";
import { findLease } from "../../ledger/leases.ts";
import { workingSlots } from "../../ledger/plan-workers.ts";
import { requireNoQuestion } from "../../ledger/questions.ts";
import { requireVersion } from "../../plans/transition.ts";
import { findPlan } from "../../store/tables/plans.ts";
import type { App } from "../base/app.ts";
import { NextSteps } from "../base/schemas.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";

export const Queued = PlanFacts.extend({
  outcome: z.literal("queued"),
  ran: z.literal(false),
  /** How many plans are carried out at once; 0: no process works on the queue, and the plan stays in it. */
  workers: z.int(),
  nextSteps: NextSteps,
});

/** The choices of a run that its job keeps. */
export type JobChoices = Omit<JobOptions, "approve">;

export function choicesOf({ includeDirty, verify, applyAnyway }: JobChoices): JobChoices {
  return { includeDirty, verify, applyAnyway };
}

export async function queuedPlan(app: App, id: PlanId): Promise<z.output<typeof Queued>> {
  const plan = await (await app.plans()).getPlan(id);
  const workers = await (await app.store()).read(workingSlots);
  return { ...planFacts(plan), outcome: "queued", ran: false, workers, nextSteps: queuedNext(id, workers) };
}

function queuedNext(plan: PlanId, workers: number): NextStep[] {
  const watch = [nextStep("plan.watch", { plan }), nextStep("plan.wait", { plan })];
  return workers === 0 ? [nextStep("jobs.work"), ...watch] : watch;
}

/** Queues a plan as the user saw it: to execute a strategy that was shown is the yes to it. */
export async function queueSeen(
  app: App,
  seen: Plan,
  { kind, options }: { readonly kind: JobKind; readonly options: JobOptions },
): Promise<z.output<typeof Queued>> {
  const askedBy = await app.user();
  await (
    await app.store()
  ).transaction(async (tx) => {
    const plan = (await findPlan(tx, seen.id)) ?? seen;
    requireVersion(plan, seen.version);
    if (isTerminal(plan) || plan.phase === "apply" || statusKey(plan) === "execute/complete") throw executedError(plan);
    await requireNoQuestion(tx, plan.id);
    const lease = await findLease(tx, plan.id);
    if (lease?.lapsed === false) throw workedOnError(plan);
    await enqueueJob(tx, {
      plan,
      kind,
      priority: PRIORITIES.interactive,
      options,
      agreedVersion: plan.version,
      askedBy,
    });
  });
  return queuedPlan(app, seen.id);
}

function executedError(plan: Plan): ConflictError {
  return new ConflictError(
    `The plan ${plan.id} is ${statusKey(plan)}: there is nothing to execute.`,
    { expected: "a plan that is not executed yet", actual: statusKey(plan), code: "invalid_transition" },
    { kept: "Nothing was queued.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

function workedOnError(plan: Plan): ConflictError {
  return new ConflictError(
    `Another process works on the plan ${plan.id} now.`,
    { expected: "a plan that no process works on", actual: "a held lease" },
    { kept: "The running work continues untouched.", next: [nextStep("plan.watch", { plan: plan.id })] },
  );
}
