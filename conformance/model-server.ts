/**
 * A scripted model in four dialects for agents of other makers. It takes every field that they send, unlike the strict
 * server, and writes its answers with the same wires. A mark in the prompt names the script; the position in it is the
 * number of answers with calls that the conversation has already.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicWire } from "../src/actors/testing/wires/anthropic.ts";
import { chatWire } from "../src/actors/testing/wires/chat.ts";
import { geminiWire } from "../src/actors/testing/wires/gemini.ts";
import { PromptCache } from "../src/actors/testing/wires/prompt-cache.ts";
import { responsesWire } from "../src/actors/testing/wires/responses.ts";
import type { Wire, WireMemory } from "../src/actors/testing/wires/wire.ts";
import type { JsonObject } from "../src/domain/values/json.ts";

export interface ModelQuestion {
  readonly path: string;
  readonly body: JsonObject;
  readonly headers: IncomingMessage["headers"];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** How many answers with calls the conversation has. */
  readonly answered: number;
  /** All of the request, for marks. */
  readonly text: string;
}

export interface ModelSaid {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[];
  /** What the answer is said to have cost, in tokens. */
  readonly outputTokens?: number;
  /** The endpoint refuses instead. */
  readonly status?: number;
  readonly message?: string;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly questions: readonly ModelQuestion[];
}

interface Form {
  readonly path: RegExp;
  readonly wire: Wire;
  readonly tools: (body: JsonObject) => string[];
  readonly answered: (body: JsonObject) => number;
}

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const word = (value: unknown): string => (typeof value === "string" ? value : "");

const FORMS: readonly Form[] = [
  {
    path: /\/messages$/,
    wire: anthropicWire,
    tools: (body) => list(body["tools"]).map(({ name }) => word(name)),
    answered: (body) =>
      list(body["messages"]).filter(
        ({ role, content }) => role === "assistant" && list(content).some(({ type }) => type === "tool_use"),
      ).length,
  },
  {
    path: /\/chat\/completions$/,
    wire: chatWire,
    tools: (body) => list(body["tools"]).map((tool) => word((tool["function"] as Json | undefined)?.["name"])),
    answered: (body) => list(body["messages"]).filter((message) => list(message["tool_calls"]).length > 0).length,
  },
  {
    path: /\/responses$/,
    wire: responsesWire,
    tools: (body) => list(body["tools"]).map(({ name, type }) => word(name ?? type)),
    // Calls of one answer follow one another; results stand between answers.
    answered: (body) => {
      const items = list(body["input"]).map(({ type }) => word(type));
      return items.filter((type, index) => type.endsWith("_call") && items[index - 1]?.endsWith("_call") !== true)
        .length;
    },
  },
  {
    path: /:(?:stream)?[gG]enerateContent/,
    wire: geminiWire,
    tools: (body) =>
      list(body["tools"]).flatMap((tool) => list(tool["functionDeclarations"]).map(({ name }) => word(name))),
    answered: (body) =>
      list(body["contents"]).filter(
        ({ role, parts }) => role === "model" && list(parts).some(({ functionCall }) => functionCall !== undefined),
      ).length,
  },
];

const USAGE = { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 100 };

export async function modelServer(
  answer: (question: ModelQuestion) => ModelSaid | Promise<ModelSaid>,
): Promise<ModelServer> {
  const questions: ModelQuestion[] = [];
  let ids = 0;
  const memory: WireMemory = {
    issued: new Map(),
    cache: new PromptCache((text) => Math.ceil(text.length / 4)),
    next: (prefix) => `${prefix}${String((ids += 1)).padStart(6, "0")}`,
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
    const text = Buffer.concat(chunks).toString("utf8");
    const path = (request.url ?? "").split("?")[0] ?? "";
    const form = FORMS.find((one) => one.path.test(path));
    if (form === undefined) {
      response.writeHead(path.endsWith("/models") ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", data: [], models: [] }));
      return;
    }
    const body = JSON.parse(text) as JsonObject;
    const question = {
      path,
      body,
      headers: request.headers,
      tools: form.tools(body),
      answered: form.answered(body),
      text,
    };
    questions.push(question);
    const said = await answer(question);
    if (said.status !== undefined) {
      response.writeHead(said.status, { "content-type": "application/json" });
      response.end(JSON.stringify(form.wire.failure(said.status, said.message ?? "")));
      return;
    }
    const about = {
      model: word(body["model"]) || "m",
      usage: { ...USAGE, output: said.outputTokens ?? USAGE.output },
      memory,
    };
    const streamed = body["stream"] === true || path.includes(":streamGenerateContent");
    response.writeHead(200, { "content-type": streamed ? "text/event-stream" : "application/json" });
    if (!streamed) response.end(JSON.stringify(form.wire.whole(said, about)));
    else response.end(form.wire.write(said, about).join(""));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    questions,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
