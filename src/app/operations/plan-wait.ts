import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { AgentsError, AwaitingInputError, ConflictError, PlanError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { STANDINGS } from "../../domain/plan/standing.ts";
import { findFailures } from "../../store/tables/plans.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { tellQueue } from "../procedures/tell-queue.ts";
import { planEnd, WAITED_FOR, type PlanEnd, type WaitedFor } from "../queries/plan-end.ts";
import { planMeant } from "../queries/plan-meant.ts";
import type { Plan } from "../../domain/plan/plan.ts";

/** Waits for a plan that other processes work on; how it ended is the result, or the error. */
export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    until: z.enum(WAITED_FOR).default("ready"),
    /** In seconds; for as long as it takes unless given. */
    timeout: z.number().positive("must be more than 0").optional(),
  }),
  output: z.strictObject({
    planId: z.string(),
    standing: z.enum(STANDINGS),
    phase: z.enum(PHASES),
    state: z.enum(STATES),
    until: z.enum(WAITED_FOR),
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, directory, until, timeout }, call) => {
    const seen = await planMeant(app, { plan: named, directory }, { operation: "plan.wait" }, call);
    await tellQueue(app, seen, call);
    const { plan, standing } = await ended(app, seen, { until, timeout }, call);
    const { id: planId, phase, state } = plan;
    const ready = standing === "ready to review";
    const next = ready ? [nextStep("plan.diff", { plan: planId }), nextStep("plan.apply", { plan: planId })] : [];
    return { planId, standing, phase, state, until, nextSteps: [...next, nextStep("plan.status", { plan: planId })] };
  },
});

const LOOK_MS = 200;
/** A plan stands still for moments between two phases, too. */
const STILL_MS = 2_000;

async function ended(
  app: App,
  seen: Plan,
  { until, timeout }: { readonly until: WaitedFor; readonly timeout: number | undefined },
  { signal }: Call,
): Promise<PlanEnd> {
  const store = await app.store();
  const deadline = timeout === undefined ? Infinity : performance.now() + timeout * 1000;
  let still: { readonly version: number; readonly since: number } | undefined;
  for (;;) {
    const end = await store.read((reader) => planEnd(reader, seen, until));
    if (end.kind === "reached") return end;
    if (end.kind === "gone") throw goneError(end);
    const now = performance.now();
    if (end.kind === "goes on" || still?.version !== end.plan.version)
      still = { version: end.plan.version, since: now };
    else if (now - still.since >= STILL_MS) throw await stoodStillError(app, end);
    if (signal.aborted) throw stoppedWaitingError(seen);
    if (now >= deadline) throw timeoutError(end, timeout);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

function goneError({ plan, standing }: PlanEnd): ConflictError {
  return new ConflictError(
    `The plan ${plan.id} is ${standing}.`,
    { expected: "a plan that comes to a result", actual: standing },
    { kept: "Everything recorded is kept.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

async function stoodStillError(app: App, { kind, plan, standing, question }: PlanEnd): Promise<AgentsError> {
  const { id } = plan;
  if (kind === "waits") {
    if (question !== undefined) {
      const next = [nextStep("plan.prompt", { plan: id, text: "<answer>" })];
      return new AwaitingInputError(`The plan ${id} asks: ${question.question}`, { next });
    }
    if (standing === "waiting for you") {
      const next = [nextStep("plan.tree", { plan: id }), nextStep("plan.execute", { plan: id, background: true })];
      return new AwaitingInputError(`The plan ${id} waits for a yes to its strategy.`, { next });
    }
    const next = [nextStep("plan.diff", { plan: id }), nextStep("plan.apply", { plan: id })];
    return new AwaitingInputError(`The plan ${id} waits for a review of its result.`, { next });
  }
  const failure = (await (await app.store()).read((reader) => findFailures(reader, id))).at(-1);
  const why = failure === undefined || plan.state === "queued" ? "no process works on it" : failure.message;
  return new PlanError(`The plan ${id} stopped: ${why}`, {
    kept: "Everything recorded is kept.",
    next: [nextStep("plan.errors", { plan: id }), nextStep("plan.execute", { plan: id, background: true })],
  });
}

function stoppedWaitingError({ id }: Plan): AgentsError {
  return new AgentsError("interrupted", `You stopped waiting for plan ${id}.`, {
    kept: "The plan continues.",
    next: [nextStep("plan.wait", { plan: id })],
  });
}

function timeoutError({ plan, standing }: PlanEnd, timeout: number | undefined): AgentsError {
  return new AgentsError("timed_out", `The plan ${plan.id} is still ${standing} after ${timeout} s.`, {
    kept: "The plan continues.",
    next: [nextStep("plan.wait", { plan: plan.id }), nextStep("plan.status", { plan: plan.id })],
  });
}
