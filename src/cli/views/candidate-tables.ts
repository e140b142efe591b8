/** Several candidates of one request, side by side. Plan ids stand apart from the table, which fits 60 columns. */
import type { ComparisonFacts } from "../../app/queries/candidate-facts.ts";
import type { OutputOf } from "../../app/table/operation-table.ts";
import { count, duration, thousands } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import type { Picture } from "../terminal/show.ts";
import { oneLine } from "../terminal/terminal-text.ts";
import { toned, type Cell, type Element, type View } from "../terminal/view.ts";
import { applyPicture } from "./plan-apply.ts";
import { firstFew, usd } from "./parts.ts";

type Candidate = ComparisonFacts["candidates"][number];
type Output = Extract<OutputOf<"run">, { outcome: "candidates" }>;

export function comparisonView(comparison: ComparisonFacts): View {
  const { candidates } = comparison;
  return [
    {
      kind: "lines",
      title: `Candidates (group ${comparison.groupId})`,
      lines: candidates.map((one) => `${one.candidate}  ${one.planId}  ${oneLine(one.actor ?? "-")}`),
    },
    {
      kind: "table",
      title: "Comparison",
      columns: [{ keep: "#" }, "Result", "Files", "Lines", "Checks"],
      rows: candidates.map((one) => resultRow(one, comparison)),
      empty: "No candidates.",
    },
    {
      kind: "table",
      title: "Effort",
      columns: [{ keep: "#" }, "Cost", "Tokens", "Time"],
      rows: candidates.map(effortRow),
      empty: "",
    },
    ...noteElement(candidates),
    agreementElement(comparison),
    ...verdictElement(comparison),
  ];
}

function resultRow(one: Candidate, { best }: ComparisonFacts): Cell[] {
  const { changes } = one;
  return [
    String(one.candidate),
    resultCell(one, best === one.planId),
    String(changes.files),
    `+${changes.insertions} −${changes.deletions}`,
    checksCell(one),
  ];
}

/** "?" where the price of a call is not known. */
function effortRow({ candidate, cost, tokens, durationMs }: Candidate): Cell[] {
  const paid = usd(cost.spentUsd + cost.assumedUsd);
  return [
    String(candidate),
    cost.unpricedCalls === 0 ? paid : `${paid}?`,
    thousands(tokens.input + tokens.output),
    duration(durationMs),
  ];
}

const TONES = {
  waiting: "dim",
  working: "strong",
  asks: "warn",
  strategy: "warn",
  stopped: "bad",
  ready: "good",
  applied: "good",
  cancelled: "dim",
} as const;

function resultCell({ situation, chosen, obstacle }: Candidate, best: boolean): Cell {
  if (obstacle !== null) return toned("blocked", "bad");
  const note = chosen ? " (chosen)" : best ? " (best)" : "";
  return toned(`${situation}${note}`, TONES[situation]);
}

function checksCell({ checked, validationSummary }: Candidate): Cell {
  const { total, requiredPassed, informationalPassed } = validationSummary;
  const passed = requiredPassed + informationalPassed;
  const amount = total === 0 ? "" : ` ${passed}/${total}`;
  if (checked.outcome === "not_checked") return toned("none", "dim");
  return toned(`${checked.outcome}${amount}`, checked.outcome === "passed" ? "good" : "bad");
}

/** Why one stopped or cannot be applied, what it asks, what it answered. */
function noteElement(candidates: readonly Candidate[]): Element[] {
  const lines = candidates.flatMap(({ candidate, error, obstacle, question, answer, changes }) => [
    ...(error === null ? [] : [`${candidate} stopped: ${oneLine(error)}`]),
    ...(obstacle === null ? [] : [`${candidate} cannot be applied: ${oneLine(obstacle)}`]),
    ...(question === null ? [] : [`${candidate} asks: ${oneLine(question)}`]),
    ...(answer === null || changes.files > 0 ? [] : [`${candidate} answered: ${oneLine(answer)}`]),
  ]);
  return lines.length === 0 ? [] : [{ kind: "lines", title: "Notes", lines }];
}

function agreementElement({ agreement }: ComparisonFacts): Element {
  const { same, different, some } = agreement;
  const lines = [
    ...(same.length === 0 ? [] : [`the same bytes in all: ${firstFew(same)}`]),
    ...(different.length === 0 ? [] : [`changed differently: ${firstFew(different)}`]),
    ...some.slice(0, 10).map(({ path, candidates }) => `only ${candidates.join(", ")}: ${path}`),
    ...(some.length > 10 ? [`… and ${count(some.length - 10, "more file")} of only some`] : []),
  ];
  return { kind: "lines", title: "Files", lines: lines.length === 0 ? ["nothing to compare yet"] : lines };
}

function verdictElement({ verdict }: ComparisonFacts): Element[] {
  if (verdict === null) return [];
  const { judge, candidate, reasons } = verdict;
  return [{ kind: "lines", title: `${judge} recommends ${candidate}`, lines: reasons.split("\n") }];
}

export function candidatesPicture(output: Output): Picture {
  const { applied, notApplied, chosen, candidates } = output;
  const costs = info(
    `${count(candidates.length, "candidate")}, ${usd(output.cost.spentUsd + output.cost.assumedUsd)} in all.`,
  );
  if (applied !== null) {
    const picture = applyPicture(applied);
    const others = candidates.length - 1;
    const kept = `The other ${others === 1 ? "one stays" : `${others} stay`} unapplied until agents cleanup run.`;
    return {
      view: [...comparisonView(output), ...picture.view],
      messages: [...costs, ...picture.messages, ...info(kept)],
      next: applied.nextSteps,
    };
  }
  const messages: Message[] = [
    ...costs,
    ...(notApplied === null ? [] : [{ level: "error", text: `Not applied: ${notApplied}.` } as const]),
  ];
  const answered = candidates.every(({ answer, changes }) => answer !== null && changes.files === 0);
  const failed = notApplied !== null && chosen === null && !answered && !candidates.some(waits);
  return { view: comparisonView(output), messages, status: failed ? "error" : "ok" };
}

function waits({ situation }: Candidate): boolean {
  return situation === "asks" || situation === "strategy";
}
