/** The decisions of one attempt at a plan, as a tree, with their outcomes. */
import * as z from "zod";
import { findUndoneSteps } from "../../ledger/journal.ts";
import type { ChosenWork, Decision } from "../../domain/plan/decision.ts";
import type { ChangesetId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isCall } from "../../changes/decided-steps.ts";
import { decisionOutcomes, type DecisionOutcome } from "../../changes/decision-outcomes.ts";
import { stepRecords } from "../../changes/plan-changes.ts";
import type { App } from "../base/app.ts";

export const DECISION_STATES = [
  "decided",
  "pending",
  "running",
  "interrupted",
  "failed",
  "done",
  "superseded",
] as const;

const NodeFacts = z.strictObject({
  id: z.string(),
  sequence: z.int(),
  type: z.string(),
  description: z.string(),
  step: z.string().nullable(),
  tool: z.string().nullable(),
  title: z.string(),
  confidence: z.number().nullable(),
  rationale: z.string().nullable(),
  alternatives: z.array(z.string()).readonly(),
  /** Of a step that a model carries out. */
  work: z
    .strictObject({
      description: z.string(),
      complexity: z.string(),
      risk: z.number().nullable(),
      /** The actor that the strategist gave it to; null for the plan's execution actor. */
      actor: z.string().nullable(),
    })
    .nullable(),
  state: z.enum(DECISION_STATES),
  undone: z.boolean(),
  changes: z.int(),
  needs: z.array(z.string()).readonly(),
  supersededBy: z.string().nullable(),
});

export type DecisionNode = z.output<typeof NodeFacts> & { readonly children: readonly DecisionNode[] };

export const DecisionNode: z.ZodType<DecisionNode> = NodeFacts.extend({
  get children() {
    return z.array(DecisionNode).readonly();
  },
});

export const DecisionTree = z.strictObject({
  planId: z.string(),
  attempt: z.int(),
  tree: DecisionNode.nullable(),
  undoneSteps: z.array(z.string()),
  summary: z.strictObject({
    nodes: z.int(),
    depth: z.int(),
    superseded: z.int(),
  }),
  /** The ids by which a person can name the decisions. */
  decisionIds: z.record(z.string(), z.string()),
});

export async function decisionTree(
  app: App,
  plan: Plan,
  options: {
    readonly superseded?: boolean;
    readonly depth?: number | undefined;
    /** The present one unless given. */
    readonly attempt?: number;
  },
): Promise<z.output<typeof DecisionTree>> {
  const store = await app.store();
  const { attempt = plan.attempt } = options;
  const { all, records, undone } = await store.read(async (reader) => ({
    all: await decisionOutcomes(reader, plan.id, attempt, { superseded: true }),
    records: await stepRecords(reader, plan.id, attempt),
    undone: await findUndoneSteps(reader, plan.id),
  }));
  const outcomes = all.filter(({ state }) => options.superseded === true || state !== "superseded");
  const undoneNames = new Set(undone);
  const out = new Set(records.filter(({ id }) => undoneNames.has(id)).map(({ changeset }) => changeset));
  const everything = [...inTree(outcomes)];
  const depth = options.depth ?? Number.POSITIVE_INFINITY;
  const shown = everything.filter((row) => row.depth <= depth).map(({ outcome }) => outcome);
  const [root] = shown;
  return {
    planId: plan.id,
    attempt,
    tree: root === undefined ? null : node(root, shown, out),
    undoneSteps: undone,
    summary: {
      nodes: everything.length,
      depth: Math.max(0, ...everything.map((row) => row.depth)),
      superseded: all.filter(({ state }) => state === "superseded").length,
    },
    decisionIds: decisionIds(outcomes),
  };
}

/** Each decision after the one it is part of, those of one parent in the order in which they were made. */
function* inTree(
  outcomes: readonly DecisionOutcome[],
  parent?: string,
  depth = 0,
): Generator<{ readonly outcome: DecisionOutcome; readonly depth: number }> {
  for (const outcome of outcomes.filter(({ decision }) => decision.parent === parent)) {
    yield { outcome, depth };
    yield* inTree(outcomes, outcome.decision.id, depth + 1);
  }
}

/** Done in the plan, and its changes were undone in the resources with everything that relied on them. */
function isUndone({ state, recorded }: DecisionOutcome, out: ReadonlySet<ChangesetId>): boolean {
  return state === "done" && recorded.size > 0 && [...recorded].every((changeset) => out.has(changeset));
}

function node(
  outcome: DecisionOutcome,
  outcomes: readonly DecisionOutcome[],
  out: ReadonlySet<ChangesetId>,
): DecisionNode {
  const { decision, state, changes } = outcome;
  const { thought } = decision;
  const children = outcomes.filter((other) => other.decision.parent === decision.id);
  return {
    id: decision.id,
    sequence: decision.sequence,
    type: decision.type,
    description: decision.question,
    step: decision.step ?? null,
    tool: toolOf(decision) ?? null,
    title: titleOf(decision),
    confidence: thought.confidence ?? null,
    rationale: thought.rationale ?? null,
    alternatives: thought.alternatives ?? [],
    work: workOf(decision),
    state,
    undone: isUndone(outcome, out),
    changes,
    needs: decision.needs,
    supersededBy: decision.supersededBy ?? null,
    children: children.map((child) => node(child, outcomes, out)),
  };
}

/**
 * Their step, "root", "strategy" for the answer the steps came from, else the step and a number; below an answer its
 * name, a slash and a number.
 */
function decisionIds(outcomes: readonly DecisionOutcome[]): Record<string, string> {
  const counting = outcomes.filter(({ state }) => state !== "superseded").map(({ decision }) => decision);
  const byId = new Map(counting.map((decision) => [decision.id, decision]));
  const numbers = new Map<string, number>();
  const names = new Map<string, string>();
  const next = (above: string): number => {
    const number = (numbers.get(above) ?? 0) + 1;
    numbers.set(above, number);
    return number;
  };
  const nameOf = ({ step, parent, phase }: Decision): string => {
    if (step !== undefined || parent === undefined) return step ?? "root";
    const above = byId.get(parent);
    // An answer to a question that another answer handed on.
    const asker = above?.step === undefined && above?.parent !== undefined ? names.get(above.id) : undefined;
    if (asker !== undefined) return `${asker}/${next(`${asker}/`)}`;
    const place = above?.step ?? (phase === "strategize" ? "strategy" : "root");
    const number = next(place);
    return place === "strategy" && number === 1 ? place : `${place}.${number}`;
  };
  return Object.fromEntries(
    counting.map((decision) => {
      const name = nameOf(decision);
      names.set(decision.id, name);
      return [name, decision.id];
    }),
  );
}

/** In a line what was decided. */
function titleOf({ step, chosen, thought, question }: Decision): string {
  const { description } = (typeof chosen === "object" && chosen !== null ? chosen : {}) as { description?: unknown };
  if (step !== undefined) return typeof description === "string" ? `${step}: ${firstLine(description)}` : step;
  return firstLine(thought.rationale ?? callsText(chosen) ?? question);
}

/** A model that calls tools without a word of its own: each tool with the thing it is mainly about. */
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

function workOf({ type, step, chosen }: Decision): DecisionNode["work"] {
  if (type !== "strategy_choice" || step === undefined || isCall(chosen)) return null;
  const { description, complexity, risk, actor = null } = chosen as ChosenWork;
  return { description, complexity, risk, actor };
}

/** The tools that are called for it. */
function toolOf({ chosen }: Pick<Decision, "chosen">): string | undefined {
  if (isCall(chosen)) return chosen.tool;
  const { calls } = (typeof chosen === "object" && chosen !== null ? chosen : {}) as { calls?: { tool: string }[] };
  return calls?.map(({ tool }) => tool).join(", ");
}
