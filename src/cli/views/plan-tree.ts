import type { DecisionNode } from "../../app/queries/decision-tree.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";

/** Narrower than this, the name by which a decision is explained is worth more than its tool. */
const TOOLS_FROM = 80;

export const show: Show<"plan.tree"> = (
  { planId, attempt, tree, summary, earlierAttempts, decisionIds },
  { input, screen },
) => {
  const tools = screen.columns === undefined || screen.columns >= TOOLS_FROM;
  const hidden = [
    ...(summary.superseded === 0 || input.showSuperseded === true
      ? []
      : [`${summary.superseded} superseded (--show-superseded)`]),
    ...(attempt === 1 || input.allAttempts === true
      ? []
      : [`${count(attempt - 1, "earlier attempt")} not shown (--all-attempts)`]),
  ];
  return {
    view: [
      ...earlierAttempts.map((earlier) =>
        treeTable(`Attempt ${earlier.attempt}, given up${earlier.reason === null ? "" : `: ${earlier.reason}`}`, {
          tree: earlier.tree,
          tools,
        }),
      ),
      treeTable(earlierAttempts.length === 0 ? `Decisions of plan ${planId}` : `Attempt ${attempt}, the present one`, {
        tree,
        tools,
        names: new Map(Object.entries(decisionIds).map(([name, id]) => [id, name])),
      }),
    ],
    messages: info(
      tree === null ? "Nothing was decided yet." : `${[count(summary.nodes, "decision"), ...hidden].join("; ")}.`,
    ),
    next: [
      tree === null
        ? nextStep("plan.execute", { plan: planId })
        : nextStep("plan.explain", { id: planId, decision: "<name>" }),
    ],
  };
};

interface ShownTree {
  readonly tree: DecisionNode | null;
  readonly tools: boolean;
  /** By id. */
  readonly names?: ReadonlyMap<string, string>;
}

/** A decision without a name is one that no longer counts: it has its id. */
function treeTable(title: string, { tree, tools, names = new Map() }: ShownTree): Element {
  const rows = tree === null ? [] : [...withDepth(tree)];
  return {
    kind: "table",
    title,
    columns: ["#", "Decision", ...(tools ? ["Tool"] : []), { keep: "State" }, "Changes", { keep: "Name" }],
    rows: rows.map(({ node, depth }) => [
      String(node.sequence),
      `${"  ".repeat(depth)}${node.title}`,
      ...(tools ? [node.tool ?? "-"] : []),
      node.undone ? toned("undone", "warn") : decisionStateCell(node.state),
      node.step === null && node.changes === 0 ? "-" : String(node.changes),
      names.get(node.id) ?? node.id,
    ]),
    empty: "",
  };
}

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
