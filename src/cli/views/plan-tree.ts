import type { DecisionNode } from "../../app/queries/decision-tree.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell } from "../terminal/view.ts";

export const show: Show<"plan.tree"> = ({ planId, tree, summary }, { input }) => {
  const rows = tree === null ? [] : [...withDepth(tree)];
  const hidden = summary.superseded === 0 || input.showSuperseded === true;
  return {
    view: [
      {
        kind: "table",
        title: `Decisions of plan ${planId}`,
        columns: ["#", "Decision", "Tool", { keep: "State" }, "Changes", { keep: "Id" }],
        rows: rows.map(({ node, depth }) => [
          String(node.sequence),
          `${"  ".repeat(depth)}${node.title}`,
          node.tool ?? "-",
          node.undone ? toned("undone", "warn") : decisionStateCell(node.state),
          node.step === null && node.changes === 0 ? "-" : String(node.changes),
          node.id,
        ]),
        empty: "",
      },
    ],
    messages: info(
      rows.length === 0
        ? "Nothing was decided yet."
        : `${count(summary.nodes, "decision")}${hidden ? "" : `; ${summary.superseded} superseded (--show-superseded)`}.`,
    ),
    next: [
      rows.length === 0
        ? nextStep("plan.execute", { plan: planId })
        : nextStep("plan.explain", { id: planId, decision: "<step or id>" }),
    ],
  };
};

function* withDepth(node: DecisionNode, depth = 0): Generator<{ node: DecisionNode; depth: number }> {
  yield { node, depth };
  for (const child of node.children) yield* withDepth(child, depth + 1);
}

const TONES = {
  decided: "dim",
  pending: "dim",
  running: "strong",
  interrupted: "warn",
  failed: "bad",
  done: "good",
  superseded: "dim",
} as const;

export function decisionStateCell(state: DecisionNode["state"]): Cell {
  return toned(state, TONES[state]);
}
