/**
 * A model server on loopback that is as strict as the providers are: it answers 400 to broken order, results without
 * calls, calls without results, missing or changed signatures and reasoning, unknown fields, unknown words in schemas
 * and prompts over its window. It keeps a prompt cache and says in each answer how much of the prompt was read from it.
 * The answer of the model is a function of the request. A plain module, for tests and measurements alike.
 */
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import type { JsonObject } from "../../domain/values/json.ts";
import { anthropicWire } from "./wires/anthropic.ts";
import { chatWire } from "./wires/chat.ts";
import { geminiWire } from "./wires/gemini.ts";
import { PromptCache, type Count } from "./wires/prompt-cache.ts";
import { responsesWire } from "./wires/responses.ts";
import {
  WireError,
  type ReadRequest,
  type Wire,
  type WireMemory,
  type WireName,
  type WireScript,
  type WireUsage,
} from "./wires/wire.ts";

export interface StrictServer extends AsyncDisposable {
  /** Without a path; `strictSettings` has what each provider wants behind it. */
  readonly url: string;
  /** All requests, refused ones included, in the order in which they came. */
  readonly log: readonly LoggedRequest[];
}

export interface LoggedRequest {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** Why it was refused; undefined when it was answered. */
  readonly refused?: string;
  readonly usage?: WireUsage;
}

export interface StrictServerOptions {
  readonly script: WireScript;
  /** Tokens of the longest prompt it takes. */
  readonly window?: number;
  readonly count?: Count;
  /** A file to which each request is appended as a line of JSON. */
  readonly logFile?: string;
  /** Answers what is not one of the four wires, such as a list of models. */
  readonly other?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const ROUTES: readonly (readonly [RegExp, WireName])[] = [
  [/\/messages$/, "anthropic"],
  [/\/chat\/completions$/, "chat"],
  [/\/responses$/, "responses"],
  [/:(?:stream)?[gG]enerateContent/, "gemini"],
];
const WIRE: Readonly<Record<WireName, Wire>> = {
  anthropic: anthropicWire,
  chat: chatWire,
  gemini: geminiWire,
  responses: responsesWire,
};
const TOO_LONG: Readonly<Record<WireName, (is: number, most: number) => string>> = {
  anthropic: (is, most) => `prompt is too long: ${is} tokens > ${most} maximum`,
  chat: (is, most) =>
    `This model's maximum context length is ${most} tokens. However, your messages have ${is} tokens.`,
  responses: () => "Your input exceeds the context window of this model. Please adjust your input and try again.",
  gemini: (is, most) => `The input token count (${is}) exceeds the maximum number of tokens allowed (${most}).`,
};

interface CameRequest {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export async function strictServer(options: StrictServerOptions): Promise<StrictServer> {
  const model = new StrictModel(options);
  const server = createServer((request, response) => {
    void (async () => {
      const text = await bodyOf(request);
      const path = request.url ?? "";
      const wire = ROUTES.find(([route]) => route.test(path.split("?")[0] ?? ""))?.[1];
      if (wire === undefined) {
        if (options.other?.(request, response) !== true) response.writeHead(404).end("{}");
        return;
      }
      await model.answer({ wire, path, headers: headersOf(request), text }, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    log: model.log,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class StrictModel {
  readonly log: LoggedRequest[] = [];
  readonly #options: StrictServerOptions;
  readonly #count: Count;
  readonly #memory: WireMemory;

  constructor(options: StrictServerOptions) {
    this.#options = options;
    this.#count = options.count ?? ((text) => Math.ceil(text.length / 4));
    let ids = 0;
    this.#memory = {
      issued: new Map(),
      cache: new PromptCache(this.#count),
      next: (prefix) => `${prefix}${String((ids += 1)).padStart(6, "0")}`,
    };
  }

  async answer({ wire, path, headers, text }: CameRequest, response: ServerResponse): Promise<void> {
    const spoken = WIRE[wire];
    const body: JsonObject = z.record(z.string(), z.json()).catch({}).parse(parsedJson(text));
    const refuse = (status: number, message: string, more: Readonly<Record<string, string>> = {}): void => {
      this.#record({ wire, path, headers, body, refused: message });
      response.writeHead(status, { "content-type": "application/json", ...more });
      response.end(JSON.stringify(spoken.failure(status, message)));
    };
    let read: ReadRequest;
    try {
      read = spoken.read(body, path, this.#memory);
    } catch (error) {
      if (error instanceof WireError) return refuse(error.status, error.message);
      return refuse(500, error instanceof Error ? error.message : String(error));
    }
    const { window = Number.POSITIVE_INFINITY } = this.#options;
    if (read.usage.input > window) return refuse(400, TOO_LONG[wire](read.usage.input, window));
    const { usage: sent, ...rest } = read;
    const said = await this.#options.script({ wire, headers, before: this.log.length, ...rest });
    if ("status" in said) return refuse(said.status, said.message, said.headers);
    const spelled = `${said.reasoning ?? ""}${said.text ?? ""}${JSON.stringify(said.calls ?? "")}`;
    const usage: WireUsage = { ...sent, output: Math.max(1, this.#count(spelled)) };
    this.#record({ wire, path, headers, body, usage });
    const about = { model: read.model, usage, memory: this.#memory };
    if (body["stream"] !== true && !path.includes(":streamGenerateContent")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(spoken.whole(said, about)));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const written = spoken.write(said, about);
    if (said.breaksOff === true) return breakOff(response, written.slice(0, Math.ceil(written.length / 2)));
    for (const piece of written) response.write(piece);
    response.end();
  }

  /** Before the answer: a caller that has its answer finds it in the log. */
  #record(logged: LoggedRequest): void {
    this.log.push(logged);
    const { logFile } = this.#options;
    if (logFile !== undefined) appendFileSync(logFile, `${JSON.stringify(logged)}\n`);
  }
}

/** The settings with which each kind of provider asks at this server; the compatible one is called "vllm". */
export function strictSettings(url: string): Readonly<Record<string, string>> {
  return {
    "provider.anthropic.base-url": `${url}/v1`,
    "provider.openai.base-url": `${url}/v1`,
    "provider.google.base-url": `${url}/v1beta`,
    "provider.vllm.base-url": `${url}/v1`,
  };
}

/** The pieces reach the caller before the connection is gone. */
function breakOff(response: ServerResponse, pieces: readonly string[]): void {
  response.write(pieces.join(""), () => setTimeout(() => response.destroy(), 20));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
