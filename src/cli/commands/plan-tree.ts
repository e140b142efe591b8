import type { Decision } from "../../domain/decision.ts";
import { UsageError } from "../../domain/errors.ts";
import type { ChangesetId } from "../../domain/ids.ts";
import { stepRecords } from "../../execution/step-runner.ts";
import { isCall } from "../../execution/decided-steps.ts";
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
  const { all, records } = await (
    await context.store()
  ).read(async (reader) => ({
    all: await decisionOutcomes(reader, plan.id, plan.attempt, { superseded: true }),
    records: await stepRecords(reader, plan.id, plan.attempt),
  }));
  const depth = depthOf(input);
  const outcomes = all.filter(({ state }) => superseded || state !== "superseded");
  const undone = new Set(await readUndoneSteps(context, plan));
  const out = new Set(records.filter(({ id }) => undone.has(id)).map(({ changeset }) => changeset));
  const everything = [...inTree(outcomes)];
  const rows = everything.filter((row) => row.depth <= depth);
  const [root] = rows;
  const discarded = all.filter(({ state }) => state === "superseded").length;
  const summary = {
    nodes: everything.length,
    depth: Math.max(0, ...everything.map((row) => row.depth)),
    child_plans: 0,
    invariants: outcomes.filter(({ decision }) => decision.type === "invariant_enforced").length,
    superseded: discarded,
  };
  return {
    data: {
      plan_id: plan.id,
      attempt: plan.attempt,
      tree:
        root === undefined
          ? null
          : node(
              root.outcome,
              rows.map(({ outcome }) => outcome),
              out,
            ),
      undone_steps: [...undone],
      summary,
      child_plans: [],
      decision_ids: decisionIds(outcomes),
    },
    view: [
      {
        kind: "table",
        title: `Decisions of plan ${plan.id}`,
        columns: ["#", "Decision", "Tool", { keep: "State" }, "Changes", { keep: "Id" }],
        rows: rows.map(({ outcome, outcome: { decision, state, changes }, depth }) => [
          String(decision.sequence),
          "  ".repeat(depth) + (decision.parent === undefined ? plan.description : titleOf(decision)),
          toolOf(decision) ?? "-",
          isUndone(outcome, out) ? toned("undone", "warn") : decisionStateCell(state),
          decision.step === undefined && changes === 0 ? "-" : String(changes),
          decision.id,
        ]),
        empty: "",
      },
    ],
    messages: info(
      rows.length === 0
        ? "Nothing was decided yet."
        : `${count(everything.length, "decision")}${discarded === 0 || superseded ? "" : `; ${discarded} superseded (--show-superseded)`}.`,
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

/** Done in the plan, and taken out of the resources again with all that was done for it. */
function isUndone({ state, recorded }: DecisionOutcome, out: ReadonlySet<ChangesetId>): boolean {
  return state === "done" && recorded.size > 0 && [...recorded].every((changeset) => out.has(changeset));
}

function node(
  outcome: DecisionOutcome,
  outcomes: readonly DecisionOutcome[],
  out: ReadonlySet<ChangesetId>,
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
    title: titleOf(decision),
    confidence: decision.thought.confidence ?? null,
    rationale: decision.thought.rationale ?? null,
    state,
    undone: isUndone(outcome, out),
    changes,
    needs: decision.needs,
    superseded_by: decision.supersededBy ?? null,
    children: children.map((child) => node(child, outcomes, out)),
  };
}

/** What a person can name the decisions by: their step, "root", "strategy" for the answer the steps came from, else the step and a number. */
function decisionIds(outcomes: readonly DecisionOutcome[]): Record<string, string> {
  const counting = outcomes.filter(({ state }) => state !== "superseded").map(({ decision }) => decision);
  const byId = new Map(counting.map((decision) => [decision.id, decision]));
  const numbers = new Map<string, number>();
  return Object.fromEntries(
    counting.map((decision) => {
      const { id, step, parent, phase } = decision;
      if (step !== undefined || parent === undefined) return [step ?? "root", id];
      const above = byId.get(parent)?.step ?? (phase === "strategize" ? "strategy" : "root");
      const number = (numbers.get(above) ?? 0) + 1;
      numbers.set(above, number);
      return [above === "strategy" && number === 1 ? above : `${above}.${number}`, id];
    }),
  );
}

/** In a line what was decided. */
function titleOf({ step, chosen, thought, question }: Decision): string {
  const { description } = (typeof chosen === "object" && chosen !== null ? chosen : {}) as { description?: unknown };
  if (step !== undefined) return typeof description === "string" ? `${step}: ${firstLine(description)}` : step;
  return firstLine(thought.rationale ?? callsText(chosen) ?? question);
}

/** What a model asked for without a word: each tool with what it is mainly about. */
function callsText(chosen: Decision["chosen"]): string | undefined {
  const { calls } = (typeof chosen === "object" && chosen !== null ? chosen : {}) as {
    calls?: { tool: string; params: unknown }[];
  };
  return calls
    ?.map(({ tool, params }) => {
      const [about] = typeof params === "object" && params !== null ? Object.values(params) : [];
      return typeof about === "string" ? `${tool} ${about.split("\n", 1)[0] ?? ""}` : tool;
    })
    .join(", ");
}

function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > 100 ? `${line.slice(0, 99).toWellFormed()}…` : line;
}

/** The tools that are called for it. */
export function toolOf({ chosen }: Decision): string | undefined {
  if (isCall(chosen)) return chosen.tool;
  const { calls } = (typeof chosen === "object" && chosen !== null ? chosen : {}) as { calls?: { tool: string }[] };
  return calls?.map(({ tool }) => tool).join(", ");
}

function depthOf(input: Input): number {
  const text = input.text("depth");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError(`--depth must be a whole number from 0, not "${text}".`, { kept: "Nothing was changed." });
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
