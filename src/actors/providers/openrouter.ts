/** OpenRouter's differences from other servers that speak OpenAI's language. */
import * as z from "zod";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";

type Body = Record<string, unknown>;

const EPHEMERAL = { type: "ephemeral" } as const;
const MARKED_MESSAGES = 2;

/**
 * Marks what Anthropic and Alibaba keep in their caches: the system prompt and the last two messages that are not the
 * model's own. Other models behind OpenRouter cache by themselves. Thoughts go back under the name under which
 * OpenRouter sends them.
 */
export function openRouterBody(body: Body): Body {
  const { model, messages } = body;
  if (!Array.isArray(messages)) return body;
  const renamed = messages.map((message: Body) => {
    const { reasoning_content: reasoning, ...rest } = message;
    // The details have the text too, with its signature.
    if (reasoning === undefined || rest["reasoning_details"] !== undefined) return rest;
    return { ...rest, reasoning };
  });
  if (typeof model !== "string" || !/^(?:anthropic|qwen)\//.test(model)) return { ...body, messages: renamed };
  const others = renamed.flatMap(({ role }, index) => (role === "user" || role === "tool" ? [index] : []));
  const marked = new Set(others.slice(-MARKED_MESSAGES));
  return {
    ...body,
    messages: renamed.map((message, index) =>
      message["role"] === "system" || marked.has(index) ? withMark(message) : message,
    ),
  };
}

/**
 * The pieces of OpenRouter's `reasoning_details`, put together as they are to go back: texts of one entry are one text,
 * and what comes later, such as a signature, is added to it.
 */
export class ReasoningDetails {
  readonly #entries = new Map<string, Record<string, JsonValue>>();

  /** `event` is one of the stream as it came. */
  add(event: unknown): void {
    const parsed = StreamEvent.safeParse(event);
    if (!parsed.success) return;
    for (const { delta } of parsed.data.choices) {
      for (const detail of delta?.reasoning_details ?? []) this.#addDetail(detail);
    }
  }

  get all(): readonly JsonObject[] {
    return [...this.#entries.values()];
  }

  #addDetail(detail: JsonObject): void {
    const key = JSON.stringify([detail["index"] ?? null, detail["type"] ?? null]);
    const entry = this.#entries.get(key) ?? {};
    this.#entries.set(key, entry);
    for (const [name, value] of Object.entries(detail)) {
      const before = entry[name];
      if (value === null && before !== undefined) continue;
      const grows =
        ["text", "summary", "data"].includes(name) && typeof before === "string" && typeof value === "string";
      entry[name] = grows ? before + value : value;
    }
  }
}

const StreamEvent = z.object({
  choices: z.array(
    z.object({ delta: z.object({ reasoning_details: z.array(z.record(z.string(), z.json())).optional() }).optional() }),
  ),
});

function withMark(message: Body): Body {
  const { content } = message;
  if (typeof content !== "string" || content === "") return message;
  return { ...message, content: [{ type: "text", text: content, cache_control: EPHEMERAL }] };
}
