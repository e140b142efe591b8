/**
 * How the tiny agent asks its model, in four dialects and with nothing but `fetch`. A conversation is kept as the items
 * of its dialect, so that an answer goes back exactly as it came.
 */
export interface TinyTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface TinyCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface TinyAnswer {
  readonly text: string;
  readonly calls: readonly TinyCall[];
}

export interface TinyEndpoint {
  readonly dialect: string;
  readonly url: string;
  readonly token: string;
  readonly model: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The answer of a model server that is not a success. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`the model answered ${status}: ${text.slice(0, 500)}`);
    this.status = status;
  }
}

interface Dialect {
  readonly path: (model: string) => string;
  readonly headers: (token: string) => Readonly<Record<string, string>>;
  readonly body: (model: string, items: readonly unknown[], tools: readonly TinyTool[]) => Json;
  readonly user: (text: string) => unknown;
  readonly result: (call: TinyCall, text: string) => unknown;
  /** Several results in one turn, where the dialect wants them together. */
  readonly joined?: (results: readonly unknown[]) => unknown[];
  readonly read: (answer: Json) => TinyAnswer & { readonly items: readonly unknown[] };
}

const MOST_TOKENS = 4_096;

/** Asks with the conversation so far; the answer becomes part of it. */
export class TinyConversation {
  readonly #endpoint: TinyEndpoint;
  readonly #dialect: Dialect;
  readonly #items: unknown[] = [];

  constructor(endpoint: TinyEndpoint) {
    const dialect = DIALECTS[endpoint.dialect];
    if (dialect === undefined) throw new Error(`TINY_DIALECT is "${endpoint.dialect}"`);
    this.#endpoint = endpoint;
    this.#dialect = dialect;
  }

  say(text: string): void {
    this.#items.push(this.#dialect.user(text));
  }

  answerCalls(results: readonly { readonly call: TinyCall; readonly text: string }[]): void {
    const items = results.map(({ call, text }) => this.#dialect.result(call, text));
    this.#items.push(...(this.#dialect.joined?.(items) ?? items));
  }

  async ask(tools: readonly TinyTool[], signal: AbortSignal): Promise<TinyAnswer> {
    const { url, token, model } = this.#endpoint;
    const response = await fetch(`${url}${this.#dialect.path(model)}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#dialect.headers(token) },
      body: JSON.stringify(this.#dialect.body(model, this.#items, tools)),
      signal,
    });
    const text = await response.text();
    if (!response.ok) throw new RefusedError(response.status, text);
    const { items, ...answer } = this.#dialect.read(JSON.parse(text) as Json);
    this.#items.push(...items);
    return answer;
  }
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const object = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const word = (value: unknown): string => (typeof value === "string" ? value : "");
const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
const parsed = (text: unknown): Json => JSON.parse(word(text) || "{}") as Json;

const ANTHROPIC: Dialect = {
  path: () => "/v1/messages",
  headers: (token) => ({ "x-api-key": token, "anthropic-version": "2023-06-01" }),
  body: (model, messages, tools) => ({
    model,
    max_tokens: MOST_TOKENS,
    messages,
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })) }),
  }),
  user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
  result: (call, text) => ({ type: "tool_result", tool_use_id: call.id, content: text }),
  joined: (results) => [{ role: "user", content: results }],
  read: (answer) => {
    const content = list(answer["content"]);
    const calls = content.filter((block) => block["type"] === "tool_use");
    return {
      text: content.map((block) => word(block["text"])).join(""),
      calls: calls.map((block) => ({
        id: word(block["id"]),
        name: word(block["name"]),
        input: object(block["input"]),
      })),
      items: [{ role: "assistant", content }],
    };
  },
};

const CHAT: Dialect = {
  path: () => "/v1/chat/completions",
  headers: bearer,
  body: (model, messages, tools) => ({
    model,
    messages,
    max_tokens: MOST_TOKENS,
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
  }),
  user: (content) => ({ role: "user", content }),
  result: (call, content) => ({ role: "tool", tool_call_id: call.id, content }),
  read: (answer) => {
    const message = object(list(answer["choices"])[0]?.["message"]);
    const calls = list(message["tool_calls"]);
    return {
      text: word(message["content"]),
      calls: calls.map((call) => {
        const made = object(call["function"]);
        return { id: word(call["id"]), name: word(made["name"]), input: parsed(made["arguments"]) };
      }),
      items: [
        {
          role: "assistant",
          content: word(message["content"]),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      ],
    };
  },
};

const RESPONSES: Dialect = {
  path: () => "/v1/responses",
  headers: bearer,
  body: (model, input, tools) => ({
    model,
    input,
    store: false,
    max_output_tokens: MOST_TOKENS,
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })) }),
  }),
  user: (text) => ({ role: "user", content: [{ type: "input_text", text }] }),
  result: (call, output) => ({ type: "function_call_output", call_id: call.id, output }),
  read: (answer) => {
    const output = list(answer["output"]);
    const calls = output.filter((item) => item["type"] === "function_call");
    const text = output
      .filter((item) => item["type"] === "message")
      .flatMap((item) => list(item["content"]))
      .map((block) => word(block["text"]))
      .join("");
    return {
      text,
      calls: calls.map((item) => ({
        id: word(item["call_id"]),
        name: word(item["name"]),
        input: parsed(item["arguments"]),
      })),
      items: [
        ...(text === "" ? [] : [{ role: "assistant", content: text }]),
        ...calls.map((item) => ({
          type: "function_call",
          call_id: item["call_id"],
          name: item["name"],
          arguments: item["arguments"],
        })),
      ],
    };
  },
};

const GEMINI: Dialect = {
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  headers: (token) => ({ "x-goog-api-key": token }),
  body: (_model, contents, tools) => ({
    contents,
    generationConfig: { maxOutputTokens: MOST_TOKENS },
    ...(tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters }) => ({
                name,
                description,
                parametersJsonSchema: parameters,
              })),
            },
          ],
        }),
  }),
  user: (text) => ({ role: "user", parts: [{ text }] }),
  result: (call, text) => ({
    functionResponse: { ...(call.id === "" ? {} : { id: call.id }), name: call.name, response: { output: text } },
  }),
  joined: (parts) => [{ role: "user", parts }],
  read: (answer) => {
    const content = object(list(answer["candidates"])[0]?.["content"]);
    const parts = list(content["parts"]);
    const calls = parts
      .filter((part) => part["functionCall"] !== undefined)
      .map((part) => object(part["functionCall"]));
    return {
      text: parts.map((part) => (part["thought"] === true ? "" : word(part["text"]))).join(""),
      calls: calls.map((call) => ({ id: word(call["id"]), name: word(call["name"]), input: object(call["args"]) })),
      items: [{ role: "model", parts }],
    };
  },
};

const DIALECTS: Readonly<Record<string, Dialect>> = {
  anthropic: ANTHROPIC,
  "openai-chat": CHAT,
  "openai-responses": RESPONSES,
  gemini: GEMINI,
};
