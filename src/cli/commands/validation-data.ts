import type { Plan } from "../../domain/plan.ts";
import { summarise, type ValidationResult } from "../../domain/validation-result.ts";
import { statusKey } from "../../domain/transitions.ts";
import { validationGate, type ValidationGate } from "../../execution/validation-gate.ts";
import { latestValidations, type ValidationRunResults } from "../../ledger/validation-runs.ts";
import type { Store } from "../../store/store.ts";
import { attachedValidations } from "../../store/validations.ts";
import { count } from "../format.ts";
import { toned, type Cell, type Element, type View } from "../view.ts";

/** What was validated of a plan, for the commands that tell it: `plan execute` and `plan status`. */
export interface PlanValidations {
  /** How many are attached now. */
  readonly attached: number;
  readonly latest: ValidationRunResults | undefined;
  readonly gate: ValidationGate;
}

export async function readValidations(store: Store, plan: Plan): Promise<PlanValidations> {
  return {
    attached: (await store.read((reader) => attachedValidations(reader, plan))).length,
    latest: await store.read((reader) => latestValidations(reader, plan)),
    gate: await validationGate(store, plan),
  };
}

export function resultData(result: ValidationResult): Record<string, unknown> {
  return {
    attachment_id: result.attachment,
    validation: result.validation,
    resource: result.resource,
    mode: result.mode,
    passed: result.passed,
    message: result.message,
    output: result.output,
    output_cut: result.outputCut,
    changed_files: result.changedFiles,
    duration_ms: result.durationMs,
  };
}

export function summaryData({ attached, latest, gate }: PlanValidations): Record<string, unknown> {
  const summary = summarise(latest?.results ?? []);
  return {
    attached,
    where: latest?.run.where ?? null,
    run: latest?.run.number ?? null,
    total: summary.total,
    required_passed: summary.requiredPassed,
    required_failed: summary.requiredFailed,
    informational_passed: summary.informationalPassed,
    informational_failed: summary.informationalFailed,
    all_required_passed: gate.ok,
    blocking: gate.ok
      ? []
      : gate.failures.map(({ attachment, validation, resource, reason, message }) => ({
          attachment_id: attachment,
          validation,
          resource,
          reason,
          message,
        })),
  };
}

/** One line: what came of the validations, and whether they stand in the way. */
export function summaryCell(plan: Plan, { attached, latest, gate }: PlanValidations): Cell {
  const executed = plan.phase === "apply" || statusKey(plan) === "execute/complete";
  if (!executed && attached > 0) return `${attached} attached, run at the end of execute`;
  if (!gate.ok) return toned(gate.why, "bad");
  const results = latest?.results ?? [];
  if (results.length === 0) return "none attached";
  const passed = results.filter((result) => result.passed).length;
  const text = `${passed} of ${count(results.length, "validation")} passed`;
  return passed === results.length ? toned(text, "good") : toned(`${text}; the rest need not`, "warn");
}

const LINES_SHOWN = 15;

/** A row for each, and the last words of those that failed. */
export function resultView(results: readonly ValidationResult[]): View {
  const table: Element = {
    kind: "table",
    title: "Validations",
    columns: [{ keep: "Validation" }, "Resource", "Mode", "Result", "Took", "Says"],
    rows: results.map((result) => [
      result.validation,
      result.resource,
      result.mode,
      result.passed ? toned("passed", "good") : toned("failed", result.mode === "required" ? "bad" : "warn"),
      `${result.durationMs} ms`,
      `${result.message}${result.changedFiles.length === 0 ? "" : ` It changed files (${result.changedFiles.length}), which were put back.`}`,
    ]),
    empty: "",
  };
  const outputs = results
    .filter((result) => !result.passed && result.output.trim() !== "")
    .map((result) => ({
      kind: "lines" as const,
      title: `${result.validation} on ${result.resource}`,
      lines: result.output.trimEnd().split("\n").slice(-LINES_SHOWN),
    }));
  return [table, ...outputs];
}
