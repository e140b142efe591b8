/** Tells which model a plan asks and what it may cost, before anything is sent. */
import { modelOf } from "../../actors/providers/actor-model.ts";
import { mayBeOllama, ollamaWindow, type OllamaWindow } from "../../actors/providers/endpoint-models.ts";
import { configuredProviders, requireProvider, type Provider } from "../../actors/providers/providers.ts";
import type { ModelRef } from "../../actors/models/model.ts";
import { actorNamed } from "../../catalog/stored-actor.ts";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { stepActorsOf } from "../../ledger/plan-step-actors.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";

/** The models of a plan's actors, without repetition; none for a plan of fixed tool calls. */
export async function modelsOfPlan(app: App, { id, actors }: Plan): Promise<ModelRef[]> {
  const store = await app.store();
  const others = await store.read((reader) => stepActorsOf(reader, id));
  const names = [actors.strategy, actors.execution, ...others].filter((name) => name !== undefined);
  const found: ActorDefinition[] = [];
  for (const name of names) {
    // As the plan itself finds it: a provider that was removed since is an error about the provider.
    // A plan whose steps are decided may do without its actor; one that needs it says so when it asks for it.
    const actor = await store.read((reader) => actorNamed(reader, name)).catch(ifNotFound);
    if (actor !== undefined) found.push(actor);
  }
  return modelsOfActors(app, found);
}

export async function modelsOfActors(app: App, actors: readonly ActorDefinition[]): Promise<ModelRef[]> {
  const refs = new Map<string, ModelRef>();
  for (const actor of actors) {
    if (actor.type === "tool" || (actor.type === "graph" && actor.model === undefined)) continue;
    const ref = actor.type === "acp" ? await app.agentModel(actor) : modelOf(actor);
    refs.set(`${ref.provider}/${ref.model}`, ref);
  }
  return [...refs.values()];
}

function ifNotFound(error: unknown): undefined {
  if (error instanceof AgentsError && error.code === "not_found") return undefined;
  throw error;
}

/** Below this a conversation with tools soon loses its beginning. */
const ENOUGH_TOKENS = 16_384;

/** How long an endpoint that did not answer is not asked again. */
const SILENCE_MS = 5 * 60_000;

/** A model of a server that may say more of it than is publicly known. */
interface LocalModel {
  readonly ref: ModelRef;
  readonly provider: Provider;
}

/** Those of the models whose servers are worth asking. A provider that is not configured is an error here. */
export async function localModels(app: App, models: readonly ModelRef[]): Promise<LocalModel[]> {
  const providers = configuredProviders((await app.config()).global, app.environment, await app.modelFacts());
  return models
    .map((ref) => ({ ref, provider: requireProvider(providers, ref) }))
    .filter(({ ref, provider }) => mayBeOllama(provider) && provider.facts(ref.model)?.contextWindow === undefined);
}

/**
 * Ollama drops the beginning of what is too long, the role first, and says nothing: its window is asked for, and told
 * when it is small. It is asked beside the work, which can do without the answer.
 */
export async function whileLearning<T>(
  app: App,
  models: readonly LocalModel[],
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const learning = learnLocalModels(app, models, { ...call, signal: AbortSignal.any([call.signal, ended.signal]) });
  try {
    return await work();
  } finally {
    ended.abort();
    await learning;
  }
}

/** Never rejects. */
async function learnLocalModels(app: App, models: readonly LocalModel[], call: Call): Promise<void> {
  for (const { ref, served, possible } of await askedModels(app, models, call.signal)) {
    if (served >= ENOUGH_TOKENS) continue;
    const most = possible === undefined ? "" : ` of the ${possible} it can read`;
    const text = `${ref.provider} serves ${ref.model} with ${served} tokens${most} and drops the beginning of what is longer. Set num_ctx of the model, or OLLAMA_CONTEXT_LENGTH of the server, to ${ENOUGH_TOKENS} or more.`;
    call.tell({ type: "notice", level: "warning", text });
  }
}

/** The answers of the servers; kept for the calls of this process. Never rejects. */
export async function askedModels(
  app: App,
  models: readonly LocalModel[],
  signal: AbortSignal,
): Promise<(OllamaWindow & { readonly ref: ModelRef })[]> {
  const answers = await Promise.all(
    models.map(async ({ ref, provider }) => {
      const { baseUrl = "" } = provider;
      if ((app.silentUntil.get(baseUrl) ?? 0) > performance.now()) return [];
      const window = await ollamaWindow(provider, ref.model, signal);
      if (window === undefined) {
        app.silentUntil.set(baseUrl, performance.now() + SILENCE_MS);
        return [];
      }
      app.learned.set(`${ref.provider}/${ref.model}`, { window: window.served, images: window.images });
      return [{ ref, ...window }];
    }),
  );
  return answers.flat();
}
