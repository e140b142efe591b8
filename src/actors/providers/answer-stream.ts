import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { UsageClaim } from "./believed-usage.ts";
import { brokenOffError, answerTooLargeError } from "./guarded-fetch.ts";
import { ModelError } from "../models/model-error.ts";
import type { AnswerPart, ModelAnswer, ModelRef, ModelToolCall, ModelUsage } from "../models/model.ts";
import type { CountModelTokens } from "./prices.ts";

/** The outcome of one try. */
export type Answered = Pick<ModelAnswer, "text" | "toolCalls" | "parts" | "usage" | "finish">;

/**
 * Limit for text and parameters of one answer together: beyond it, the answer is a flood. Today's longest are under a
 * megabyte.
 */
const ANSWER_LIMIT = 4 * 1024 * 1024;

/**
 * Counted again when it may have passed its limit, but not before it has grown by this part: all counts together cost
 * seventeen at most.
 */
const GROWN = 1 / 16;

interface Ended {
  readonly reason: string;
  readonly saidWhy: boolean;
  readonly claim: UsageClaim | undefined;
}

/** An answer as it comes in, piece by piece. */
export class Received {
  readonly #model: ModelRef;
  readonly #limit: number | undefined;
  readonly #count: CountModelTokens;
  readonly #toolCalls: ModelToolCall[] = [];
  /** Parameters as they were written, by call. */
  readonly #fragments = new Map<string, string>();
  /** By the kind and id under which the library tells their pieces; a map keeps the order in which they began. */
  readonly #parts = new Map<string, Growing>();
  #messageData: JsonObject | undefined;
  #text = "";
  #thoughts = "";
  #length = 0;
  #bytes = 0;
  /** Before there are so many bytes, there are not enough tokens to count. */
  #countAt: number;
  #ended: Ended | undefined;

  /** `limit` is how many tokens it may have by our count. */
  constructor(model: ModelRef, limit: number | undefined, count: CountModelTokens) {
    this.#model = model;
    this.#limit = limit;
    this.#count = count;
    this.#countAt = limit ?? Number.POSITIVE_INFINITY;
  }

  addText(id: string, text: string): void {
    this.#grow(text);
    this.#text += text;
    this.#part("text", id).text += text;
  }

  /** Its thoughts are paid for, but are not a part of the text. */
  addThought(id: string, text: string): void {
    this.#grow(text);
    this.#thoughts += text;
    this.#part("reasoning", id).text += text;
  }

  /**
   * Data of the provider for a piece; what comes later, such as a signature at its end, is added to what came before.
   */
  addData(type: "text" | "reasoning", id: string, data: JsonObject | undefined): void {
    const part = this.#part(type, id);
    if (data !== undefined) part.data = merged(part.data, data);
  }

  addMessageData(providerData: JsonObject): void {
    this.#messageData = providerData;
  }

  addFragment(callId: string, fragment: string): void {
    this.#grow(fragment);
    this.#fragments.set(callId, (this.#fragments.get(callId) ?? "") + fragment);
  }

  /** `input` is what the library made of the fragments: the text itself where it is not JSON. */
  addToolCall(id: string, tool: string, input: unknown, providerData: JsonObject | undefined): void {
    if (!this.#fragments.has(id)) this.addFragment(id, typeof input === "string" ? input : JSON.stringify(input ?? {}));
    const raw = this.#fragments.get(id) ?? "";
    const params = parsedObject(raw);
    this.#toolCalls.push({ id, tool, params, raw, ...(providerData === undefined ? {} : { providerData }) });
    this.#parts.set(`call ${id}`, { type: "call", id });
  }

  /** `reason` is what the library makes of `own`, the provider's word for it; a stream that was cut off has neither. */
  end(reason: string, own: string | undefined, claim: UsageClaim | undefined): void {
    const saidWhy = own !== undefined || Object.hasOwn(FINISHES, reason) || reason === "content-filter";
    this.#ended = { reason, saidWhy, claim };
  }

  /** The text that came is the answer, and ends where the endpoint should have ended it. */
  cut(): void {
    this.#ended = { reason: "length", saidWhy: true, claim: undefined };
  }

  /** Whether anything came at all: then it may be billed. */
  get begun(): boolean {
    return this.#length > 0;
  }

  /**
   * Whether it is longer than it was asked to be. A token is at least a byte, so most of the time there is nothing to
   * count. One that is twice as long at once does not come from a model that writes: it is a flood, and must not be
   * sent back with the next call.
   */
  get tooLong(): boolean {
    if (this.#limit === undefined || this.#bytes <= this.#countAt) return false;
    const tokens = this.#count(this.written, this.#model.model);
    if (tokens > 2 * this.#limit) throw answerTooLargeError(this.#model);
    this.#countAt = this.#bytes + Math.max(this.#limit - tokens, Math.floor(this.#bytes * GROWN));
    return tokens > this.#limit;
  }

  /** All characters that came, of text and of parameters. */
  get written(): string {
    return this.#thoughts + this.#text + [...this.#fragments.values()].join("");
  }

  answer(usageOf: (claim: UsageClaim | undefined) => ModelUsage): Answered {
    const who = `${this.#model.provider}/${this.#model.model}`;
    if (this.#ended?.saidWhy !== true) throw brokenOffError(this.#model);
    const { reason, claim } = this.#ended;
    if (reason === "error") {
      // Without a claim, only the upper bound is known to cover what half an answer is billed at.
      const usage = claim === undefined ? undefined : usageOf(claim);
      const facts = { model: this.#model, usage, brokenOff: true };
      throw new ModelError("server", `${who} failed in the middle of its answer.`, facts);
    }
    if (reason === "content-filter") {
      // A refusal without a word of it, and without a claim, costs nothing.
      const usage = claim === undefined && !this.begun ? undefined : usageOf(claim);
      throw new ModelError("refused", `${who} refused to answer.`, { model: this.#model, usage });
    }
    const finish = FINISHES[reason] ?? "other";
    return {
      text: this.#text,
      toolCalls: this.#toolCalls,
      parts: [
        ...[...this.#parts.values()].flatMap(finishedPart),
        ...(this.#messageData === undefined ? [] : [{ type: "message" as const, providerData: this.#messageData }]),
      ],
      usage: usageOf(claim),
      finish: this.#toolCalls.length > 0 && finish !== "length" ? "tool_calls" : finish,
    };
  }

  #part(type: "text" | "reasoning", id: string): GrowingText {
    const key = `${type} ${id}`;
    const known = this.#parts.get(key);
    if (known !== undefined && known.type !== "call") return known;
    const made: GrowingText = { type, text: "", data: undefined };
    this.#parts.set(key, made);
    return made;
  }

  #grow(piece: string): void {
    this.#length += piece.length;
    this.#bytes += Buffer.byteLength(piece);
    if (this.#length > ANSWER_LIMIT) throw answerTooLargeError(this.#model);
  }
}

interface GrowingText {
  readonly type: "text" | "reasoning";
  text: string;
  data: JsonObject | undefined;
}

type Growing = GrowingText | Extract<AnswerPart, { type: "call" }>;

/** A piece without text is kept only for the data it carries. */
function finishedPart(part: Growing): AnswerPart[] {
  if (part.type === "call") return [part];
  const { type, text, data } = part;
  if (text === "" && data === undefined) return [];
  return [{ type, text, ...(data === undefined ? {} : { providerData: data }) }];
}

/** Data is grouped by the provider's name; within a group the newer value counts, unless it says nothing. */
function merged(before: JsonObject | undefined, added: JsonObject): JsonObject {
  const groups: Record<string, JsonValue> = { ...before };
  for (const [name, group] of Object.entries(added)) {
    const known = groups[name];
    const said = isGroup(group) ? Object.fromEntries(Object.entries(group).filter(([, one]) => one !== null)) : group;
    groups[name] = isGroup(known) && isGroup(said) ? { ...known, ...said } : said;
  }
  return groups;
}

function isGroup(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const FINISHES: Readonly<Record<string, Answered["finish"]>> = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
};

/** Models write nothing where they mean no parameters. */
function parsedObject(raw: string): JsonObject | undefined {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
