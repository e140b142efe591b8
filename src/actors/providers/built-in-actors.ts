import type { LlmActorDefinition } from "../../domain/actor/actor.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import type { ModelRef } from "../models/model.ts";
import { parseModelRef, type Provider } from "./providers.ts";

/**
 * Each model of a configured provider is an actor: `<provider>/<model>`, the model by itself. They are computed on each
 * request and never stored, so they always match the current configuration.
 */
export function builtInActor(name: string, providers: readonly Provider[]): LlmActorDefinition | undefined {
  const { provider, model } = parseModelRef(name);
  if (model === "" || !providers.some((one) => one.name === provider)) return undefined;
  return modelActor(name as QualifiedName, { provider, model });
}

/** A model as an actor, with all tools and nothing of its own to say. */
export function modelActor(name: QualifiedName, { provider, model }: ModelRef): LlmActorDefinition {
  return {
    name,
    type: "llm",
    description: "The model by itself, from the configuration",
    provider,
    model,
    systemPrompt: "",
    options: {},
    tools: undefined,
    contextView: undefined,
    memory: {},
    responseFormat: undefined,
    unsafe: false,
  };
}

/** Those to show; a provider may be asked for others too. */
export function offeredActors(providers: readonly Provider[]): LlmActorDefinition[] {
  return providers.flatMap(({ name, models }) =>
    models.flatMap((model) => builtInActor(`${name}/${model}`, providers) ?? []),
  );
}
