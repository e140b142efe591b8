import type { ChosenWork, Decision } from "../../domain/decision.ts";
import { count } from "../format.ts";
import { oneLine } from "../terminal-text.ts";
import type { Element } from "../view.ts";

/** What a model decided to do, for somebody who is to say whether it should be done. */
export function strategyView(decisions: readonly Decision[]): Element {
  const steps = decisions.filter(({ type, step }) => type === "strategy_choice" && step !== undefined);
  const names = new Map(steps.map(({ id, step }) => [id, step ?? ""]));
  return {
    kind: "lines",
    title: `Strategy: ${count(steps.length, "step")}`,
    lines: steps.flatMap((decision) => stepLines(decision, names)),
  };
}

/** Each text on one line: with line breaks it could look like a step more, or like a smaller risk. */
function stepLines({ step, chosen, needs, thought }: Decision, names: ReadonlyMap<string, string>): string[] {
  const { description, complexity, risk } = chosen as ChosenWork;
  const { confidence, rationale, alternatives = [] } = thought;
  const after = needs.flatMap((need) => names.get(need) ?? []);
  const facts = [
    ...(after.length === 0 ? [] : [`after ${after.join(", ")}`]),
    `${complexity} complexity`,
    ...(risk === null ? [] : [`risk ${risk}`]),
    ...(confidence === undefined ? [] : [`confidence ${confidence}`]),
  ];
  return [
    `${step}: ${oneLine(description)}`,
    `    ${facts.join(", ")}`,
    ...(rationale === undefined ? [] : [`    because: ${oneLine(rationale)}`]),
    ...alternatives.map((other) => `    instead of: ${oneLine(other)}`),
  ];
}
