/**
 * Keeps a long conversation within what its model can read. First old results of tools are left out, which costs
 * nothing; when that is not enough the model itself sums up what happened, in a durable step, and the conversation
 * continues with its beginning, the summary and its newest part. The beginning holds the goal and the constraints: it
 * is always kept word for word. In a session it is the beginning of the present plan.
 */
import { imageTokens } from "../../domain/values/image.ts";
import { withoutImages } from "../models/message-images.ts";
import { ModelError } from "../models/model-error.ts";
import type { ModelMessage } from "../models/model.ts";
import type { About, AgentEffects } from "./actor-effects.ts";
import type { Talk } from "./agent-loop.ts";
import { openingAt } from "./memory.ts";

/** Of the model's window: the rest is for its answer and for the next results. */
const FULL = 0.75;
/** Where the window is unknown: small enough for every model that calls tools well. */
const UNKNOWN_WINDOW = 120_000;
/** Tokens at the end of the conversation that stay as they are: results of tools, and everything. */
const RESULTS_KEPT = 40_000;
const NEWEST_KEPT = 20_000;
/** Of the window: a small one keeps less. */
const NEWEST_SHARE = 0.2;
/** Characters of the longest result that stays when the endpoint refuses the conversation, and refuses it again. */
const LONGEST_AFTER_REFUSAL = [16_000, 2_000] as const;

const HANDOVER = `Write a handover of this conversation for the colleague who continues it and sees nothing else of it:
- what is done, and which decisions were made for which reasons;
- what the user wants and every constraint that was named;
- what remains to be done, in order;
- facts that were hard to find: paths, names, commands, error messages, exact values;
- which files were read and which were changed.
Write facts, not praise. Do not call tools.`;

export class Compaction {
  readonly #talk: Talk;
  readonly #about: About;
  readonly #effects: AgentEffects;
  readonly #sizes = new WeakMap<ModelMessage, number>();
  /** Tokens of what every call has: the system prompt and the tools. */
  readonly #always: number;
  /** How often the endpoint refused the call of this turn. */
  #refusals = 0;

  constructor(talk: Talk, about: Pick<About, "type" | "parent">, effects: AgentEffects) {
    this.#talk = talk;
    this.#about = { ...about, question: "What must be known to continue?" };
    this.#effects = effects;
    this.#always = talk.count(talk.system) + talk.count(JSON.stringify(talk.tools));
  }

  /** Before a call: shortens the conversation if it is too long, or was shortened here in an earlier run. */
  async before(turn: number, messages: ModelMessage[]): Promise<void> {
    await this.#withinWindow(turn, messages);
    this.#refusals = 0;
    while (await this.#effects.isRecorded(refusalKey(turn, this.#refusals))) await this.#shorten(turn, messages);
  }

  /** After the endpoint refused the conversation as too long; false when nothing is left that could be left out. */
  async refused(turn: number, messages: ModelMessage[]): Promise<boolean> {
    while (this.#refusals < LONGEST_AFTER_REFUSAL.length) {
      const before = this.#sizeOf(messages);
      await this.#effects.once(refusalKey(turn, this.#refusals), async () => true);
      await this.#shorten(turn, messages);
      if (this.#sizeOf(messages) < before) return true;
    }
    return false;
  }

  async #withinWindow(turn: number, messages: ModelMessage[]): Promise<void> {
    const key = `compact-${turn}`;
    const limit = this.#window * FULL;
    // The window may be known better than in the run that summed up here.
    const did = await this.#effects.isRecorded(key);
    if (!did && this.#sizeOf(messages) <= limit) return;
    leaveOutOldResults(messages, (message) => this.#size(message));
    if (!did && this.#sizeOf(messages) <= limit) return;
    await this.#sumUp(key, messages);
  }

  /** First everything but the newest part is summed up; results that are long also leave the newest part. */
  async #shorten(turn: number, messages: ModelMessage[]): Promise<void> {
    const longest = LONGEST_AFTER_REFUSAL[this.#refusals] ?? 0;
    // The model can read less than it refused, no matter how large its window is said to be.
    const window = Math.min(this.#window, this.#sizeOf(messages));
    if (this.#refusals === 0) await this.#sumUp(`compact-${turn}-refused`, messages, window);
    for (const [index, message] of messages.entries()) messages[index] = withoutLongResult(message, longest);
    this.#refusals += 1;
  }

  async #sumUp(key: string, messages: ModelMessage[], window: number = this.#window): Promise<void> {
    const from = this.#newestFrom(messages, window);
    if (from <= 1) return;
    const told = messages.slice(0, from).map((message) => withoutLongResult(message, LONGEST_TOLD));
    // The newest part may have it: then it stays where it is.
    const opening = openingAt(messages, this.#talk.opening);
    const first = opening < from ? messages[opening] : undefined;
    const summary: ModelMessage = {
      role: "user",
      content: `The conversation so far became too long. This is its handover:\n\n${await this.#handover(key, told)}`,
    };
    messages.splice(0, from, ...(first === undefined ? [] : [first]), summary);
  }

  /** In the model's words; a conversation that is too long even for that is outlined by its calls. */
  async #handover(key: string, told: readonly ModelMessage[]): Promise<string> {
    const { model, system, settings, tools } = this.#talk;
    const messages: ModelMessage[] = [...told, { role: "user", content: HANDOVER }];
    try {
      const { answer } = await this.#effects.ask(key, { model, system, messages, tools, settings }, this.#about);
      return answer.text.trim() || outline(told);
    } catch (error) {
      if (isTooLong(error)) return outline(told);
      throw error;
    }
  }

  get #window(): number {
    return this.#talk.window ?? UNKNOWN_WINDOW;
  }

  /** Where the part begins that stays word for word: at an answer, so that no result is without its call. */
  #newestFrom(messages: readonly ModelMessage[], window: number): number {
    const kept = Math.min(NEWEST_KEPT, window * NEWEST_SHARE);
    let size = 0;
    let from = messages.length;
    for (let index = messages.length - 1; index > 0; index -= 1) {
      const message = messages[index];
      if (message === undefined) break;
      size += this.#size(message);
      if (size > kept && from < messages.length) break;
      if (message.role === "assistant") from = index;
    }
    return from;
  }

  #sizeOf(messages: readonly ModelMessage[]): number {
    return messages.reduce((sum, message) => sum + this.#size(message), this.#always);
  }

  #size(message: ModelMessage): number {
    const known = this.#sizes.get(message);
    if (known !== undefined) return known;
    const images = message.role === "user" ? (message.images ?? []) : [];
    const size = this.#talk.count(textOf(message)) + images.reduce((sum, image) => sum + imageTokens(image), 0);
    this.#sizes.set(message, size);
    return size;
  }
}

/** The conversation in short when the model wrote no handover: which calls it made. */
function outline(messages: readonly ModelMessage[]): string {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return calls.map(({ tool, raw }) => `- ${tool} ${raw.slice(0, 200)}`).join("\n");
}

function refusalKey(turn: number, refusals: number): string {
  return `refused-${turn}.${refusals + 1}`;
}

export function isTooLong(error: unknown): boolean {
  return error instanceof ModelError && error.kind === "context_too_long";
}

function textOf(message: ModelMessage): string {
  if (message.role === "user") return message.content;
  if (message.role === "assistant") return message.content + message.toolCalls.map(({ raw }) => raw).join("");
  return typeof message.output === "string" ? message.output : JSON.stringify(message.output);
}

function leaveOutOldResults(messages: ModelMessage[], sizeOf: (message: ModelMessage) => number): void {
  let size = 0;
  for (let index = messages.length - 1; index > 0; index -= 1) {
    const message = messages[index];
    if (message === undefined || (message.role !== "tool" && !hasImages(message))) continue;
    size += sizeOf(message);
    if (size > RESULTS_KEPT) messages[index] = leftOut(message);
  }
}

const SHORT_RESULT = 500;
/** Characters of the longest result that is told for a handover. */
const LONGEST_TOLD = 4_000;

function withoutLongResult(message: ModelMessage, longest: number): ModelMessage {
  const isLong = message.role === "tool" && textOf(message).length > longest;
  return isLong || hasImages(message) ? leftOut(message) : message;
}

function hasImages(message: ModelMessage): boolean {
  return message.role === "user" && message.images !== undefined;
}

function leftOut(message: ModelMessage): ModelMessage {
  if (message.role === "user") return withoutImages(message, "it was left out because the conversation became long");
  if (message.role === "assistant") return message;
  const text = textOf(message);
  if (text.length <= SHORT_RESULT) return message;
  const lines = text.split("\n").length;
  return {
    ...message,
    output: `[left out: ${lines} lines of an earlier result of ${message.tool}; ask for less at a time]`,
  };
}
