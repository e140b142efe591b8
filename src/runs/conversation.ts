/**
 * The conversation of a plan's model, as far as it is recorded. Every answer has a snapshot of exactly what the model
 * was shown, so the conversation is never stored apart: it is the last snapshot and the answer to it. A later step, a
 * later process and a later version continue with the same bytes, which is also why a provider that keeps what it has
 * read need not read it again.
 */
import { ASK_USER, isControlTool } from "../actors/loop/control-tools.ts";
import { answerMessage, type ModelMessage, type ModelRef, type ModelToolCall } from "../actors/models/model.ts";
import { decisionWaves } from "../changes/decided-steps.ts";
import { placedRecords, planStepOf } from "../changes/step-records.ts";
import type { DecisionId, PlanId } from "../domain/names/ids.ts";
import type { ChosenWork } from "../domain/plan/decision.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import { findDecision, findDecisions } from "../ledger/decisions.ts";
import type { StepRecord } from "../ledger/records.ts";
import { findAnswer } from "../ledger/steps.ts";
import { readContents } from "../store/contents/contents.ts";
import type { Reader, Store } from "../store/port.ts";
import { isAside } from "./aside-effects.ts";
import { readSnapshot } from "./prompt-snapshot.ts";
import { readAnswer, type StoredAnswer } from "./answers/stored-answer.ts";

export interface Conversation {
  readonly model: ModelRef;
  /** The actor that led it: of the step it was about, or the strategist. */
  readonly actor: string | undefined;
  readonly system: string;
  /** Ends with the model's last answer, and the results of its calls. */
  readonly messages: readonly ModelMessage[];
}

type AnswerRecord = Extract<StepRecord, { kind: "answer" }>;

/** Where a conversation ends: at an answer of a plan's model. */
export type ConversationEnd = { readonly plan: PlanId; readonly answer: DecisionId };

/**
 * The conversation that the step continues: the latest one of the plan, as long as the work so far is one chain. Steps
 * that run side by side have one each, and none of them is continued.
 */
export async function conversationBefore(store: Store, plan: Plan, step: string): Promise<Conversation | undefined> {
  const found = await store.read(async (reader) => {
    const waves = decisionWaves(await findDecisions(reader, plan.id, plan.attempt));
    const own = waves.find((wave) => wave.some((decision) => decision.step === step));
    return own !== undefined && own.length > 1 ? undefined : lastOfChain(reader, plan, (name) => name !== step);
  });
  const conversation = found === undefined ? undefined : await continued(store, found.last);
  return conversation === undefined ? undefined : { ...conversation, actor: found?.actor };
}

/** Where the plan's conversation ends; undefined when no model was asked, or several side by side at last. */
export async function conversationEnd(reader: Reader, plan: Plan): Promise<ConversationEnd | undefined> {
  const found = await lastOfChain(reader, plan, () => true);
  return found === undefined ? undefined : { plan: plan.id, answer: found.last.decision };
}

/** The conversation up to there, also where the answer counts no more since. */
export async function conversationUpTo(
  store: Store,
  end: ConversationEnd,
): Promise<Omit<Conversation, "actor"> | undefined> {
  const last = await store.read((reader) => findAnswer(reader, end.plan, end.answer));
  return last === undefined ? undefined : continued(store, last);
}

/** The last answer, and the actor that gave it. */
async function lastOfChain(
  reader: Reader,
  plan: Plan,
  wanted: (step: string) => boolean,
): Promise<{ readonly last: AnswerRecord; readonly actor: string | undefined } | undefined> {
  const last = await lastAnswer(reader, plan, "execute", wanted);
  if (last === undefined) {
    const strategy = await lastAnswer(reader, plan, "strategize", () => true);
    const actor = plan.actors.strategy ?? plan.actors.execution;
    return strategy === undefined ? undefined : { last: strategy, actor };
  }
  const name = planStepOf(last.id);
  const waves = decisionWaves(await findDecisions(reader, plan.id, plan.attempt));
  const wave = waves.find((steps) => steps.some((decision) => decision.step === name));
  if (wave !== undefined && wave.length > 1) return undefined;
  const work = wave?.find((one) => one.step === name)?.chosen as Partial<ChosenWork> | undefined;
  return { last, actor: work?.actor ?? plan.actors.execution };
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
      // The conversation of an outside agent is its own.
      record.wire === undefined &&
      wanted(planStepOf(record.id)) &&
      !isAside(record.id.slice(record.id.indexOf("/") + 1)),
  );
}

async function continued(store: Store, record: AnswerRecord): Promise<Omit<Conversation, "actor"> | undefined> {
  const decision = await store.read((reader) => findDecision(reader, record.decision));
  const hash = decision?.thought.snapshot;
  if (hash === undefined) return undefined;
  for await (const [, bytes] of readContents(store, [hash])) {
    const { model, system, messages } = readSnapshot(bytes);
    const answer = readAnswer(record.answer as unknown as StoredAnswer);
    return { model, system, messages: [...messages, answerMessage(answer), ...answer.toolCalls.map(resultOf)] };
  }
  return undefined;
}

/** An answer that ended a strategy or a step has one control call at most; other calls are from a plan that stopped. */
function resultOf({ id, tool }: ModelToolCall): ModelMessage {
  const ended = isControlTool(tool) && tool !== ASK_USER;
  const output = ended ? "Recorded." : "The plan ended here; the effects of this call are not in the files.";
  return { role: "tool", callId: id, tool, output, failed: !ended };
}
