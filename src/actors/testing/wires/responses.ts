/** OpenAI's Responses without stored state: reasoning comes back as the encrypted items that were handed out. */
import * as z from "zod";
import { checkSchema } from "./schema-words.ts";
import {
  dataUrlImage,
  event,
  parsed,
  pieces,
  WireError,
  type Wire,
  type WireMemory,
  type WireMessage,
  type WireUsage,
} from "./wire.ts";

const Json = z.record(z.string(), z.json());
const Item = z.union([
  z.strictObject({ role: z.enum(["system", "developer"]), content: z.string() }),
  z.strictObject({
    role: z.literal("user"),
    content: z.array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("input_text"), text: z.string() }),
        z.strictObject({
          type: z.literal("input_image"),
          image_url: z.string(),
          detail: z.enum(["auto", "low", "high", "original"]).optional(),
        }),
      ]),
    ),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    phase: z.enum(["commentary", "final_answer"]).optional(),
  }),
  z.strictObject({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    id: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.string() }),
  z.strictObject({
    type: z.literal("reasoning"),
    id: z.string(),
    encrypted_content: z.string(),
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  }),
]);
const Body = z.strictObject({
  model: z.string(),
  input: z.array(Item).min(1),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
        description: z.string().optional(),
        parameters: Json,
        strict: z.boolean().optional(),
      }),
    )
    .optional(),
  tool_choice: z.enum(["auto", "none", "required"]).optional(),
  stream: z.boolean().optional(),
  store: z.literal(false),
  include: z.array(z.literal("reasoning.encrypted_content")).optional(),
  max_output_tokens: z.int().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  reasoning: z.strictObject({ effort: z.string().optional(), summary: z.string().optional() }).optional(),
  prompt_cache_key: z.string().optional(),
  text: Json.optional(),
});
type Item = z.output<typeof Item>;

export const responsesWire: Wire = {
  read(json, _path, memory) {
    const body = parsed(Body, json);
    for (const tool of body.tools ?? []) checkSchema("responses", tool.parameters, `tools.${tool.name}`);
    checkOrder(body.input);
    checkReasoning(body.input, memory);
    const system = body.input.flatMap((item) =>
      "role" in item && (item.role === "system" || item.role === "developer") ? [item.content] : [],
    );
    const prompt = JSON.stringify([body.tools ?? [], body.input]);
    return {
      model: body.model,
      body: json,
      system: system.join("\n"),
      messages: readMessages(body.input),
      tools: (body.tools ?? []).map(({ name }) => name),
      usage: memory.cache.prefixed(prompt, body.prompt_cache_key ?? ""),
    };
  },

  write(answer, { model, usage, memory }) {
    const { reasoning, text = "", calls = [] } = answer;
    const id = memory.next("resp_");
    const events = [event({ type: "response.created", response: { id, created_at: 1, model } })];
    const add = (item: object, deltas: readonly object[], done: object): void => {
      const output_index = events.length;
      events.push(event({ type: "response.output_item.added", output_index, item }));
      for (const delta of deltas) events.push(event({ output_index, ...delta }));
      events.push(event({ type: "response.output_item.done", output_index, item: { ...item, ...done } }));
    };
    const made = calls.map((call) => ({ ...call, call_id: memory.next("call_"), item: memory.next("fc_") }));
    if (reasoning !== undefined) {
      const item = memory.next("rs_");
      const opaque = memory.next("encrypted-");
      for (const { call_id } of made) memory.issued.set(call_id, { reasoning, opaque, item });
      memory.issued.set(item, { reasoning, opaque, item });
      const summary = [{ type: "summary_text", text: reasoning }];
      add(
        { type: "reasoning", id: item, summary: [], encrypted_content: null },
        [
          { type: "response.reasoning_summary_part.added", item_id: item, summary_index: 0 },
          ...pieces(reasoning).map((delta) => ({
            type: "response.reasoning_summary_text.delta",
            item_id: item,
            summary_index: 0,
            delta,
          })),
          { type: "response.reasoning_summary_part.done", item_id: item, summary_index: 0 },
        ],
        { summary, encrypted_content: opaque },
      );
    }
    if (text !== "") {
      const item = memory.next("msg_");
      const deltas = pieces(text).map((delta) => ({ type: "response.output_text.delta", item_id: item, delta }));
      add({ type: "message", id: item, role: "assistant", content: [] }, deltas, {
        content: [{ type: "output_text", text, annotations: [] }],
      });
    }
    for (const { call_id, item, name, input } of made) {
      const json = JSON.stringify(input);
      const deltas = pieces(json).map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: item,
        delta,
      }));
      add({ type: "function_call", id: item, call_id, name, arguments: "" }, deltas, {
        arguments: json,
        status: "completed",
      });
    }
    return [...events, lastEvent(id, model, usage, answer.finish)];
  },

  whole(answer, { model, usage, memory }) {
    const { text = "", calls = [] } = answer;
    const output = [
      ...(text === "" ? [] : [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }]),
      ...calls.map(({ name, input }) => ({
        type: "function_call",
        call_id: memory.next("call_"),
        name,
        arguments: JSON.stringify(input),
      })),
    ];
    return {
      id: memory.next("resp_"),
      object: "response",
      status: "completed",
      model,
      output,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cacheRead },
        output_tokens: usage.output,
      },
    };
  },

  failure: (_status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};

const INCOMPLETE = { length: "max_output_tokens", refused: "content_filter" } as const;

function lastEvent(id: string, model: string, usage: WireUsage, finish: keyof typeof INCOMPLETE | undefined): string {
  const cut = finish !== undefined;
  const response = {
    id,
    model,
    incomplete_details: cut ? { reason: INCOMPLETE[finish] } : null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
  return event({ type: cut ? "response.incomplete" : "response.completed", response });
}

function checkOrder(input: readonly Item[]): void {
  const called = new Set<string>();
  const open = new Set<string>();
  for (const item of input) {
    if ("role" in item) {
      const [first] = open;
      if (first !== undefined) throw new WireError(`No tool output found for function call ${first}.`);
    } else if (item.type === "function_call") {
      called.add(item.call_id);
      open.add(item.call_id);
    } else if (item.type === "function_call_output") {
      if (!called.has(item.call_id))
        throw new WireError(`No tool call found for function call output with call_id ${item.call_id}.`);
      open.delete(item.call_id);
    }
  }
  const [left] = open;
  if (left !== undefined) throw new WireError(`No tool output found for function call ${left}.`);
}

/** A reasoning item and the call it led to need each other, in this order. */
function checkReasoning(input: readonly Item[], memory: WireMemory): void {
  const seen = new Set<string>();
  for (const [index, item] of input.entries()) {
    if ("role" in item) continue;
    if (item.type === "reasoning") {
      const issued = memory.issued.get(item.id);
      if (issued === undefined || issued.opaque !== item.encrypted_content)
        throw new WireError(`The encrypted content for item ${item.id} could not be verified.`);
      const next = input[index + 1];
      const follows =
        next !== undefined && ("role" in next ? next.role === "assistant" : next.type === "function_call");
      if (!follows)
        throw new WireError(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`);
      seen.add(item.id);
    } else if (item.type === "function_call") {
      const { item: needed } = memory.issued.get(item.call_id) ?? {};
      if (needed !== undefined && !seen.has(needed)) {
        throw new WireError(
          `Item '${item.call_id}' of type 'function_call' was provided without its required 'reasoning' item: '${needed}'.`,
        );
      }
    }
  }
}

/** Items of one answer are one message here. */
function readMessages(input: readonly Item[]): WireMessage[] {
  const messages: WireMessage[] = [];
  const intoAssistant = (text: string, calls: Extract<WireMessage, { role: "assistant" }>["calls"]): void => {
    const last = messages.at(-1);
    if (last?.role === "assistant") {
      messages[messages.length - 1] = { ...last, text: last.text + text, calls: [...last.calls, ...calls] };
    } else messages.push({ role: "assistant", text, calls });
  };
  for (const item of input) {
    if ("role" in item) {
      if (item.role === "user") messages.push(userMessage(item.content));
      if (item.role === "assistant") intoAssistant(item.content, []);
    } else if (item.type === "function_call") {
      intoAssistant("", [{ id: item.call_id, name: item.name, input: parsed(Json, JSON.parse(item.arguments)) }]);
    } else if (item.type === "function_call_output") {
      messages.push({ role: "tool", callId: item.call_id, text: item.output });
    }
  }
  return messages;
}

function userMessage(content: Extract<Item, { role: "user" }>["content"]): WireMessage {
  return {
    role: "user",
    text: content.map((part) => (part.type === "input_text" ? part.text : "")).join(""),
    images: content.flatMap((part) => (part.type === "input_image" ? [dataUrlImage(part.image_url)] : [])),
  };
}
