/** Anthropic's messages, checked as strictly as the API does. */
import * as z from "zod";
import { checkSchema } from "./schema-words.ts";
import {
  event,
  parsed,
  pieces,
  WireError,
  wireImage,
  type ReadRequest,
  type Wire,
  type WireCall,
  type WireMemory,
  type WireMessage,
} from "./wire.ts";

const Mark = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).optional();
const Json = z.record(z.string(), z.json());
const Text = z.strictObject({ type: z.literal("text"), text: z.string().min(1), cache_control: Mark });
const ToolUse = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: Json,
  cache_control: Mark,
});
const ToolResult = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(Text)]),
  is_error: z.boolean().optional(),
  cache_control: Mark,
});
const Thinking = z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const Redacted = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });
const Image = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
  cache_control: Mark,
});
const Block = z.discriminatedUnion("type", [Text, Image, ToolUse, ToolResult, Thinking, Redacted]);
const Message = z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) });
const Body = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(Message).min(1),
  system: z.array(Text).optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: Json,
        cache_control: Mark,
        eager_input_streaming: z.boolean().optional(),
      }),
    )
    .optional(),
  tool_choice: z.strictObject({ type: z.enum(["auto", "any", "none"]) }).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1_024) }),
      z.strictObject({ type: z.literal("adaptive"), display: z.string().optional() }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  output_config: z.strictObject({ effort: z.string() }).optional(),
  metadata: z.strictObject({ user_id: z.string() }).optional(),
});
type Body = z.output<typeof Body>;
type Block = z.output<typeof Block>;

const STOPS = { length: "max_tokens", refused: "refusal" } as const;

export const anthropicWire: Wire = {
  read(json, _path, memory) {
    const body = parsed(Body, json);
    const thinks = body.thinking !== undefined && body.thinking.type !== "disabled";
    checkThinking(body);
    checkMarks(body);
    for (const tool of body.tools ?? []) checkSchema("anthropic", tool.input_schema, `tools.${tool.name}`);
    checkOrder(body);
    for (const message of body.messages) checkOpaque(message, thinks, memory);
    return {
      model: body.model,
      body: json,
      system: (body.system ?? []).map(({ text }) => text).join("\n"),
      messages: body.messages.flatMap(readMessage),
      tools: (body.tools ?? []).map(({ name }) => name),
      usage: memory.cache.marked(blocksOf(body)),
    } satisfies ReadRequest;
  },

  write(answer, { model, usage, memory }) {
    const { reasoning, redacted = false, text = "", calls = [] } = answer;
    const blocks: string[] = [];
    const made = calls.map((call) => ({ ...call, id: memory.next("toolu_") }));
    let index = 0;
    const block = (start: object, deltas: readonly object[]): void => {
      blocks.push(event({ type: "content_block_start", index, content_block: start }, "content_block_start"));
      for (const delta of deltas)
        blocks.push(event({ type: "content_block_delta", index, delta }, "content_block_delta"));
      blocks.push(event({ type: "content_block_stop", index }, "content_block_stop"));
      index += 1;
    };
    if (reasoning !== undefined) {
      const opaque = memory.next(redacted ? "redacted-" : "signature-");
      const issued = { reasoning: redacted ? "" : reasoning, opaque };
      for (const { id } of made) memory.issued.set(id, issued);
      memory.issued.set(opaque, issued);
      if (redacted) block({ type: "redacted_thinking", data: opaque }, []);
      else {
        const thoughts = pieces(reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
        block({ type: "thinking", thinking: "", signature: "" }, [
          ...thoughts,
          { type: "signature_delta", signature: opaque },
        ]);
      }
    }
    if (text !== "") {
      block(
        { type: "text", text: "" },
        pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
      );
    }
    for (const { id, name, input } of made) {
      const deltas = pieces(JSON.stringify(input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
      block({ type: "tool_use", id, name, input: {} }, deltas);
    }
    const ended = calls.length > 0 ? "tool_use" : "end_turn";
    const stop_reason = answer.finish === undefined ? ended : STOPS[answer.finish];
    const begun = {
      input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: 1,
    };
    const message = { id: memory.next("msg_"), type: "message", role: "assistant", model, content: [], usage: begun };
    return [
      event({ type: "message_start", message: { ...message, stop_reason: null } }, "message_start"),
      ...blocks,
      event(
        { type: "message_delta", delta: { stop_reason }, usage: { ...begun, output_tokens: usage.output } },
        "message_delta",
      ),
      event({ type: "message_stop" }, "message_stop"),
    ];
  },

  whole(answer, { model, usage, memory }) {
    const { text = "", calls = [] } = answer;
    const content = [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map((call) => ({ type: "tool_use", id: memory.next("toolu_"), name: call.name, input: call.input })),
    ];
    const used = {
      input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: usage.output,
    };
    const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
    return { id: memory.next("msg_"), type: "message", role: "assistant", model, content, stop_reason, usage: used };
  },

  failure: (status, message) => ({
    type: "error",
    error: { type: status === 529 ? "overloaded_error" : "invalid_request_error", message },
  }),
};

function checkThinking({ thinking, max_tokens, temperature }: Body): void {
  if (thinking?.type !== "enabled") return;
  if (thinking.budget_tokens >= max_tokens)
    throw new WireError("`max_tokens` must be greater than `thinking.budget_tokens`.");
  if (temperature !== undefined && temperature !== 1)
    throw new WireError("`temperature` may only be set to 1 when thinking is enabled.");
}

function checkMarks(body: Body): void {
  const marks = blocksOf(body).filter(({ marked }) => marked).length;
  if (marks > 4) throw new WireError(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

/** A result stands at the beginning of the message after its call, and each call has one. */
function checkOrder({ messages }: Body): void {
  if (messages[0]?.role !== "user") throw new WireError("messages: first message must use the user role");
  for (const [index, { role, content }] of messages.entries()) {
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (role === "user" && calls.length > 0)
      throw new WireError("messages: `tool_use` blocks can only be in assistant");
    const before = messages[index - 1]?.content ?? [];
    const asked = before.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const results = content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    const orphan = results.find((id) => !asked.includes(id));
    if (orphan !== undefined) {
      throw new WireError(`messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}.`);
    }
    const open = asked.find((id) => !results.includes(id));
    if (open !== undefined) {
      throw new WireError(`messages.${index}: \`tool_use\` ids without \`tool_result\` immediately after: ${open}.`);
    }
    const firstOther = content.findIndex(({ type }) => type !== "tool_result");
    const lastResult = content.findLastIndex(({ type }) => type === "tool_result");
    if (firstOther !== -1 && firstOther < lastResult)
      throw new WireError(`messages.${index}: \`tool_result\` blocks must come first`);
  }
  if (messages.at(-1)?.content.some(({ type }) => type === "tool_use") === true)
    throw new WireError("messages: the last `tool_use` has no `tool_result`");
}

/** Thoughts come back as they were, before the calls they led to. */
function checkOpaque(message: Body["messages"][number], thinks: boolean, memory: WireMemory): void {
  if (message.role === "user") return;
  const seen = new Set<string>();
  for (const block of message.content) {
    if (block.type === "thinking" || block.type === "redacted_thinking") {
      const opaque = block.type === "thinking" ? block.signature : block.data;
      const issued = memory.issued.get(opaque);
      if (issued === undefined || (block.type === "thinking" && block.thinking !== issued.reasoning))
        throw new WireError("messages: Invalid `signature` in `thinking` block");
      seen.add(opaque);
    } else if (block.type === "tool_use" && thinks) {
      const issued = memory.issued.get(block.id);
      if (issued !== undefined && !seen.has(issued.opaque)) {
        throw new WireError(
          "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
        );
      }
    }
  }
}

function blocksOf({ tools = [], system = [], messages }: Body): { text: string; marked: boolean }[] {
  return [...tools, ...system, ...messages.flatMap(({ content }) => content)].map((block) => ({
    text: JSON.stringify({ ...block, cache_control: undefined }),
    marked: "cache_control" in block && block.cache_control !== undefined,
  }));
}

function readMessage({ role, content }: Body["messages"][number]): WireMessage[] {
  const results = content.flatMap((block): WireMessage[] =>
    block.type === "tool_result" ? [{ role: "tool", callId: block.tool_use_id, text: resultText(block.content) }] : [],
  );
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  if (role === "assistant") return [{ role, text, calls: callsOf(content) }];
  const images = content.flatMap((block) =>
    block.type === "image" ? [wireImage(block.source.media_type, block.source.data)] : [],
  );
  return [...results, ...(text === "" && images.length === 0 ? [] : [{ role, text, images } as const])];
}

function callsOf(content: readonly Block[]): WireCall[] {
  return content.flatMap((block) =>
    block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
}

function resultText(content: z.output<typeof ToolResult>["content"]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}
