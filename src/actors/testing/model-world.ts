import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { seededRandom } from "../../testing/random.ts";
import { ModelError } from "../models/model-error.ts";
import { ModelGateway } from "../model-gateway.ts";
import type { ModelAnswer, ModelCall, Models, ModelTool } from "../models/model.ts";
import type { RetryPatience } from "../providers/retry.ts";

/** The four kinds of providers, as they are asked over HTTP. */
export const KINDS = [
  { provider: "openai", model: "gpt-4o", path: "/v1" },
  { provider: "anthropic", model: "claude-sonnet-4-0", path: "" },
  { provider: "google", model: "gemini-2.5-flash", path: "/v1beta" },
  { provider: "vllm", model: "qwen3", path: "/v1" },
] as const;
export type Kind = (typeof KINDS)[number];

/** Keys that tests find in any output. */
export const KEYS = {
  OPENAI_API_KEY: "sk-proj-openai0openai1openai2openai3",
  ANTHROPIC_API_KEY: "sk-ant-anthropic0anthropic1anthropic2",
  GEMINI_API_KEY: "AIzaGoogle0Google1Google2Google3Google4",
  VLLM_API_KEY: "a-plain-key-of-ones-own",
} as const;

/** Sleeps nothing and says how long it would have slept. */
export function patience(): RetryPatience & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    random: seededRandom(1),
    now: Date.now,
    sleep: async (milliseconds, signal) => {
      signal.throwIfAborted();
      slept.push(milliseconds);
    },
  };
}

/** Every provider at this one server. */
export function settingsFor(url: string, more: Readonly<Record<string, string>> = {}): Map<string, string> {
  const urls = KINDS.map(({ provider, path }) => [`provider.${provider}.base-url`, `${url}${path}`] as const);
  return new Map([...urls, ...Object.entries(more)]);
}

export function gatewayAt(
  url: string,
  more: Readonly<Record<string, string>> = {},
  calm: RetryPatience = patience(),
): ModelGateway {
  const settings = settingsFor(url, more);
  return new ModelGateway({ settings, environment: KEYS, count: (text) => Math.ceil(text.length / 3), patience: calm });
}

export const READ_FILE: ModelTool = {
  name: "local/read_file",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export function callOf(
  kind: { provider: string; model: string },
  prompt: string,
  more: Partial<ModelCall> = {},
): ModelCall {
  return {
    model: { provider: kind.provider, model: kind.model },
    system: "You help.",
    messages: [{ role: "user", content: prompt }],
    tools: [],
    settings: {},
    signal: new AbortController().signal,
    ...more,
  };
}

export async function failure(models: Models, call: ModelCall): Promise<ModelError> {
  let answer: ModelAnswer;
  try {
    answer = await models.call(call);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error(`It answered ${JSON.stringify(answer).slice(0, 200)}.`);
}

/** A model server on loopback that speaks all four languages. */
export async function modelServer(): Promise<LLMock & AsyncDisposable> {
  const server = await LLMock.create({ port: 0 });
  return Object.assign(server, { [Symbol.asyncDispose]: async () => await server.stop() });
}

export interface PlainServer extends AsyncDisposable {
  readonly url: string;
  /** How many requests came. */
  readonly seen: () => number;
}

/** A server that does what no model server would. */
export async function plainServer(listener: RequestListener): Promise<PlainServer> {
  let seen = 0;
  const server = createServer((request, response) => {
    seen += 1;
    request.resume();
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen: () => seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
