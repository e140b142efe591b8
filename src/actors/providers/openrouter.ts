/** What OpenRouter wants otherwise than other servers that speak OpenAI's language. */

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
    return reasoning === undefined ? message : { ...rest, reasoning };
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

function withMark(message: Body): Body {
  const { content } = message;
  if (typeof content !== "string" || content === "") return message;
  return { ...message, content: [{ type: "text", text: content, cache_control: EPHEMERAL }] };
}
