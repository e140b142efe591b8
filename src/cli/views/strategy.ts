/** A strategy, for the person who is to say whether it should be carried out. */
import type { DecisionNode } from "../../app/queries/decision-tree.ts";
import { count } from "../terminal/format.ts";
import { oneLine } from "../terminal/terminal-text.ts";
import type { Element } from "../terminal/view.ts";

export function strategyElement(tree: DecisionNode | null): Element {
  const all = tree === null ? [] : [...nodes(tree)];
  const steps = all.filter(({ work }) => work !== null);
  const names = new Map(steps.map(({ id, step }) => [id, step ?? ""]));
  return {
    kind: "lines",
    title: `Strategy: ${count(steps.length, "step")}`,
    lines: steps.flatMap((node) => stepLines(node, names)),
  };
}

function* nodes(tree: DecisionNode): Generator<DecisionNode> {
  yield tree;
  for (const child of tree.children) yield* nodes(child);
}

/** Each text on one line: with line breaks it could look like a step more, or like a smaller risk. */
function stepLines(node: DecisionNode, names: ReadonlyMap<string, string>): string[] {
  const { step, work, needs, confidence, rationale, alternatives } = node;
  const after = needs.flatMap((need) => names.get(need) ?? []);
  const facts = [
    ...(after.length === 0 ? [] : [`after ${after.join(", ")}`]),
    ...(work === null || work.actor === null ? [] : [`by ${oneLine(work.actor)}`]),
    `${work?.complexity} complexity`,
    ...(work === null || work.risk === null ? [] : [`risk ${work.risk}`]),
    ...(confidence === null ? [] : [`confidence ${confidence}`]),
  ];
  return [
    `${step}: ${oneLine(work?.description ?? "")}`,
    `    ${facts.join(", ")}`,
    ...(rationale === null ? [] : [`    because: ${oneLine(rationale)}`]),
    ...alternatives.map((other) => `    instead of: ${oneLine(other)}`),
  ];
}
