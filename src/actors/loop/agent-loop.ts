/**
 * The conversation between a model and its tools, the same for deciding and for working: ask, do what the answer asks
 * for, show what came of it, ask again. Everything that happens goes through the effects and is a durable step there,
 * so this is a plain loop: run again after a crash it takes the same way, without asking or doing anything twice.
 */
import type { DecisionType } from "../../domain/plan/decision.ts";
import type { ActorMemory } from "../../domain/actor/actor.ts";
import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { shown } from "../../domain/text/text.ts";
import type { ImageFacts } from "../../domain/values/image.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { leaveOutOldImages } from "../models/message-images.ts";
import {
  answerMessage,
  type ModelMessage,
  type ModelRef,
  type ModelSettings,
  type ModelTool,
  type ModelToolCall,
} from "../models/model.ts";
import type { AgentEffects, Asked, Told } from "./actor-effects.ts";
import { checklistSchema, isControlTool, UPDATE_CHECKLIST } from "./control-tools.ts";
import { Compaction, isTooLong } from "./compaction.ts";
import { openingAt, remembered } from "./memory.ts";
import { carriedOut, isTold, toldOutcome } from "./tool-turn.ts";

/** The parts of a conversation that stay the same through it. */
export interface Talk {
  readonly model: ModelRef;
  readonly settings: ModelSettings;
  /** The same bytes at every call, so that the provider can keep what it has read. */
  readonly system: string;
  /** Also those that cannot be used now. */
  readonly tools: readonly ModelTool[];
  readonly memory: ActorMemory;
  /** The message with the goal and the constraints, which always stays; the first one unless given. */
  readonly opening?: string | undefined;
  readonly responseSchema: JsonObject | undefined;
  /** Tokens that the model can read at most; undefined when that is not known. */
  readonly window: number | undefined;
  /** Counts tokens as the model's family does. */
  readonly count: (text: string) => number;
}

/** The answer to a control call: what the model is told, or the end of the conversation. */
export type ToolReply<T> =
  | { readonly end: T }
  | {
      readonly told: string;
      readonly failed?: boolean;
      /** Of a call that went well although its work did not, such as a command: how the work failed. */
      readonly failure?: string | undefined;
      /** Whether files are different since. */
      readonly changed?: boolean;
      readonly image?: ImageFacts | undefined;
    };

/** The answer to a question that the model handed on. */
export interface Explored {
  readonly reply: Exclude<ToolReply<never>, { end: never }>;
  /** How often a model was asked for it. */
  readonly calls: number;
}

export interface Course<T> {
  readonly talk: Talk;
  /** The conversation so far; the last message is what the model answers first. */
  readonly messages: readonly ModelMessage[];
  /** Calls of the model before a person should look at it. */
  readonly limit: number;
  /** The name of the course in messages: `The step "fix"`. */
  readonly name: string;
  /** The decision that the answers belong to. */
  readonly parent: DecisionId;
  readonly typeOf: (answer: Told, recovers: boolean) => DecisionType;
  /** As which decision the handover of a long conversation is recorded. */
  readonly handoverType: DecisionType;
  readonly questionAt: (turn: number, recovers: boolean) => string;
  /** Answers a control call that was made alone. */
  readonly control: (
    call: ModelToolCall,
    at: { readonly key: string; readonly decision: DecisionId },
  ) => Promise<ToolReply<T>>;
  /** The meaning of an answer without tool calls; `acted` when tools were called before. */
  readonly said: (
    answer: Told,
    at: { readonly key: string; readonly decision: DecisionId; readonly acted: boolean },
  ) => Promise<ToolReply<T>>;
  /** Why a tool cannot be called at the moment; undefined when it can. */
  readonly refused: (tool: string) => string | undefined;
  /** The same call that fails in the same way so often is the end. */
  readonly sameFailures: number;
  /** For conversations that may hand questions on: the answers, by the position of the call. */
  readonly explore?: (
    calls: readonly ModelToolCall[],
    at: { readonly key: string; readonly decision: DecisionId },
  ) => Promise<ReadonlyMap<number, Explored>>;
  /** Told of each question to the model, recorded ones included. */
  readonly asked?: () => void;
  /** Told of each call and its outcome. */
  readonly watch?: (call: ModelToolCall, outcome: { readonly ok: boolean; readonly changed: boolean }) => void;
}

/** So many calls before the limit, the model is told of it. */
const WARNED_BEFORE = 5;

export async function converse<T>(course: Course<T>, effects: AgentEffects): Promise<T> {
  const { talk, parent } = course;
  const messages = [...course.messages];
  const compaction = new Compaction(talk, { type: course.handoverType, parent }, effects);
  const failures = new Failures(course.sameFailures);
  let [acted, failed] = [false, false];
  // Questions of explorers count like those of the conversation itself.
  let others = 0;
  let warned = false;
  for (let turn = 1; turn + others <= course.limit; turn += 1) {
    const key = String(turn);
    for (const text of await effects.hear(key)) messages.push({ role: "user", content: text });
    if (!warned && turn > 1 && turn + others > course.limit - WARNED_BEFORE && course.limit > WARNED_BEFORE) {
      warned = true;
      messages.push(limitNote());
    }
    await compaction.before(turn, messages);
    const recovers = failed;
    const about = {
      type: (told: Told): DecisionType => course.typeOf(told, recovers),
      question: course.questionAt(turn, recovers),
      parent,
    };
    const { answer, decision } = await asked(key, messages, { talk, compaction, effects, turn, about });
    course.asked?.();
    const spoken = answer.text !== "" || answer.toolCalls.length > 0;
    if (spoken) messages.push(answerMessage(answer));
    if (answer.toolCalls.length === 0) {
      const reply = await course.said(answer, { key, decision, acted });
      if ("end" in reply) return reply.end;
      messages.push({ role: "user", content: reply.told });
      continue;
    }
    failed = false;
    const images: ImageFacts[] = [];
    // The last call of an answer that was cut off is not whole.
    const whole = answer.finish === "length" ? answer.toolCalls.slice(0, -1) : answer.toolCalls;
    const found = (await course.explore?.(whole, { key, decision })) ?? new Map<number, Explored>();
    others += [...found.values()].reduce((sum, { calls }) => sum + calls, 0);
    for (const [index, call] of answer.toolCalls.entries()) {
      const at = { key: `${key}.${index + 1}`, decision };
      const alone = answer.toolCalls.length === 1;
      const outcome =
        found.get(index)?.reply ?? (await oneCall(call, { course, effects, at, alone, answer, messages }));
      if ("end" in outcome) return outcome.end;
      acted = true;
      const { told: output, failed: wrong = false, changed = false, image } = outcome;
      if (image !== undefined) images.push(image);
      failed ||= wrong;
      course.watch?.(call, { ok: !wrong, changed });
      messages.push({ role: "tool", callId: call.id, tool: call.tool, output, failed: wrong });
      const repeated = failures.repeatedBy(call, outcome);
      if (repeated !== undefined) throw repeatingError(course, call, repeated);
    }
    if (images.length > 0) showImages(messages, images);
  }
  throw new StuckError(`${course.name} is not done after ${course.limit} calls of ${modelName(talk.model)}.`, {
    detail: { calls: course.limit },
  });
}

/** A conversation that the endpoint refuses as too long is made shorter, until it is taken or nothing is left. */
async function asked(
  key: string,
  messages: ModelMessage[],
  parts: {
    readonly talk: Talk;
    readonly compaction: Compaction;
    readonly effects: AgentEffects;
    readonly turn: number;
    readonly about: Parameters<AgentEffects["ask"]>[2];
  },
): Promise<{ readonly answer: Told; readonly decision: DecisionId }> {
  const { talk, compaction, effects, turn, about } = parts;
  const call = (): Asked => ({
    model: talk.model,
    system: talk.system,
    // A copy: the conversation grows while this is being recorded.
    messages: [...remembered(messages, talk.memory, talk.count, openingAt(messages, talk.opening))],
    tools: talk.tools,
    settings: talk.settings,
    ...(talk.responseSchema === undefined ? {} : { responseSchema: talk.responseSchema }),
  });
  for (;;) {
    try {
      return await effects.ask(key, call(), about);
    } catch (error) {
      if (!isTooLong(error) || !(await compaction.refused(turn, messages))) throw error;
    }
  }
}

async function oneCall<T>(
  call: ModelToolCall,
  parts: {
    readonly course: Course<T>;
    readonly effects: AgentEffects;
    readonly at: { readonly key: string; readonly decision: DecisionId };
    readonly alone: boolean;
    readonly answer: Told;
    readonly messages: readonly ModelMessage[];
  },
): Promise<ToolReply<T>> {
  const { course, effects, at, alone, answer, messages } = parts;
  if (call.tool === UPDATE_CHECKLIST) return checklist(call, effects);
  if (isControlTool(call.tool)) {
    if (alone) return course.control(call, at);
    return { told: `Call ${call.tool} alone, after you have seen the results of your other calls.`, failed: true };
  }
  const refusal = course.refused(call.tool);
  if (refusal !== undefined) return { told: refusal, failed: true };
  const outcome = await carriedOut(call, answer, course.talk.tools, (params) =>
    effects.callTool(at.key, {
      tool: call.tool,
      params,
      decision: at.decision,
      forModel: true,
      knows: (instructions) => isTold(instructions, messages),
    }),
  );
  const told = toldOutcome(outcome);
  if (!outcome.ok) return { told, failed: true };
  return { told, failure: outcome.failure, changed: outcome.changed === true, image: outcome.image };
}

/** After the results of all calls: on most wires a result itself cannot hold an image. */
function showImages(messages: ModelMessage[], images: readonly ImageFacts[]): void {
  messages.push({ role: "user", content: `From your calls: ${images.map(({ name }) => name).join(", ")}`, images });
  leaveOutOldImages(messages);
}

function checklist<T>(call: ModelToolCall, effects: AgentEffects): ToolReply<T> {
  const parsed = checklistSchema.safeParse(call.params);
  if (!parsed.success) return { told: `The checklist does not fit: ${parsed.error.issues[0]?.message}`, failed: true };
  effects.showChecklist(parsed.data.items);
  return { told: "The user sees it." };
}

function limitNote(): ModelMessage {
  return {
    role: "user",
    content: `Note: you have at most ${WARNED_BEFORE} calls left. Bring the work to a state that can stay, and end it.`,
  };
}

/** The same call that fails in the same way again and again leads nowhere. */
class Failures {
  readonly #limit: number;
  /** Calls that failed themselves, and those whose work did, such as commands. */
  readonly #calls = new Map<string, number>();
  readonly #work = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The failure, when it has come too often. */
  repeatedBy({ tool, raw }: ModelToolCall, outcome: Exclude<ToolReply<never>, { end: never }>): string | undefined {
    const { told, failed = false, failure: ofWork, changed = false } = outcome;
    // A command that failed may well do better once files have changed.
    if (changed) this.#work.clear();
    const [seen, failure] = failed ? [this.#calls, told] : [this.#work, ofWork];
    if (failure === undefined) return undefined;
    const key = JSON.stringify([tool, raw, failure]);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times >= this.#limit ? failure : undefined;
  }
}

function repeatingError<T>({ name, talk }: Course<T>, { tool }: ModelToolCall, error: string): StuckError {
  const message = `${modelName(talk.model)} keeps calling ${shown(tool)} in the same way, and it keeps failing: ${error}`;
  return new StuckError(`${name}: ${message}`, { detail: { tool, error } });
}

export function modelName({ provider, model }: ModelRef): string {
  return `${provider}/${model}`;
}
