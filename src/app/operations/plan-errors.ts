import * as z from "zod";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isRecoverable, MAX_REVERSIONS, PHASES, STATES } from "../../domain/plan/transitions.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, Next, NextSteps, PlanGiven } from "../base/schemas.ts";
import { planSituation } from "../queries/plan-situation.ts";
import { planMeant } from "../queries/plan-meant.ts";

const Hint = z.strictObject({ action: z.string(), message: z.string(), cliCommand: Next });

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: z.strictObject({
    planId: z.string(),
    phase: z.enum(PHASES),
    state: z.enum(STATES),
    recoverable: z.boolean(),
    errors: z.array(
      z.strictObject({
        position: z.int(),
        phase: z.enum(PHASES),
        attempt: z.int(),
        kind: z.enum(["errored", "constrained"]),
        message: z.string(),
        category: z.string(),
        at: Instant,
      }),
    ),
    recoveryHints: z.array(Hint),
    nextSteps: NextSteps,
  }),
  run: async (app, input, call) => {
    const service = await app.plans();
    const plan = await planMeant(app, input, { operation: "plan.errors", standings: ["stopped"] }, call);
    const failures = await service.listFailures(plan.id);
    const situation = await (await app.store()).read((reader) => planSituation(reader, plan));
    const hints = isRecoverable(plan) ? recoveryHints(plan, situation.next) : [];
    return {
      planId: plan.id,
      phase: plan.phase,
      state: plan.state,
      recoverable: isRecoverable(plan),
      errors: failures.map(({ position, phase, attempt, kind, message, category, at }) => ({
        position,
        phase,
        attempt,
        kind,
        message,
        category,
        at: instant(at),
      })),
      recoveryHints: hints,
      nextSteps: hints.map(({ cliCommand }) => cliCommand),
    };
  },
});

/** Exactly what `plan status` offers, without this list itself; each with what it does. */
function recoveryHints(plan: Plan, next: readonly NextStep[]): z.output<typeof Hint>[] {
  const left = MAX_REVERSIONS - plan.reversionCount;
  const messages: Readonly<Record<string, string>> = {
    resume: "try again where it stopped",
    undo: "undo its changes",
    redo: "redo its changes",
    revert: `plan it again (${left} of ${MAX_REVERSIONS} tries left)`,
    cancel: "give it up",
  };
  return next.flatMap((step) => {
    const action = "operation" in step ? step.operation.replace("plan.", "") : "";
    const message = messages[action];
    return message === undefined ? [] : [{ action, message, cliCommand: step }];
  });
}
