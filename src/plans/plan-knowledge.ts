import type { KnownDecision, PlanKnowledge } from "../context/model.ts";
import type { Plan } from "../domain/plan.ts";
import type { JsonValue } from "../domain/json.ts";
import { decisionOutcomes, type DecisionOutcome } from "../execution/decision-outcomes.ts";
import type { HistoryQuestion } from "../execution/context-port.ts";
import { planChanges } from "../execution/step-runner.ts";
import type { Store } from "../store/store.ts";

/** What a plan knows of itself: its goal, what was decided and what became of it, what it changed. */
export async function planKnowledge(store: Store, plan: Plan): Promise<PlanKnowledge> {
  const outcomes = await store.read((reader) => decisionOutcomes(reader, plan.id, plan.attempt, { superseded: false }));
  const changes = await planChanges(store, plan.id, plan.attempt);
  const paths = changes.flatMap(({ resource, path, fromPath }) =>
    [path, fromPath].flatMap((one) => (one === undefined ? [] : [`${resource}:${one}`])),
  );
  return {
    planId: plan.id,
    goal: `${plan.description}\n${plan.definitionOfDone}`,
    decisions: outcomes.map(known),
    changedPaths: [...new Set(paths.toReversed())],
  };
}

/** An answer may be the whole content of a file: what it is about is said at its beginning. */
const LONGEST_ANSWER = 2_000;

function known({ decision, state, changes }: DecisionOutcome): KnownDecision {
  const { id, type, question, chosen } = decision;
  const changed = changes === 0 ? "" : `, ${changes} changes`;
  return { id, type, question, answer: answerText(chosen), outcome: `${state}${changed}` };
}

function answerText(chosen: JsonValue): string {
  const text = typeof chosen === "string" ? chosen : JSON.stringify(chosen);
  return text.length > LONGEST_ANSWER ? `${text.slice(0, LONGEST_ANSWER).toWellFormed()}…` : text;
}

/** The decisions of all attempts that hold every word of the query, the newest first; also those that count no more. */
export async function planHistory(store: Store, plan: Plan, question: HistoryQuestion): Promise<JsonValue> {
  const words = question.query.toLowerCase().split(/\s+/).filter(Boolean);
  const found: JsonValue[] = [];
  let matching = 0;
  for (let attempt = plan.attempt; attempt >= 1; attempt -= 1) {
    const outcomes = await store.read((reader) => decisionOutcomes(reader, plan.id, attempt, { superseded: true }));
    for (const outcome of outcomes.toReversed()) {
      const { decision, state, changes, calls } = outcome;
      const text = JSON.stringify([decision.step, decision.question, decision.chosen]).toLowerCase();
      if (question.type !== undefined && decision.type !== question.type) continue;
      if (!words.every((word) => text.includes(word))) continue;
      matching += 1;
      if (found.length >= question.limit) continue;
      found.push({
        id: decision.id,
        attempt,
        type: decision.type,
        step: decision.step ?? null,
        question: decision.question,
        answer: answerText(decision.chosen),
        state,
        changes,
        error: calls.flatMap(({ end }) => (end?.outcome === "failed" ? [end.error] : [])).at(-1) ?? null,
      });
    }
  }
  return { decisions: found, matching, query: question.query };
}

/** Tokens of context that the steps of the plan's attempt were given so far. */
export async function contextTokensUsed(store: Store, plan: Plan): Promise<number> {
  const rows = await store.read((reader) =>
    reader.all<{ result: string }>(
      "SELECT result FROM steps WHERE plan_id = ? AND phase = 'execute' AND attempt = ? AND result LIKE '%context_hash%'",
      plan.id,
      plan.attempt,
    ),
  );
  return rows.reduce((sum, { result }) => {
    const { output } = JSON.parse(result) as { output?: { context_hash?: unknown; tokens?: unknown } | string | null };
    if (typeof output !== "object" || output === null || typeof output.context_hash !== "string") return sum;
    return sum + (typeof output.tokens === "number" ? output.tokens : 0);
  }, 0);
}
