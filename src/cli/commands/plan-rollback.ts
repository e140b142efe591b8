import { ConflictError } from "../../domain/errors.ts";
import type { Plan } from "../../domain/plan.ts";
import { statusKey } from "../../domain/transitions.ts";
import {
  findCheckpoints,
  requireCheckpoint,
  rollbackImpact,
  type Checkpoint,
  type RollbackImpact,
} from "../../plans/rollback.ts";
import { permitted } from "../../plans/transition.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed } from "../confirm.ts";
import { count, instant, shortInstant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";

/** Without a checkpoint it lists them; with one it takes everything behind it back, of the plan as it was seen. */
export async function planRollback(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const seen = await service.getPlan(input.argument(0));
  const wanted = input.optionalArgument(1);
  const store = await context.store();
  if (wanted === undefined) return listed(seen, await store.read((reader) => findCheckpoints(reader, seen)));
  permitted(seen, { operation: "rollbackPlan" });
  const { checkpoint, impact } = await store.read(async (reader) => {
    const found = await requireCheckpoint(reader, seen, wanted);
    return { checkpoint: found, impact: await rollbackImpact(reader, seen, found) };
  });
  if (impact.nothing) throw nothingBehind(seen, checkpoint);
  const question = `Roll the plan ${seen.id} back to ${placeOf(checkpoint)}? That undoes ${sumOf(impact)}.`;
  if (!(await confirmed(question, input.flag("yes")))) {
    const text = "Nothing was rolled back.";
    return { data: { rolled_back: false }, view: [], messages: [{ level: "warning", text }], status: "warn" };
  }
  const { plan } = await service.rollbackPlan(seen.id, checkpoint.id, { expectedVersion: seen.version });
  const left = await store.read((reader) => findCheckpoints(reader, plan));
  return {
    data: {
      rolled_back: true,
      plan_id: plan.id,
      checkpoint: checkpointData(checkpoint),
      impact: impactData(impact),
      post_rollback: { phase: plan.phase, state: plan.state, checkpoints: left.length },
    },
    view: [
      {
        kind: "fields",
        title: "Impact",
        rows: [
          ["back to", placeOf(checkpoint)],
          ["steps to run again", impact.steps.join(", ") || "-"],
          ["decisions discarded", String(impact.decisions)],
          ["tool calls undone", String(impact.toolCalls)],
          ["files affected", impact.files.join("\n") || "-"],
          ["state", `${plan.phase}/${plan.state}`],
          ["checkpoints left", String(left.length)],
        ],
      },
    ],
    messages: info(`Plan ${plan.id} is back at ${placeOf(checkpoint)}; its sandboxes follow when it is executed.`),
    next: [`agents plan execute ${plan.id}`, `agents plan diff ${plan.id}`],
  };
}

function listed(plan: Plan, checkpoints: readonly Checkpoint[]): Outcome {
  return {
    data: { plan_id: plan.id, attempt: plan.attempt, checkpoints: checkpoints.map(checkpointData) },
    view: [
      {
        kind: "table",
        title: `Checkpoints of plan ${plan.id}`,
        columns: [{ keep: "Id" }, "After step", "When (UTC)", "Changes", "Files"],
        rows: checkpoints.map(({ id, step, at, changes, files }) => [
          id,
          step ?? "(before all steps)",
          shortInstant(at),
          String(changes),
          files.length > 3 ? `${files.slice(0, 3).join(", ")}, … (${files.length})` : files.join(", ") || "-",
        ]),
        empty: "",
      },
    ],
    messages: info(`${count(checkpoints.length, "checkpoint")} listed.`),
    next: [`agents plan rollback ${plan.id} <id>`],
  };
}

/** The second of two who wanted the same: there is nothing left to do, and nothing is done. */
function nothingBehind(plan: Plan, checkpoint: Checkpoint): ConflictError {
  return new ConflictError(
    `Nothing was done in plan ${plan.id} behind ${placeOf(checkpoint)}.`,
    { expected: "steps or tool calls behind the checkpoint", actual: statusKey(plan) },
    { kept: "Nothing was changed.", next: [`agents plan rollback ${plan.id}`, `agents plan status ${plan.id}`] },
  );
}

function placeOf({ step }: Checkpoint): string {
  return step === undefined ? "the point before all steps" : `the point after step "${step}"`;
}

function sumOf(impact: RollbackImpact): string {
  const { decisions, toolCalls, files } = impact;
  return `${count(decisions, "decision")}, ${count(toolCalls, "tool call")} and changes to ${count(files.length, "file")}`;
}

function checkpointData({ id, step, at, changes, files }: Checkpoint): Record<string, unknown> {
  return { id, after_step: step ?? null, at: instant(at), changes, files };
}

function impactData(impact: RollbackImpact): Record<string, unknown> {
  return {
    steps: impact.steps,
    decisions_discarded: impact.decisions,
    tool_calls_undone: impact.toolCalls,
    files_affected: impact.files,
  };
}
