/**
 * The requests of coding agents in the four wire formats, read leniently: unlike the strict server of the tests, which
 * checks ours, this must take what other agents send. A prompt becomes pieces in the order in which the provider reads
 * them, so that all agents are counted alike, and messages that a script can follow.
 */
import * as z from "zod";
import type { WireCall, WireMessage, WireName } from "../src/actors/testing/wires/wire.ts";

/** Where the tokens of a prompt go. */
export const PARTS = ["tools", "system", "user", "assistant", "result"] as const;

export interface Piece {
  readonly part: (typeof PARTS)[number];
  readonly text: string;
  /** Whether the prompt asks the provider to keep everything up to here. */
  readonly marked: boolean;
}

export interface Prompt {
  readonly wire: WireName;
  readonly model: string;
  readonly pieces: readonly Piece[];
  readonly messages: readonly WireMessage[];
  readonly tools: number;
  readonly cacheKey: string;
}

const Loose = z.record(z.string(), z.unknown());
const Mark = z.unknown().optional();
const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.json()).optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  cache_control: Mark,
});
type Block = z.output<typeof Block>;
const Blocks = z.union([z.string().transform((text): Block[] => [{ type: "text", text }]), z.array(Block)]);
const AnthropicBody = z.looseObject({
  model: z.string(),
  system: Blocks.optional(),
  tools: z.array(Loose).optional(),
  messages: z.array(z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: Blocks })),
});
const ChatBody = z.looseObject({
  model: z.string(),
  tools: z.array(Loose).optional(),
  prompt_cache_key: z.string().optional(),
  messages: z.array(
    z.looseObject({
      role: z.enum(["system", "developer", "user", "assistant", "tool"]),
      content: z.unknown().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }))
        .optional(),
    }),
  ),
});
const ResponsesBody = z.looseObject({
  model: z.string(),
  instructions: z.string().optional(),
  tools: z.array(Loose).optional(),
  prompt_cache_key: z.string().optional(),
  input: z.array(
    z.looseObject({
      type: z.string().optional(),
      role: z.string().optional(),
      content: z.unknown().optional(),
      call_id: z.string().optional(),
      name: z.string().optional(),
      arguments: z.string().optional(),
      input: z.string().optional(),
      output: z.unknown().optional(),
    }),
  ),
});
const Part = z.looseObject({
  text: z.string().optional(),
  functionCall: z.looseObject({ name: z.string(), args: z.record(z.string(), z.json()) }).optional(),
  functionResponse: z.looseObject({ name: z.string(), response: z.unknown() }).optional(),
});
const GeminiBody = z.looseObject({
  systemInstruction: z.looseObject({ parts: z.array(Part) }).optional(),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(Loose).optional() })).optional(),
  contents: z.array(z.looseObject({ role: z.enum(["user", "model"]), parts: z.array(Part) })),
});

const ROUTES: readonly (readonly [RegExp, WireName])[] = [
  [/\/messages$/, "anthropic"],
  [/\/chat\/completions$/, "chat"],
  [/\/responses$/, "responses"],
  [/:streamGenerateContent/, "gemini"],
];
const READ: Readonly<Record<WireName, (body: unknown) => Omit<Prompt, "wire">>> = {
  anthropic: readAnthropic,
  chat: readChat,
  responses: readResponses,
  gemini: readGemini,
};

/** Undefined for what is not a question to a model, such as a list of models. */
export function readPrompt(path: string, body: string): Prompt | undefined {
  const [route = ""] = path.split("?");
  const wire = ROUTES.find(([pattern]) => pattern.test(route))?.[1];
  return wire === undefined ? undefined : { wire, ...READ[wire](JSON.parse(body)) };
}

function readAnthropic(json: unknown): Omit<Prompt, "wire"> {
  const { model, system = [], tools = [], messages } = AnthropicBody.parse(json);
  const pieces = [
    ...tools.map((tool) => toolPiece(tool)),
    ...system.map((block) => piece("system", block.text ?? "", block.cache_control)),
    ...messages.flatMap(({ role, content }) =>
      content.map((block) => piece(partOf(role, block), blockText(block), block.cache_control)),
    ),
  ];
  const spoken = messages.flatMap(({ role, content }): WireMessage[] => {
    const text = content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
    if (role !== "assistant") return [...content.flatMap(resultOf), { role: "user", text }];
    const calls = content.flatMap(({ type, id = "", name = "", input = {} }): WireCall[] =>
      type === "tool_use" ? [{ id, name, input }] : [],
    );
    return [{ role: "assistant", text, calls }];
  });
  return { model, pieces, messages: spoken, tools: tools.length, cacheKey: "" };
}

function partOf(role: string, { type }: Block): Piece["part"] {
  if (type === "tool_result") return "result";
  return role === "assistant" ? "assistant" : role === "system" ? "system" : "user";
}

function blockText({ type, text = "", name = "", input, content }: Block): string {
  if (type === "tool_use") return `${name} ${JSON.stringify(input)}`;
  return type === "tool_result" ? textOf(content) : text;
}

function resultOf({ type, tool_use_id: callId = "", content }: Block): WireMessage[] {
  return type === "tool_result" ? [{ role: "tool", callId, text: textOf(content) }] : [];
}

function readChat(json: unknown): Omit<Prompt, "wire"> {
  const { model, tools = [], messages, prompt_cache_key: cacheKey = model } = ChatBody.parse(json);
  const read = messages.map((message): readonly [Piece, WireMessage] => {
    const { role, tool_call_id: callId = "", tool_calls: made = [] } = message;
    const text = textOf(message.content);
    if (role === "tool") return [piece("result", text), { role, callId, text }];
    if (role !== "assistant") return [piece(role === "user" ? role : "system", text), { role: "user", text }];
    const calls = made.map(({ id, function: f }) => ({ id, name: f.name, input: jsonInput(f.arguments) }));
    const written = made.map(({ function: f }) => `${f.name} ${f.arguments}`).join("\n");
    return [piece("assistant", text + written), { role, text, calls }];
  });
  const pieces = [...tools.map((tool) => toolPiece(tool)), ...read.map(([one]) => one)];
  return { model, pieces, messages: read.map(([, message]) => message), tools: tools.length, cacheKey };
}

function readResponses(json: unknown): Omit<Prompt, "wire"> {
  const { model, instructions = "", tools = [], input, prompt_cache_key: cacheKey = "" } = ResponsesBody.parse(json);
  const read = input.flatMap((item): (readonly [Piece, WireMessage])[] => {
    const { type = "message", role = "", call_id: id = "", name = "" } = item;
    if (type === "additional_tools") return [[piece("tools", JSON.stringify(item)), { role: "user", text: "" }]];
    if (type === "function_call" || type === "custom_tool_call") {
      const written = item.arguments ?? item.input ?? "";
      const call = { id, name, input: type === "custom_tool_call" ? { freeform: written } : jsonInput(written) };
      return [[piece("assistant", `${name} ${written}`), { role: "assistant", text: "", calls: [call] }]];
    }
    if (type.endsWith("_call_output")) {
      const text = textOf(item.output);
      return [[piece("result", text), { role: "tool", callId: id, text }]];
    }
    if (type !== "message") return [];
    const text = textOf(item.content);
    if (role === "assistant") return [[piece("assistant", text), { role, text, calls: [] }]];
    return [[piece(role === "user" ? role : "system", text), { role: "user", text }]];
  });
  const begin = [...tools.map((tool) => toolPiece(tool)), piece("system", instructions)];
  const pieces = [...begin, ...read.map(([one]) => one)];
  return { model, pieces, messages: read.map(([, message]) => message), tools: tools.length, cacheKey };
}

function readGemini(json: unknown): Omit<Prompt, "wire"> {
  const { systemInstruction, tools: groups = [], contents } = GeminiBody.parse(json);
  const tools = groups.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const read = contents.flatMap(({ role, parts }) =>
    parts.map(({ text = "", functionCall: made, functionResponse: came }): readonly [Piece, WireMessage] => {
      if (came !== undefined) {
        const result = textOf(came.response);
        return [piece("result", result), { role: "tool", callId: came.name, text: result }];
      }
      if (role === "user") return [piece("user", text), { role, text }];
      // Calls have no ids here: a result belongs to the call of its name just before it.
      const calls = made === undefined ? [] : [{ id: made.name, name: made.name, input: made.args }];
      const written = made === undefined ? text : `${made.name} ${JSON.stringify(made.args)}`;
      return [piece("assistant", written), { role: "assistant", text, calls }];
    }),
  );
  const system = (systemInstruction?.parts ?? []).map(({ text = "" }) => piece("system", text));
  const pieces = [...tools.map((tool) => toolPiece(tool)), ...system, ...read.map(([one]) => one)];
  return { model: "gemini", pieces, messages: read.map(([, message]) => message), tools: tools.length, cacheKey: "" };
}

function piece(part: Piece["part"], text: string, mark?: unknown): Piece {
  return { part, text, marked: mark !== undefined && mark !== null };
}

/** A provider shows a model the name, description and parameters of a tool; switches about it are not counted. */
function toolPiece(tool: z.output<typeof Loose>): Piece {
  const shown = { ...tool, cache_control: undefined, eager_input_streaming: undefined };
  return piece("tools", JSON.stringify(shown), tool["cache_control"]);
}

/** Text, a list of parts with text, or an object with the text somewhere in it. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === undefined || content === null) return "";
  const parts = z.array(z.looseObject({ text: z.string() })).safeParse(content);
  return parts.success ? parts.data.map(({ text }) => text).join("") : JSON.stringify(content);
}

function jsonInput(text: string): WireCall["input"] {
  return z.record(z.string(), z.json()).parse(JSON.parse(text === "" ? "{}" : text));
}
