import type { JsonObject } from "../domain/json.ts";
import { brokenOff, tooLarge } from "./guarded-fetch.ts";
import { ModelError } from "./model-error.ts";
import type { ModelAnswer, ModelCall, ModelRef, ModelToolCall, ModelUsage } from "./model.ts";
import { countInput, type CountTokens } from "./prices.ts";

/** What one try came to. */
export type Answered = Pick<ModelAnswer, "text" | "toolCalls" | "usage" | "finish">;

/** Text and parameters of one answer together: beyond it, it is no answer but a flood. Today's longest are under a megabyte. */
const ANSWER_LIMIT = 4 * 1024 * 1024;

/** An answer as it comes in, piece by piece. */
export class Received {
  readonly #model: ModelRef;
  readonly #toolCalls: ModelToolCall[] = [];
  /** Parameters as they were written, by call. */
  readonly #fragments = new Map<string, string>();
  #text = "";
  #thoughts = "";
  #length = 0;
  #ended: { reason: string; saidWhy: boolean; usage: ModelUsage | undefined } | undefined;

  constructor(model: ModelRef) {
    this.#model = model;
  }

  addText(text: string): void {
    this.#grow(text);
    this.#text += text;
  }

  /** What it thinks to itself is paid for, but is no part of the answer. */
  addThought(text: string): void {
    this.#grow(text);
    this.#thoughts += text;
  }

  addFragment(callId: string, fragment: string): void {
    this.#grow(fragment);
    this.#fragments.set(callId, (this.#fragments.get(callId) ?? "") + fragment);
  }

  /** `input` is what the library made of the fragments: the text itself where it is no JSON. */
  addToolCall(id: string, tool: string, input: unknown, providerData: JsonObject | undefined): void {
    const raw = this.#fragments.get(id) ?? (typeof input === "string" ? input : JSON.stringify(input ?? {}));
    if (!this.#fragments.has(id)) this.#grow(raw);
    const parameters = parsedObject(raw);
    this.#toolCalls.push({ id, tool, parameters, raw, ...(providerData === undefined ? {} : { providerData }) });
  }

  /** `reason` is what the library makes of `own`, the provider's word for it; a stream that was cut off has neither. */
  end(reason: string, own: string | undefined, usage: ModelUsage | undefined): void {
    const saidWhy = own !== undefined || Object.hasOwn(FINISHES, reason) || reason === "content-filter";
    this.#ended = { reason, saidWhy, usage };
  }

  /** Whether anything came at all: then it may be billed. */
  get begun(): boolean {
    return this.#length > 0;
  }

  answer(estimate: () => ModelUsage): Answered {
    const who = `${this.#model.provider}/${this.#model.model}`;
    if (this.#ended?.saidWhy !== true) throw brokenOff(this.#model);
    const { reason, usage } = this.#ended;
    if (reason === "content-filter") {
      throw new ModelError("refused", `${who} refused to answer.`, { model: this.#model, usage });
    }
    if (reason === "error") {
      throw new ModelError("server", `${who} failed in the middle of its answer.`, { model: this.#model, usage });
    }
    const finish = FINISHES[reason] ?? "other";
    return {
      text: this.#text,
      toolCalls: this.#toolCalls,
      usage: usage ?? estimate(),
      finish: this.#toolCalls.length > 0 && finish !== "length" ? "tool_calls" : finish,
    };
  }

  /** What came so far and what was sent, by the tokenizer. */
  estimate(call: ModelCall, count: CountTokens): ModelUsage {
    const written = this.#thoughts + this.#text + [...this.#fragments.values()].join("");
    return {
      inputTokens: countInput(call, count),
      outputTokens: written === "" ? 0 : count(written, this.#model.model),
      estimated: true,
    };
  }

  #grow(piece: string): void {
    this.#length += piece.length;
    if (this.#length > ANSWER_LIMIT) throw tooLarge(this.#model);
  }
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
