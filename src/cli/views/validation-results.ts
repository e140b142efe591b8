/** Results of validations: a row for each, and the last words of those that failed. */
import type * as z from "zod";
import type { ValidationFacts } from "../../app/queries/plan-validations.ts";
import { toned, type Element, type View } from "../terminal/view.ts";

const LINES_SHOWN = 15;

export function validationView(results: readonly z.output<typeof ValidationFacts>[]): View {
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
