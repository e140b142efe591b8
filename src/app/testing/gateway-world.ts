/** A gateway as a user has it, opened through the package on a real store, in front of a strict model server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strictServer, strictSettings, type StrictServer } from "../../actors/testing/strict-server.ts";
import type { WireScript } from "../../actors/testing/wires/wire.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { openCleverAgents, type CleverAgents } from "../open.ts";
import type { InputOf, OutputOf } from "../table/operation-table.ts";

export const GATEWAY_DIALECTS = ["anthropic", "chat", "responses", "gemini"] as const;
export type GatewayDialect = (typeof GATEWAY_DIALECTS)[number];

/** Real keys, which only the provider may see. */
export const REAL_KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real0real1real2real3real4",
  OPENAI_API_KEY: "sk-proj-real0real1real2real3real4",
  GEMINI_API_KEY: "AIzaReal0Real1Real2Real3Real4Real5Real6",
} as const;

/** Dollars for a million tokens, of every model here. */
export const PRICE = { input: 3, output: 15 };

const PROVIDER = { anthropic: "anthropic", chat: "openai", responses: "openai", gemini: "google" } as const;

export class GatewayWorld implements AsyncDisposable {
  readonly agents: CleverAgents;
  readonly server: StrictServer;
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly events: RunEvent[];
  readonly #stop: AbortController;
  readonly #done: Promise<OutputOf<"gateway">>;

  private constructor(parts: {
    agents: CleverAgents;
    server: StrictServer;
    directory: string;
    variables: Readonly<Record<string, string>>;
    events: RunEvent[];
    stop: AbortController;
    done: Promise<OutputOf<"gateway">>;
  }) {
    this.agents = parts.agents;
    this.server = parts.server;
    this.directory = parts.directory;
    this.variables = parts.variables;
    this.events = parts.events;
    this.#stop = parts.stop;
    this.#done = parts.done;
  }

  static async open(
    options: {
      readonly script?: WireScript;
      readonly server?: StrictServer;
      readonly input?: Partial<InputOf<"gateway">>;
      readonly settings?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<GatewayWorld> {
    const directory = mkdtempSync(join(tmpdir(), "cleveragents-gateway-"));
    const server = options.server ?? (await strictServer({ script: options.script ?? (() => ({ text: "hello" })) }));
    const prices = ["anthropic", "openai", "google"].map((name) => [
      `provider.${name}.prices`,
      `*=${PRICE.input}/${PRICE.output}`,
    ]);
    const agents = await openCleverAgents({
      dataDir: join(directory, "data"),
      directory,
      environment: { PATH: process.env["PATH"], ...REAL_KEYS },
      settings: { ...strictSettings(server.url), ...Object.fromEntries(prices), ...options.settings },
    });
    const stop = new AbortController();
    const ready = Promise.withResolvers<Readonly<Record<string, string>>>();
    const events: RunEvent[] = [];
    const done = agents.run(
      "gateway",
      { directory, ...options.input },
      {
        signal: stop.signal,
        tell: (event) => {
          events.push(event);
          if (event.type === "gateway_ready") ready.resolve(event.variables);
        },
      },
    );
    done.catch(ready.reject);
    return new GatewayWorld({ agents, server, directory, variables: await ready.promise, events, stop, done });
  }

  get url(): string {
    return this.variables["ANTHROPIC_BASE_URL"] ?? "";
  }

  get token(): string {
    return this.variables["ANTHROPIC_API_KEY"] ?? "";
  }

  /** Stops the gateway; the bill of the run. */
  stop(): Promise<OutputOf<"gateway">> {
    this.#stop.abort();
    return this.#done;
  }

  ask(
    dialect: GatewayDialect,
    more: Asked & { readonly token?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Response> {
    const { path, body } = askOf(dialect, more);
    const { signal, token = this.token } = more;
    const init = { method: "POST", headers: headersOf(dialect, token), body: JSON.stringify(body) };
    return fetch(`${this.url}${path}`, signal === undefined ? init : { ...init, signal });
  }

  async costToday(): Promise<NonNullable<OutputOf<"info">["costToday"]>> {
    const { costToday } = await this.agents.run("info", {});
    if (costToday === null) throw new Error("There is no store.");
    return costToday;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.agents[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface Asked {
  readonly prompt?: string;
  readonly stream?: boolean;
  readonly model?: string;
  /** Besides the usual body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

export function headersOf(dialect: GatewayDialect, token: string): Record<string, string> {
  const type = { "content-type": "application/json" };
  if (dialect === "anthropic") return { ...type, "x-api-key": token, "anthropic-version": "2023-06-01" };
  if (dialect === "gemini") return { ...type, "x-goog-api-key": token };
  return { ...type, authorization: `Bearer ${token}` };
}

/** A small request in each dialect, as agents send it. */
export function askOf(
  dialect: GatewayDialect,
  { prompt = "Say hello.", stream = true, model = `a-model-of-${PROVIDER[dialect]}`, body: more = {} }: Asked = {},
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  switch (dialect) {
    case "anthropic": {
      const messages = [{ role: "user", content: [{ type: "text", text: prompt }] }];
      return { path: "/v1/messages", body: { model, max_tokens: 1_000, messages, stream, ...more } };
    }
    case "chat":
      return {
        path: "/v1/chat/completions",
        body: { model, max_tokens: 1_000, messages: [{ role: "user", content: prompt }], stream, ...more },
      };
    case "responses": {
      const input = [{ role: "user", content: [{ type: "input_text", text: prompt }] }];
      return { path: "/v1/responses", body: { model, max_output_tokens: 1_000, input, stream, store: false, ...more } };
    }
    case "gemini": {
      const contents = [{ role: "user", parts: [{ text: prompt }] }];
      const path = `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
      return { path, body: { contents, generationConfig: { maxOutputTokens: 1_000 }, ...more } };
    }
  }
}
