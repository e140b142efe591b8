/**
 * Keeps a long conversation within what its model can read. First old results of tools are left out, which costs
 * nothing; when that is not enough the model itself sums up what happened, in a durable step, and the conversation
 * continues with its beginning, the summary and its newest part. The beginning holds the goal and the constraints: it
 * is always kept word for word.
 */
import { imageTokens } from "../../domain/values/image.ts";
import { withoutImages } from "../models/message-images.ts";
import type { ModelMessage } from "../models/model.ts";
import type { About, AgentEffects } from "./actor-effects.ts";
import type { Talk } from "./agent-loop.ts";

/** Of the model's window: the rest is for its answer and for the next results. */
const FULL = 0.75;
/** Where the window is unknown: small enough for every model that calls tools well. */
const UNKNOWN_WINDOW = 120_000;
/** Tokens at the end of the conversation that stay as they are: results of tools, and everything. */
const RESULTS_KEPT = 40_000;
const NEWEST_KEPT = 20_000;
/** Of the window: a small one keeps less. */
const NEWEST_SHARE = 0.2;

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

  constructor(talk: Talk, about: Pick<About, "type" | "parent">, effects: AgentEffects) {
    this.#talk = talk;
    this.#about = { ...about, question: "What must be known to continue?" };
    this.#effects = effects;
  }

  /** Before a call: shortens the conversation if it is too long, or was shortened here in an earlier run. */
  async before(turn: number, messages: ModelMessage[]): Promise<void> {
    if (await this.#effects.isAnswered(keyAt(turn))) {
      await this.now(turn, messages);
      return;
    }
    const limit = this.#window * FULL;
    if (this.#sizeOf(messages) <= limit) return;
    leaveOutOldResults(messages, (message) => this.#size(message));
    if (this.#sizeOf(messages) <= limit) return;
    await this.now(turn, messages);
  }

  /** False when there is nothing that could be summed up. */
  async now(turn: number, messages: ModelMessage[]): Promise<boolean> {
    const from = this.#newestFrom(messages);
    if (from <= 1) return false;
    const { model, system, settings } = this.#talk;
    const told = messages.slice(0, from).map((message) => withoutLongResult(message));
    const asked: ModelMessage[] = [...told, { role: "user", content: HANDOVER }];
    const call = { model, system, messages: asked, tools: this.#talk.tools, settings };
    const { answer } = await this.#effects.ask(keyAt(turn), call, this.#about);
    const [first] = messages;
    const summary: ModelMessage = {
      role: "user",
      content: `The conversation so far became too long. This is its handover:\n\n${answer.text.trim() || outline(told)}`,
    };
    messages.splice(0, from, ...(first === undefined ? [] : [first]), summary);
    return true;
  }

  get #window(): number {
    return this.#talk.window ?? UNKNOWN_WINDOW;
  }

  /** Where the part begins that stays word for word: at an answer, so that no result is without its call. */
  #newestFrom(messages: readonly ModelMessage[]): number {
    const kept = Math.min(NEWEST_KEPT, this.#window * NEWEST_SHARE);
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
    return messages.reduce((sum, message) => sum + this.#size(message), this.#talk.count(this.#talk.system));
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

function keyAt(turn: number): string {
  return `compact-${turn}`;
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

function withoutLongResult(message: ModelMessage): ModelMessage {
  const isLong = message.role === "tool" && textOf(message).length > SHORT_RESULT * 8;
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
  return { ...message, output: `[left out: ${lines} lines of an earlier result of ${message.tool}]` };
}
