/** The models that a user could choose now: of providers that can be asked, and of those that need only a key. */
import { listedByEndpoint } from "../../actors/providers/endpoint-models.ts";
import { isUsable, knownProviders, type Provider } from "../../actors/providers/providers.ts";
import { isLocalHost } from "../../domain/network/endpoint-address.ts";
import type { App } from "../base/app.ts";

interface Offered {
  readonly provider: string;
  /** How it can be asked, or that it needs a key. */
  readonly by: string;
  /** As actors are named: provider/model. */
  readonly models: readonly string[];
}

export interface FoundModels {
  readonly ready: readonly Offered[];
  readonly others: readonly Offered[];
  /** The names of all providers that need no more than a key, or are found. */
  readonly known: readonly string[];
  /** The address of an Ollama server that answers and is not configured yet. */
  readonly local: string | undefined;
}

const MOST_MODELS = 4;
const NEEDING_A_KEY = ["anthropic", "openai", "google"];
/** A server of this machine answers at once, or is not there. */
const SHORT_MS = 500;

export async function findModels(app: App, signal: AbortSignal): Promise<FoundModels> {
  const { global } = await app.config();
  const facts = await app.modelFacts();
  const known = knownProviders(global, app.environment, facts).filter(({ type }) => type !== "scripted");
  const configured = known.filter(isUsable);
  const offered = await Promise.all(configured.map((one) => offeredBy(app, one, signal)));
  const [local, found] = configured.some(({ name }) => name === "ollama")
    ? [undefined, []]
    : await localServer(app, signal);
  const others = known
    .filter((one) => NEEDING_A_KEY.includes(one.name) && !isUsable(one))
    .map(({ name, type }) => ({
      provider: name,
      by: "needs a key",
      models: facts
        .modelsOf(type, name)
        .slice(0, 2)
        .map((model) => `${name}/${model}`),
    }));
  const ready = [...offered, ...found];
  const names = [...known.map(({ name }) => name), ...ready.map(({ provider }) => provider)];
  return { ready, others, known: names, local };
}

async function offeredBy(app: App, provider: Provider, signal: AbortSignal): Promise<Offered> {
  const { name, type, models } = provider;
  const facts = await app.modelFacts();
  const own = models.length > 0 ? models : facts.modelsOf(type, name);
  const asked = own.length > 0 ? own : await modelsAt(provider, signal);
  return {
    provider: name,
    by: waysOf(app, provider),
    models: asked.slice(0, MOST_MODELS).map((one) => `${name}/${one}`),
  };
}

function waysOf(app: App, { apiKey, keyVariables, baseUrl = "" }: Provider): string {
  if (apiKey === undefined) return `at ${baseUrl}`;
  const variable = keyVariables.find((name) => app.environment[name] !== undefined);
  return variable === undefined ? "by its stored key" : `by ${variable}`;
}

async function modelsAt(provider: Provider, signal: AbortSignal): Promise<readonly string[]> {
  const short = AbortSignal.any([signal, AbortSignal.timeout(SHORT_MS)]);
  const listed = await listedByEndpoint(provider, short).catch((): undefined => {
    // It did not answer in time; the command itself may have been stopped.
    signal.throwIfAborted();
  });
  return listed?.models ?? [];
}

/** Ollama's own address, or the one that its variable says, on this machine only. */
async function localServer(app: App, signal: AbortSignal): Promise<[string | undefined, Offered[]]> {
  const address = ollamaAddress(app.environment["OLLAMA_HOST"]);
  if (address === undefined) return [undefined, []];
  const settings = new Map([["provider.ollama.base-url", address]]);
  const facts = await app.modelFacts();
  const [ollama] = knownProviders(settings, {}, facts).filter(({ name }) => name === "ollama");
  const models = ollama === undefined ? [] : await modelsAt(ollama, signal);
  if (models.length === 0) return [undefined, []];
  const names = models.slice(0, MOST_MODELS).map((one) => `ollama/${one}`);
  return [address, [{ provider: "ollama", by: `at ${address}`, models: names }]];
}

function ollamaAddress(host = "127.0.0.1:11434"): string | undefined {
  const url = host.includes("://") ? host : `http://${host}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, origin } = new URL(url);
  const loopback = isLocalHost(hostname) && /^(?:127\.|localhost$|\[::1\]$)/.test(hostname);
  return loopback ? `${origin}/v1` : undefined;
}
