/**
 * The conversation of a plan's model, as far as it is recorded. Every answer has a snapshot of exactly what the model
 * was shown, so the conversation is never stored apart: it is the last snapshot and the answer to it. A later step, a
 * later process and a later version continue with the same bytes, which is also why a provider that keeps what it has
 * read need not read it again.
 */
import { answerMessage, type ModelMessage, type ModelRef } from "../actors/models/model.ts";
import { decisionWaves } from "../changes/decided-steps.ts";
import { placedRecords, planStepOf } from "../changes/step-records.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import { findDecision, findDecisions } from "../ledger/decisions.ts";
import type { StepRecord } from "../ledger/records.ts";
import { readContents } from "../store/contents/contents.ts";
import type { Reader, Store } from "../store/port.ts";
import { isAside } from "./aside-effects.ts";
import { readSnapshot } from "./prompt-snapshot.ts";
import { readAnswer, type StoredAnswer } from "./stored-answer.ts";

export interface Conversation {
  readonly model: ModelRef;
  readonly system: string;
  /** Ends with the model's last answer, and the results of its calls. */
  readonly messages: readonly ModelMessage[];
}

type AnswerRecord = Extract<StepRecord, { kind: "answer" }>;

/**
 * The conversation that the step continues: the latest one of the plan, as long as the work so far is one chain. Steps
 * that run side by side have one each, and none of them is continued.
 */
export async function conversationBefore(store: Store, plan: Plan, step: string): Promise<Conversation | undefined> {
  const last = await store.read(async (reader) => {
    const waves = decisionWaves(await findDecisions(reader, plan.id, plan.attempt));
    const own = waves.find((wave) => wave.some((decision) => decision.step === step));
    if (own !== undefined && own.length > 1) return undefined;
    const before = await lastAnswer(reader, plan, "execute", (name) => name !== step);
    if (before === undefined) return lastAnswer(reader, plan, "strategize", () => true);
    const name = planStepOf(before.id);
    const wave = waves.find((steps) => steps.some((decision) => decision.step === name));
    return wave !== undefined && wave.length > 1 ? undefined : before;
  });
  if (last === undefined) return undefined;
  const decision = await store.read((reader) => findDecision(reader, last.decision));
  const hash = decision?.thought.snapshot;
  if (hash === undefined) return undefined;
  for await (const [, bytes] of readContents(store, [hash])) return continued(bytes, last);
  return undefined;
}

async function lastAnswer(
  reader: Reader,
  plan: Plan,
  phase: Phase,
  wanted: (step: string) => boolean,
): Promise<AnswerRecord | undefined> {
  const records = await placedRecords(reader, plan.id, plan.attempt, phase);
  return records.findLast(
    (record): record is AnswerRecord =>
      record.kind === "answer" &&
      wanted(planStepOf(record.id)) &&
      !isAside(record.id.slice(record.id.indexOf("/") + 1)),
  );
}

/** The last answer ended a strategy or a step, and so has one control call at most. */
function continued(bytes: Uint8Array, record: AnswerRecord): Conversation {
  const { model, system, messages } = readSnapshot(bytes);
  const answer = readAnswer(record.answer as unknown as StoredAnswer);
  const results = answer.toolCalls.map(({ id, tool }): ModelMessage => {
    return { role: "tool", callId: id, tool, output: "Recorded.", failed: false };
  });
  return { model, system, messages: [...messages, answerMessage(answer), ...results] };
}
