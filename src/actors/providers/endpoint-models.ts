/**
 * The facts that an endpoint gives of its own models: `/models` of those that speak OpenAI's language, and Ollama's
 * `/api/show`, which knows the window a model is served with.
 */
import * as z from "zod";
import { guardedFetch } from "./guarded-fetch.ts";
import type { Provider } from "./providers.ts";

export interface EndpointModels {
  readonly models: readonly string[];
  /** Tokens, by model, where the endpoint says. */
  readonly windows: ReadonlyMap<string, number>;
  readonly problem?: string;
}

const TIMEOUT_MS = 10_000;
/** For a question that a run could do without. */
const SHORT_MS = 2_000;

const List = z.object({
  data: z.array(
    z.object({ id: z.string(), context_length: z.number().optional(), max_model_len: z.number().optional() }),
  ),
});

/** Undefined for providers whose models are publicly known. */
export async function listedByEndpoint(provider: Provider, signal: AbortSignal): Promise<EndpointModels | undefined> {
  if (provider.type !== "openai-compatible" || provider.baseUrl === undefined) return undefined;
  try {
    const list = List.parse(await json(provider, `${provider.baseUrl}/models`, {}, signal));
    const windows = new Map<string, number>();
    for (const { id, context_length: length, max_model_len: served } of list.data) {
      const window = served ?? length;
      if (window !== undefined) windows.set(id, window);
    }
    const models = list.data.map(({ id }) => id);
    return { models, windows: windows.size > 0 ? windows : await ollamaWindows(provider, models, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { models: [], windows: new Map(), problem: error instanceof Error ? error.message : String(error) };
  }
}

const Shown = z.object({
  parameters: z.string().optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
  capabilities: z.array(z.string()).optional(),
});

export interface OllamaWindow {
  /** Tokens it is served with: what is over it is cut off at the beginning, without a word. */
  readonly served: number;
  /** Tokens the model could read. */
  readonly possible: number | undefined;
  /** Whether the model can see images; undefined when the server does not say. */
  readonly images: boolean | undefined;
}

/** Ollama serves so many tokens unless the model or the server says otherwise. */
const OLLAMA_DEFAULT = 4_096;

/** Whether the endpoint may be Ollama's. */
export function mayBeOllama({ type, local, baseUrl }: Provider): boolean {
  return type === "openai-compatible" && local && baseUrl !== undefined;
}

/** Undefined when the endpoint is not Ollama's, or does not answer soon. */
export async function ollamaWindow(
  provider: Provider,
  model: string,
  signal: AbortSignal,
): Promise<OllamaWindow | undefined> {
  if (!mayBeOllama(provider) || provider.baseUrl === undefined) return undefined;
  const root = provider.baseUrl.replace(/\/v1$/, "");
  const body = { method: "POST", body: JSON.stringify({ model }) };
  const soon = AbortSignal.any([signal, AbortSignal.timeout(SHORT_MS)]);
  const answer = await json(provider, `${root}/api/show`, body, soon).catch(() => undefined);
  const shown = Shown.safeParse(answer);
  if (answer === undefined || !shown.success) return undefined;
  const [, set] = /^num_ctx\s+(\d+)$/m.exec(shown.data.parameters ?? "") ?? [];
  const possible = Object.entries(shown.data.model_info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
  const most = typeof possible === "number" ? possible : undefined;
  const served = set === undefined ? Math.min(OLLAMA_DEFAULT, most ?? OLLAMA_DEFAULT) : Number(set);
  return { served, possible: most, images: shown.data.capabilities?.includes("vision") };
}

async function ollamaWindows(
  provider: Provider,
  models: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const windows = new Map<string, number>();
  for (const model of models.slice(0, 50)) {
    const window = await ollamaWindow(provider, model, signal);
    // The first one shows that it is another server.
    if (window === undefined) return windows;
    windows.set(model, window.served);
  }
  return windows;
}

async function json(provider: Provider, url: string, init: RequestInit, signal: AbortSignal): Promise<unknown> {
  const { name, baseUrl = url, apiKey } = provider;
  const send = guardedFetch({ model: { provider: name, model: "models" }, baseUrl, idleTimeoutMs: TIMEOUT_MS });
  const response = await send(url, {
    ...init,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` }),
    },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return JSON.parse(text);
}
