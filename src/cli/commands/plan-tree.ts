import type { ChosenCall, Decision } from "../../domain/decision.ts";
import { decisionOutcomes, type DecisionOutcome, type DecisionState } from "../../execution/decision-outcomes.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type Cell, type Tone } from "../view.ts";
import { readUndoneSteps } from "./plan-data.ts";

/** What was decided in the plan's current attempt, as a tree, and what became of it. */
export async function planTree(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  const superseded = input.flag("showSuperseded");
  const all = await (
    await context.store()
  ).read((reader) => decisionOutcomes(reader, plan.id, plan.attempt, { superseded: true }));
  const outcomes = all.filter(({ state }) => superseded || state !== "superseded");
  const undone = new Set(await readUndoneSteps(context, plan));
  const rows = [...inTree(outcomes)];
  const [root] = rows;
  const discarded = all.filter(({ state }) => state === "superseded").length;
  const summary = { nodes: rows.length, depth: Math.max(0, ...rows.map(({ depth }) => depth)), superseded: discarded };
  return {
    data: {
      plan_id: plan.id,
      attempt: plan.attempt,
      tree: root === undefined ? null : node(root.outcome, outcomes, undone),
      undone_steps: [...undone],
      summary,
      decision_ids: Object.fromEntries(
        outcomes.filter(({ state }) => state !== "superseded").map(({ decision }) => [label(decision), decision.id]),
      ),
    },
    view: [
      {
        kind: "table",
        title: `Decisions of plan ${plan.id}`,
        columns: ["#", "Decision", "Tool", { keep: "State" }, "Changes", { keep: "Id" }],
        rows: rows.map(({ outcome: { decision, state, changes }, depth }) => [
          String(decision.sequence),
          "  ".repeat(depth) + (decision.step ?? plan.description),
          toolOf(decision) ?? "-",
          isUndone(decision, state, undone) ? toned("undone", "warn") : decisionStateCell(state),
          decision.step === undefined ? "-" : String(changes),
          decision.id,
        ]),
        empty: "",
      },
    ],
    messages: info(
      rows.length === 0
        ? "Nothing was decided yet."
        : `${count(rows.length, "decision")}${discarded === 0 || superseded ? "" : `; ${discarded} superseded (--show-superseded)`}.`,
    ),
    next: [rows.length === 0 ? `agents plan execute ${plan.id}` : `agents plan explain ${plan.id} <step or id>`],
  };
}

interface TreeRow {
  readonly outcome: DecisionOutcome;
  readonly depth: number;
}

/** Each decision after the one it is part of, those of one parent in the order in which they were made. */
function* inTree(outcomes: readonly DecisionOutcome[], parent?: string, depth = 0): Generator<TreeRow> {
  for (const outcome of outcomes.filter(({ decision }) => decision.parent === parent)) {
    yield { outcome, depth };
    yield* inTree(outcomes, outcome.decision.id, depth + 1);
  }
}

/** Done in the plan, and taken out of the resources again. */
function isUndone({ step }: Decision, state: DecisionState, undone: ReadonlySet<string>): boolean {
  return state === "done" && step !== undefined && undone.has(step);
}

function node(
  outcome: DecisionOutcome,
  outcomes: readonly DecisionOutcome[],
  undone: ReadonlySet<string>,
): Record<string, unknown> {
  const { decision, state, changes } = outcome;
  const children = outcomes.filter((other) => other.decision.parent === decision.id);
  return {
    id: decision.id,
    sequence: decision.sequence,
    type: decision.type,
    description: decision.question,
    step: decision.step ?? null,
    tool: toolOf(decision) ?? null,
    state,
    undone: isUndone(decision, state, undone),
    changes,
    needs: decision.needs,
    superseded_by: decision.supersededBy ?? null,
    children: children.map((child) => node(child, outcomes, undone)),
  };
}

/** What a person can name the decision by. */
function label(decision: Decision): string {
  return decision.step ?? "root";
}

export function toolOf(decision: Decision): string | undefined {
  return decision.type === "strategy_choice" ? (decision.chosen as ChosenCall).tool : undefined;
}

const TONES = {
  decided: "dim",
  pending: "dim",
  running: "strong",
  interrupted: "warn",
  failed: "bad",
  done: "good",
  superseded: "dim",
} as const satisfies Record<DecisionState, Tone>;

export function decisionStateCell(state: DecisionState): Cell {
  return toned(state, TONES[state]);
}
