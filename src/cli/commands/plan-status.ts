import type { Plan } from "../../domain/plan.ts";
import { PHASES, isRecoverable, isTerminal, statusKey, target, type Phase } from "../../domain/transitions.ts";
import type { PlanUsage } from "../../ledger/model-calls.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { commandsHere, type CommandsHere } from "../confinement-line.ts";
import { count, elapsed, instant, planElapsed, stateCell, thousands } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { toned, type Cell } from "../view.ts";
import { readSpending, spendingData, spendingRows } from "./budget-data.ts";
import { questionData, questionRows } from "./question-data.ts";
import { planData, readInPlace, readUndoneSteps, undoneAt } from "./plan-data.ts";
import { readValidations, summaryCell, summaryData } from "./validation-data.ts";

export async function planStatus(context: CommandContext, input: Input): Promise<Outcome> {
  const service = await context.plans();
  const plan = await service.getPlan(input.argument(0));
  const failure = isRecoverable(plan) ? (await service.listFailures(plan.id)).at(-1) : undefined;
  const activity = await readActivity(context, plan);
  const undoneSteps = await readUndoneSteps(context, plan);
  const validated = await readValidations(await context.store(), plan);
  const inPlace = await readInPlace(context, plan);
  const spending = await readSpending(context, plan.id);
  const { question } = activity;
  // In place no command runs.
  const idle = plan.phase === "apply" || isTerminal(plan) || inPlace.where !== "";
  const commands = idle ? undefined : await commandsHere(plan.profile);
  const now = Date.now();
  const next =
    question === undefined
      ? nextSteps(plan, undoneSteps, inPlace.where !== "" && activity.changes > 0)
      : [`agents plan prompt ${plan.id} "<answer>"`, `agents plan cancel ${plan.id}`];
  return {
    data: {
      ...planData(plan),
      ...inPlace.data,
      reversions: plan.reversionCount,
      progress: PHASES.map((phase) => ({ step: phase, status: progress(plan, phase) })),
      timing: { started: instant(plan.createdAt), elapsed: planElapsed({ ...plan, status: plan }, now) },
      owner:
        activity.lease === undefined
          ? null
          : {
              holder: activity.lease.holder,
              epoch: activity.lease.epoch,
              expires_at: instant(activity.lease.expiresAt),
            },
      abandoned_by: activity.abandonedBy ?? null,
      awaiting_input: question === undefined ? null : questionData(question),
      execution: { steps_recorded: activity.steps, changesets: activity.changesets, changes: activity.changes },
      cost: { ...spendingData(spending.plan), today: { date: spending.day.date, ...spendingData(spending.day) } },
      usage: usageData(activity.usage),
      validation_summary: summaryData(validated),
      confined: commands === undefined ? null : commands.kind !== "none",
      confinement: commands?.data ?? null,
      cancel_reason: plan.cancelReason ?? null,
      undone_at: undoneAt(plan),
      undone_steps: undoneSteps,
      error: failure === undefined ? null : { message: failure.message, category: failure.category, recoverable: true },
      next_steps: next,
    },
    view: [
      {
        kind: "fields",
        title: `Plan ${plan.id}`,
        rows: [
          ["does", plan.description],
          ["done when", plan.definitionOfDone.trimEnd()],
          ["action", plan.action],
          ["projects", plan.projects.map((link) => link.project).join(", ") || "-"],
          ["profile", `${plan.profile.name} (${plan.profileSource})`],
          [
            "attempt",
            `${plan.attempt}${plan.reversionCount === 0 ? "" : ` (sent back ${count(plan.reversionCount, "time")})`}`,
          ],
          ["state", stateCell(plan.state)],
          ...inPlace.rows,
          ...PHASES.map((phase) => [phase, progressCell(plan, phase, now)] as const),
          ["validations", summaryCell(plan, validated)],
          ...(commands === undefined ? [] : [["commands", commandsCell(commands)] as const]),
          ["recorded", `${count(activity.steps, "step")}, ${count(activity.changes, "change")}`],
          ...spendingRows(spending),
          ...(activity.usage.calls === 0 ? [] : [["models", usageText(activity.usage)] as const]),
          ...(activity.lease === undefined ? [] : [["worked on by", activity.lease.holder] as const]),
          ...(question === undefined ? [] : questionRows(question)),
          ...(activity.abandonedBy === undefined
            ? []
            : [["worked on by", toned(`nobody: ${activity.abandonedBy} stopped without ending it`, "warn")] as const]),
          ...(plan.cancelReason === undefined ? [] : [["cancelled", plan.cancelReason] as const]),
          ...(plan.undoneAt === undefined ? [] : [["undone", toned(instant(plan.undoneAt), "warn")] as const]),
          ...(plan.undoneAt !== undefined || undoneSteps.length === 0
            ? []
            : [["undone", toned(`only ${undoneSteps.join(", ")}`, "warn")] as const]),
          ...(failure === undefined ? [] : [["stopped", toned(failure.message, "bad")] as const]),
        ],
      },
    ],
    messages: [],
    next,
    status: plan.state === "errored" ? "error" : "ok",
  };
}

function commandsCell({ kind, enforced, data }: CommandsHere): Cell {
  if (kind !== "none") return `confined by ${kind}`;
  const finding = String(data["finding"]);
  return enforced ? toned(`refused: ${finding}`, "warn") : toned(`NOT CONFINED: ${finding}`, "bad");
}

async function readActivity(context: CommandContext, plan: Plan) {
  const { findLease } = await import("../../ledger/leases.ts");
  const { planActivity } = await import("../../ledger/activity.ts");
  const { openQuestion } = await import("../../ledger/questions.ts");
  const { planUsage } = await import("../../ledger/model-calls.ts");
  const store = await context.store();
  return store.read(async (reader) => {
    const lease = await findLease(reader, plan.id);
    const question = await openQuestion(reader, plan.id);
    const abandoned = plan.state === "processing" && lease?.lapsed === true && question === undefined;
    return {
      question,
      lease: lease?.lapsed === false ? lease : undefined,
      abandonedBy: abandoned ? lease?.holder : undefined,
      ...(await planActivity(reader, plan.id)),
      usage: await planUsage(reader, plan.id),
    };
  });
}

/** What the plan used of models so far. */
export function usageData(usage: PlanUsage): Record<string, unknown> {
  return {
    model_calls: usage.calls,
    failed_calls: usage.failedCalls,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: usage.cost / 1_000_000,
    calls_without_price: usage.unpriced,
  };
}

/** What it cost has a row of its own, with the budget. */
function usageText({ calls, inputTokens, outputTokens }: PlanUsage): string {
  return `${count(calls, "call")}, ${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out`;
}

type Progress = "done" | "running" | "queued" | "pending" | "errored" | "constrained" | "cancelled";

function progress(plan: Plan, phase: Phase): Progress {
  const here = PHASES.indexOf(plan.phase) - PHASES.indexOf(phase);
  if (here > 0) return "done";
  if (here < 0) return "pending";
  switch (plan.state) {
    case "complete":
    case "applied":
      return "done";
    case "processing":
      return "running";
    case "queued":
    case "errored":
    case "constrained":
    case "cancelled":
      return plan.state;
  }
}

const TONES = {
  done: "good",
  running: "strong",
  queued: "dim",
  pending: "dim",
  errored: "bad",
  constrained: "warn",
  cancelled: "dim",
} as const satisfies Record<Progress, "good" | "strong" | "dim" | "bad" | "warn">;

function progressCell(plan: Plan, phase: Phase, now: number): Cell {
  const status = progress(plan, phase);
  const { startedAt, endedAt } = plan.phaseTimes[phase];
  const took = startedAt === undefined ? "" : ` ${elapsed((endedAt ?? now) - startedAt)}`;
  return toned(`${status}${took}`, TONES[status]);
}

function nextSteps(plan: Plan, undoneSteps: readonly string[], inPlace: boolean): string[] {
  const status = statusKey(plan);
  if (inPlace && status !== "apply/applied") return nextInPlace(plan);
  if (status === "apply/applied") {
    const undo = plan.undoneAt === undefined ? [`agents plan undo ${plan.id}`] : [];
    const redo = undoneSteps.length === 0 ? [] : [`agents plan redo ${plan.id}`];
    return [...undo, ...redo, `agents audit list --plan ${plan.id}`];
  }
  if (status === "execute/complete") return [`agents plan diff ${plan.id}`, `agents plan apply ${plan.id}`];
  if (isTerminal(plan)) return [`agents audit list --plan ${plan.id}`];
  if (plan.state === "constrained") return [`agents plan errors ${plan.id}`, `agents plan revert ${plan.id}`];
  if (isRecoverable(plan)) return [`agents plan errors ${plan.id}`, `agents plan resume ${plan.id}`];
  return [`agents plan resume ${plan.id}`, `agents plan cancel ${plan.id}`];
}

/** What it did is in the user's files, and can be taken out wherever it stopped. */
function nextInPlace(plan: Plan): string[] {
  if (plan.undoneAt !== undefined) return [`agents plan redo ${plan.id}`, ...ending(plan)];
  if (target(statusKey(plan), "undoPlan") === undefined) return nextSteps(plan, [], false);
  const on = isTerminal(plan) ? [] : nextSteps(plan, [], false).filter((step) => !step.includes(" revert "));
  return [...on, `agents plan undo ${plan.id}`];
}

function ending(plan: Plan): string[] {
  return isTerminal(plan) ? [] : [`agents plan revert ${plan.id}`, `agents plan cancel ${plan.id}`];
}
