/** One plan of the inbox, closer: what its model said last, its steps, what runs now, and its cost against its cap. */
import * as z from "zod";
import { decisionOutcomes, type DecisionOutcome } from "../../changes/decision-outcomes.ts";
import { placedRecords } from "../../changes/step-records.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isRecoverable } from "../../domain/plan/transitions.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import { planSpending } from "../../ledger/budget-report.ts";
import { openQuestion } from "../../ledger/questions.ts";
import type { Caps } from "../../ledger/spending-caps.ts";
import { maskedFacts } from "../../platform/masking.ts";
import type { Reader } from "../../store/port.ts";
import { findFailures } from "../../store/tables/plans.ts";
import { SpendingFacts, spendingFacts } from "./spending.ts";

export const InboxDetails = z.strictObject({
  planId: z.string(),
  version: z.int(),
  request: z.string(),
  question: z.string().nullable(),
  alternatives: z.array(z.string()).readonly(),
  /** The last words of its model. */
  words: z.string().nullable(),
  /** Why it stopped; null unless it did. */
  failure: z.string().nullable(),
  steps: z.array(z.strictObject({ step: z.string(), description: z.string(), state: z.string() })),
  /** The tool calls that have not ended. */
  running: z.array(z.string()),
  cost: SpendingFacts,
});

export type InboxDetails = z.output<typeof InboxDetails>;

export async function inboxDetails(reader: Reader, plan: Plan, caps: Caps): Promise<InboxDetails> {
  const outcomes = await decisionOutcomes(reader, plan.id, plan.attempt, { superseded: false });
  const question = await openQuestion(reader, plan.id);
  const failure = isRecoverable(plan) ? (await findFailures(reader, plan.id)).at(-1)?.message : undefined;
  return maskedFacts({
    planId: plan.id,
    version: plan.version,
    request: plan.description,
    question: question?.question ?? null,
    alternatives: question?.alternatives ?? [],
    words: (await lastWords(reader, plan, outcomes)) ?? null,
    failure: failure ?? null,
    steps: outcomes.flatMap(stepOf),
    running: plan.state === "processing" ? [...new Set(outcomes.flatMap(runningCalls))] : [],
    cost: spendingFacts(await planSpending(reader, plan.id, caps)),
  });
}

/** While it works the reasons of its newest decision, afterwards what it said at the end of its last step. */
async function lastWords(
  reader: Reader,
  plan: Plan,
  outcomes: readonly DecisionOutcome[],
): Promise<string | undefined> {
  const reasons = outcomes.map(({ decision }) => decision.thought.reasoning?.trim() ?? "");
  const summaries = (await placedRecords(reader, plan.id, plan.attempt)).map((record) =>
    record.kind === "step_end" ? record.summary.trim() : "",
  );
  const last = (words: readonly string[]): string | undefined => words.findLast((text) => text !== "");
  return plan.state === "processing" ? (last(reasons) ?? last(summaries)) : (last(summaries) ?? last(reasons));
}

function stepOf({ decision, state }: DecisionOutcome): InboxDetails["steps"] {
  const { type, step, question, chosen } = decision;
  if (type !== "strategy_choice" || step === undefined) return [];
  const { description } = { description: undefined, ...fieldsOf(chosen) };
  return [{ step, description: typeof description === "string" ? description : question, state }];
}

function runningCalls({ state, calls }: DecisionOutcome): string[] {
  if (state !== "running") return [];
  return calls.filter(({ end }) => end === undefined).map(({ tool, params }) => `${tool}${targetOf(params)}`);
}

/** The file, or the command, that says more than the name of the tool. */
function targetOf(params: JsonValue): string {
  const { path, command } = { path: undefined, command: undefined, ...fieldsOf(params) };
  const target: unknown = path ?? command;
  return typeof target === "string" ? ` ${target}` : "";
}

function fieldsOf(value: JsonValue): object {
  return typeof value === "object" && value !== null ? value : {};
}
