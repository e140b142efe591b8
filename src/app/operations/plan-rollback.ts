import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { PHASES, STATES, statusKey } from "../../domain/plan/transitions.ts";
import { findCheckpoints, requireCheckpoint, rollbackImpact, type Checkpoint } from "../../plans/rollback.ts";
import { permitted } from "../../plans/transition.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps, PlanGiven } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";

const CheckpointFacts = z.strictObject({
  id: z.string(),
  afterStep: z.string().nullable(),
  at: Instant,
  changes: z.int(),
  files: z.array(z.string()).readonly(),
});

/** Without a checkpoint it lists them; with one it discards everything after it, of the plan as it was seen. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, checkpoint: z.string().optional(), expectedVersion: z.int().optional() }),
  output: z.union([
    z.strictObject({
      planId: z.string(),
      attempt: z.int(),
      checkpoints: z.array(CheckpointFacts),
      nextSteps: NextSteps,
    }),
    z.strictObject({ rolledBack: z.literal(false) }),
    z.strictObject({
      rolledBack: z.literal(true),
      planId: z.string(),
      checkpoint: CheckpointFacts,
      impact: z.strictObject({
        steps: z.array(z.string()).readonly(),
        decisionsDiscarded: z.int(),
        toolCallsUndone: z.int(),
        filesAffected: z.array(z.string()).readonly(),
      }),
      postRollback: z.strictObject({ phase: z.enum(PHASES), state: z.enum(STATES), checkpoints: z.int() }),
      nextSteps: NextSteps,
    }),
  ]),
  run: async (app, { plan: named, directory, checkpoint: wanted, expectedVersion }, call) => {
    const service = await app.plans();
    const seen = await planMeant(
      app,
      { plan: named, directory },
      { operation: "plan.rollback", standings: ["stopped", "ready to review", "answered"] },
      call,
    );
    const store = await app.store();
    if (wanted === undefined) {
      const checkpoints = await store.read((reader) => findCheckpoints(reader, seen));
      return {
        planId: seen.id,
        attempt: seen.attempt,
        checkpoints: checkpoints.map(checkpointFacts),
        nextSteps: [nextStep("plan.rollback", { plan: seen.id, checkpoint: "<id>" })],
      };
    }
    permitted(seen, { operation: "rollbackPlan", expectedVersion });
    const { checkpoint, impact } = await store.read(async (reader) => {
      const found = await requireCheckpoint(reader, seen, wanted);
      return { checkpoint: found, impact: await rollbackImpact(reader, seen, found) };
    });
    if (impact.nothing) throw nothingAfterError(seen, checkpoint);
    const { steps, decisions, toolCalls, files } = impact;
    const sum = `${counted(decisions, "decision")}, ${counted(toolCalls, "tool call")} and changes to ${counted(files.length, "file")}`;
    const question = `Roll the plan ${seen.id} back to ${placeOf(checkpoint.step)}? That undoes ${sum}.`;
    if (!(await confirmed(call, question))) return { rolledBack: false as const };
    const { plan } = await service.rollbackPlan(seen.id, checkpoint.id, { expectedVersion: seen.version });
    const left = await store.read((reader) => findCheckpoints(reader, plan));
    return {
      rolledBack: true as const,
      planId: plan.id,
      checkpoint: checkpointFacts(checkpoint),
      impact: { steps, decisionsDiscarded: decisions, toolCallsUndone: toolCalls, filesAffected: files },
      postRollback: { phase: plan.phase, state: plan.state, checkpoints: left.length },
      nextSteps: [nextStep("plan.execute", { plan: plan.id }), nextStep("plan.diff", { plan: plan.id })],
    };
  },
});

/** The second of two callers who wanted the same: there is nothing left to do, and nothing is done. */
function nothingAfterError(plan: Plan, checkpoint: Checkpoint): ConflictError {
  return new ConflictError(
    `Nothing was done in plan ${plan.id} after ${placeOf(checkpoint.step)}.`,
    { expected: "steps or tool calls after the checkpoint", actual: statusKey(plan) },
    {
      kept: "Nothing was changed.",
      next: [nextStep("plan.rollback", { plan: plan.id }), nextStep("plan.status", { plan: plan.id })],
    },
  );
}

function placeOf(step: string | undefined): string {
  return step === undefined ? "the point before all steps" : `the point after step "${step}"`;
}

function counted(quantity: number, noun: string): string {
  return `${quantity} ${noun}${quantity === 1 ? "" : "s"}`;
}

function checkpointFacts({ id, step, at, changes, files }: Checkpoint): z.output<typeof CheckpointFacts> {
  return { id, afterStep: step ?? null, at: instant(at), changes, files };
}
