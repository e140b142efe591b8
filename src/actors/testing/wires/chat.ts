/** OpenAI's chat completions, as servers of many models speak them; reasoning goes both ways as `reasoning_content`. */
import * as z from "zod";
import { checkSchema } from "./schema-words.ts";
import {
  dataUrlImage,
  event,
  parsed,
  pieces,
  WireError,
  type Wire,
  type WireCall,
  type WireImage,
  type WireMemory,
  type WireMessage,
} from "./wire.ts";

const Json = z.record(z.string(), z.json());
const Mark = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).optional();
const Texts = z.array(z.strictObject({ type: z.literal("text"), text: z.string(), cache_control: Mark }));
const Content = z.union([z.string(), Texts]);
const Image = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: z.enum(["auto", "low", "high"]).optional() }),
  cache_control: Mark,
});
/** Only the user may show images here. */
const UserContent = z.union([z.string(), z.array(z.union([Texts.element, Image]))]);
const ToolCall = z.strictObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: Content }),
  z.strictObject({ role: z.literal("user"), content: UserContent }),
  z.strictObject({
    role: z.literal("assistant"),
    content: Content.nullable(),
    reasoning_content: z.string().optional(),
    reasoning: z.string().optional(),
    reasoning_details: z.array(z.json()).optional(),
    tool_calls: z.array(ToolCall).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: Content }),
]);
const Body = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: z.string().optional(),
          parameters: Json,
          strict: z.boolean().optional(),
        }),
        cache_control: Mark,
      }),
    )
    .optional(),
  tool_choice: z.enum(["auto", "none", "required"]).optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  /** OpenRouter's. */
  reasoning: Json.optional(),
  usage: Json.optional(),
  prompt_cache_key: z.string().optional(),
  response_format: Json.optional(),
});
type Body = z.output<typeof Body>;
type Message = z.output<typeof Message>;

const FINISHES = { length: "length", refused: "content_filter" } as const;

export const chatWire: Wire = {
  read(json, _path, memory) {
    const body = parsed(Body, json);
    for (const { function: tool } of body.tools ?? []) checkSchema("chat", tool.parameters, `tools.${tool.name}`);
    checkOrder(body.messages);
    for (const message of body.messages) checkReasoning(message, memory);
    const system = body.messages.flatMap((one) => (one.role === "system" ? [textOf(one.content)] : [])).join("\n");
    return {
      model: body.model,
      body: json,
      system,
      messages: body.messages.flatMap(readMessage),
      tools: (body.tools ?? []).map(({ function: { name } }) => name),
      usage: usageOf(body, memory),
    };
  },

  write(answer, { model, usage, memory }) {
    const { reasoning, text = "", calls = [] } = answer;
    const made = calls.map((call) => ({ ...call, id: memory.next("call_") }));
    if (reasoning !== undefined) {
      const item = routed(model) ? { item: JSON.stringify([signed(reasoning)]) } : {};
      for (const { id } of made) memory.issued.set(id, { reasoning, opaque: reasoning, ...item });
    }
    const id = memory.next("chatcmpl-");
    const chunk = (more: object): string => event({ id, object: "chat.completion.chunk", created: 1, model, ...more });
    const delta = (content: object): string => chunk({ choices: [{ index: 0, delta: content, finish_reason: null }] });
    const ended = calls.length > 0 ? "tool_calls" : "stop";
    const finish_reason = answer.finish === undefined ? ended : FINISHES[answer.finish];
    return [
      delta({ role: "assistant", content: "" }),
      ...thoughts(reasoning, model).map(delta),
      ...pieces(text).map((piece) => delta({ content: piece })),
      ...made.flatMap(({ id: call, name, input }, index) => [
        delta({ tool_calls: [{ index, id: call, type: "function", function: { name, arguments: "" } }] }),
        ...pieces(JSON.stringify(input)).map((piece) =>
          delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
      chunk({
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cacheRead },
        },
      }),
      "data: [DONE]\n\n",
    ];
  },

  whole(answer, { model, usage, memory }) {
    const { text = "", calls = [] } = answer;
    const tool_calls = calls.map(({ name, input }) => ({
      id: memory.next("call_"),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = { role: "assistant", content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
    return {
      id: memory.next("chatcmpl-"),
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cacheRead },
      },
    };
  },

  failure: (_status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};

/** Behind OpenRouter, Claude signs its thoughts, and they come back as they were. */
function routed(model: string): boolean {
  return model.startsWith("anthropic/");
}

function signed(text: string): object {
  return { type: "reasoning.text", format: "anthropic-claude-v1", index: 0, text, signature: `sig-${text}` };
}

function thoughts(reasoning: string | undefined, model: string): object[] {
  if (reasoning === undefined) return [];
  if (!routed(model)) return pieces(reasoning).map((piece) => ({ reasoning_content: piece }));
  const about = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
  return [
    ...pieces(reasoning).map((text) => ({ reasoning: text, reasoning_details: [{ ...about, text }] })),
    { reasoning: "", reasoning_details: [{ ...about, text: "", signature: `sig-${reasoning}` }] },
  ];
}

/** Servers that pass marks on to Anthropic cache by them; the others by the beginning. */
function usageOf(body: Body, memory: WireMemory): { input: number; cacheRead: number; cacheWrite: number } {
  const blocks = [
    ...(body.tools ?? []).map(({ cache_control: mark, ...tool }) => ({ text: JSON.stringify(tool), mark })),
    ...body.messages.flatMap((message) => {
      const { content, ...rest } = message;
      if (!Array.isArray(content)) return [{ text: JSON.stringify(message), mark: undefined }];
      return content.map(({ cache_control: mark, ...part }) => ({ text: JSON.stringify({ ...rest, ...part }), mark }));
    }),
  ];
  if (!blocks.some(({ mark }) => mark !== undefined)) {
    const prompt = blocks.map(({ text }) => text).join("\n");
    return memory.cache.prefixed(prompt, body.prompt_cache_key ?? body.model);
  }
  return memory.cache.marked(blocks.map(({ text, mark }) => ({ text, marked: mark !== undefined })));
}

function checkOrder(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) {
        throw new WireError(
          `messages.[${index}].role: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
        );
      }
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) {
      throw new WireError(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following did not have response messages: ${open.join(", ")}`,
      );
    }
    if (message.role === "system" && index > 0) throw new WireError("System message must be at the beginning.");
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  if (open.length > 0) throw new WireError(`No tool output found for ${open.join(", ")}`);
}

/** As servers of thinking models with tools want it: the thoughts of a call come back with the call. */
function checkReasoning(message: Message, memory: WireMemory): void {
  if (message.role !== "assistant") return;
  for (const { id } of message.tool_calls ?? []) {
    const issued = memory.issued.get(id);
    const given = message.reasoning_content ?? message.reasoning;
    if (issued?.item !== undefined) {
      const details = JSON.stringify(message.reasoning_details ?? []);
      if (details !== issued.item)
        throw new WireError(`The reasoning_details of the call ${id} are missing or changed.`);
    } else if (issued !== undefined && given !== issued.reasoning)
      throw new WireError(`Missing \`reasoning_content\` field in the assistant message with the call ${id}.`);
  }
}

function readMessage(message: Message): WireMessage[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", text: textOf(message.content), images: imagesOf(message.content) }];
    case "tool":
      return [{ role: "tool", callId: message.tool_call_id, text: textOf(message.content) }];
    case "assistant":
      return [
        { role: "assistant", text: textOf(message.content ?? ""), calls: (message.tool_calls ?? []).map(readCall) },
      ];
  }
}

function readCall({ id, function: { name, arguments: input } }: z.output<typeof ToolCall>): WireCall {
  return { id, name, input: parsed(Json, JSON.parse(input)) };
}

function textOf(content: z.output<typeof UserContent>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function imagesOf(content: z.output<typeof UserContent>): WireImage[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "image_url" ? [dataUrlImage(part.image_url.url)] : []));
}
