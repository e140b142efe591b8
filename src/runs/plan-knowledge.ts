import type { KnownDecision, PlanKnowledge } from "../context/model/context-model.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { JsonObject, JsonValue } from "../domain/values/json.ts";
import { decisionOutcomes, type DecisionOutcome } from "../changes/decision-outcomes.ts";
import type { HistoryAnswer, HistoryQuestion } from "../execution/tools/context-port.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { findStepRecords } from "../ledger/steps.ts";
import type { Store } from "../store/port.ts";

/** A plan's knowledge of itself: its goal, its decisions and their outcomes, its changes. */
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
export async function planHistory(store: Store, plan: Plan, question: HistoryQuestion): Promise<HistoryAnswer> {
  const words = question.query.toLowerCase().split(/\s+/).filter(Boolean);
  const found: JsonObject[] = [];
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
  const records = await store.read((reader) => findStepRecords(reader, plan));
  return records.reduce((sum, record) => {
    // A model is shown a context when it is asked, and asks for more with a tool.
    if (record.kind !== "context" && record.kind !== "tool_call") return sum;
    const { context_hash: hash, tokens } = (record.output ?? {}) as { context_hash?: unknown; tokens?: unknown };
    return typeof hash === "string" && typeof tokens === "number" ? sum + tokens : sum;
  }, 0);
}
