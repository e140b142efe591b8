/** Tells which model a plan asks and what it may cost, before anything is sent. */
import { modelOf } from "../../actors/providers/actor-model.ts";
import { ollamaWindow } from "../../actors/providers/endpoint-models.ts";
import { configuredProviders, requireProvider } from "../../actors/providers/providers.ts";
import type { ModelRef } from "../../actors/models/model.ts";
import { actorNamed } from "../../catalog/stored-actor.ts";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";

/** The models of a plan's actors, without repetition; none for a plan of fixed tool calls. */
export async function modelsOfPlan(app: App, { actors }: Plan): Promise<ModelRef[]> {
  const store = await app.store();
  const names = [actors.strategy, actors.execution].filter((name) => name !== undefined);
  // As the plan itself finds them: a provider that was removed since is an error about the provider.
  return store.read(async (reader) => {
    const found: ActorDefinition[] = [];
    for (const name of names) found.push(await actorNamed(reader, name));
    return modelsOfActors(found);
  });
}

export function modelsOfActors(actors: readonly ActorDefinition[]): ModelRef[] {
  const refs = new Map<string, ModelRef>();
  for (const actor of actors) {
    if (actor.type === "tool" || (actor.type === "graph" && actor.model === undefined)) continue;
    const ref = modelOf(actor);
    refs.set(`${ref.provider}/${ref.model}`, ref);
  }
  return [...refs.values()];
}

/** Below this a conversation with tools soon loses its beginning. */
const ENOUGH_TOKENS = 16_384;

/**
 * Ollama drops the beginning of what is too long, the role first, and says nothing: its window is asked for, and told
 * when it is small.
 */
export async function learnLocalWindows(app: App, models: readonly ModelRef[], call: Call): Promise<void> {
  const providers = configuredProviders((await app.config()).global, app.environment);
  for (const ref of models) {
    const window = await ollamaWindow(requireProvider(providers, ref), ref.model, call.signal);
    if (window === undefined) continue;
    app.windows.set(`${ref.provider}/${ref.model}`, window.served);
    if (window.served >= ENOUGH_TOKENS) continue;
    const possible = window.possible === undefined ? "" : ` of the ${window.possible} it can read`;
    const text = `${ref.provider} serves ${ref.model} with ${window.served} tokens${possible} and drops the beginning of what is longer. Set num_ctx of the model, or OLLAMA_CONTEXT_LENGTH of the server, to ${ENOUGH_TOKENS} or more.`;
    call.tell({ type: "notice", level: "warning", text });
  }
}
