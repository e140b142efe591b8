import { PHASES } from "../../domain/plan/transitions.ts";
import type { OutputOf } from "../../app/table/operation-table.ts";
import { elapsed } from "../../app/queries/plan-progress.ts";
import { count, tokensText } from "../terminal/format.ts";
import type { Picture, Show } from "../terminal/show.ts";
import { toned, type Cell } from "../terminal/view.ts";
import { inPlaceRows, spendingCell } from "./parts.ts";
import { standingCell } from "./standing-cell.ts";

type Output = OutputOf<"plan.status">;
type Row = readonly [string, Cell];

export const show: Show<"plan.status"> = (output, { verbose }) => planPicture(output, verbose);

/** A plan, in the way that every command shows it that tells where one stands. */
export const planPicture = (output: Output, verbose: boolean): Picture => ({
  view: [
    {
      kind: "fields",
      title: `Plan ${output.planId}`,
      rows: [
        ["does", output.description],
        ["done when", output.definitionOfDone.trimEnd()],
        ["action", output.action],
        ["projects", output.projects.map(({ project }) => project).join(", ") || "-"],
        ["profile", `${output.automation.profile} (${output.automation.source})`],
        ["attempt", attemptText(output)],
        ["state", standingCell(output.standing)],
        ...candidateRows(output),
        ...(output.stepActors.length === 0 ? [] : [["steps by", output.stepActors.join(", ")] as const]),
        ...inPlaceRows(output.inPlace),
        ...PHASES.map((phase) => [phase, progressCell(output, phase)] as const),
        ["validations", validationCell(output)],
        ...(output.confinement === null ? [] : [["commands", commandsCell(output.confinement)] as const]),
        ["recorded", `${count(output.execution.stepsRecorded, "step")}, ${count(output.execution.changes, "change")}`],
        ...(output.effort === null ? [] : [["effort", String(output.effort)] as const]),
        ...spendingRows(output),
        ...(output.usage.modelCalls === 0 ? [] : [["models", usageText(output)] as const]),
        ...ownerRows(output),
        ...questionRows(output, verbose),
        ...endRows(output),
      ],
    },
  ],
  messages: [],
  status: output.state === "errored" ? "error" : "ok",
});

function attemptText({ attempt, reversions }: Output): string {
  return `${attempt}${reversions === 0 ? "" : ` (sent back ${count(reversions, "time")})`}`;
}

function candidateRows({ planId, candidateOf }: Output): Row[] {
  if (candidateOf === null) return [];
  const { groupId, chosenPlan } = candidateOf;
  const how = chosenPlan === null ? "none chosen yet" : chosenPlan === planId ? "chosen" : `${chosenPlan} was chosen`;
  return [["candidate of", `${groupId} (${how})`]];
}

const TONES = {
  done: "good",
  running: "strong",
  queued: "dim",
  pending: "dim",
  errored: "bad",
  constrained: "warn",
  cancelled: "dim",
} as const;

function progressCell({ progress, phaseDurationsMs }: Output, phase: (typeof PHASES)[number]): Cell {
  const status = progress.find(({ step }) => step === phase)?.status ?? "pending";
  const took = phaseDurationsMs[phase];
  return toned(`${status}${took === null ? "" : ` ${elapsed(took)}`}`, TONES[status]);
}

/** One line: the result of the validations, and whether they stand in the way. */
function validationCell({ phase, state, validationSummary, obstacle }: Output): Cell {
  const { attached, total, requiredPassed, informationalPassed } = validationSummary;
  const executed = phase === "apply" || (phase === "execute" && state === "complete");
  if (!executed && attached > 0) return `${attached} attached, run at the end of execute`;
  if (obstacle !== null) return toned(obstacle, "bad");
  if (total === 0) return "none attached";
  const passed = requiredPassed + informationalPassed;
  const text = `${passed} of ${count(total, "validation")} passed`;
  return passed === total ? toned(text, "good") : toned(`${text}; the rest need not`, "warn");
}

function commandsCell({ kind, required, finding }: NonNullable<Output["confinement"]>): Cell {
  if (kind !== "none") return `confined by ${kind}`;
  return required ? toned(`refused: ${finding}`, "warn") : toned(`NOT CONFINED: ${finding}`, "bad");
}

/** A plan that asks no model and has no limit has no costs to show. */
function spendingRows({ cost }: Output): Row[] {
  if (cost.calls === 0 && cost.capUsd === null) return [];
  return [
    ["cost", spendingCell(cost)],
    ...(cost.today.capUsd === null ? [] : [["today (UTC)", spendingCell(cost.today)] as const]),
  ];
}

/** The costs have a row of their own. */
function usageText({ usage }: Output): string {
  return `${count(usage.modelCalls, "call")}, ${tokensText(usage)}`;
}

function ownerRows({ owner, abandonedBy }: Output): Row[] {
  return [
    ...(owner === null ? [] : [["worked on by", owner.holder] as const]),
    ...(abandonedBy === null ? [] : [["stopped", toned(`its process (${abandonedBy}) died`, "warn")] as const]),
  ];
}

function questionRows({ awaitingInput }: Output, verbose: boolean): Row[] {
  if (awaitingInput === null) return [];
  const { question, alternatives, explanation } = awaitingInput;
  return [
    ["asks", toned(question, "warn")],
    ...alternatives.map((one, index) => [`  ${index + 1}`, one] as const),
    // How a confidence is computed is in the sentence behind the colon.
    ...(explanation === null ? [] : [["because", verbose ? explanation : explanation.replace(/:.*$/, "")] as const]),
  ];
}

function endRows({ cancelReason, newBranches, undoneAt, undoneSteps, error }: Output): Row[] {
  return [
    ...newBranches.map(({ resource, branch }) => ["new branch", `${branch} in ${resource}`] as const),
    ...(cancelReason === null ? [] : [["cancelled", cancelReason] as const]),
    ...(undoneAt === null ? [] : [["undone", toned(undoneAt, "warn")] as const]),
    ...(undoneAt !== null || undoneSteps.length === 0
      ? []
      : [["undone", toned(`only ${undoneSteps.join(", ")}`, "warn")] as const]),
    ...(error === null ? [] : [["stopped", toned(error.message, "bad")] as const]),
  ];
}
