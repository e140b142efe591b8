import { modelActor } from "../actors/providers/built-in-actors.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { modelNamed } from "../domain/names/actor-name.ts";
import { AgentsError, ConfigurationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { findActor } from "../store/tables/actors.ts";
import type { Reader } from "../store/port.ts";

/**
 * The actor that a name stands for: a registered actor, or a model that needs no registration, with all tools and no
 * system prompt of its own.
 */
export async function actorNamed(reader: Reader, name: QualifiedName): Promise<ActorDefinition> {
  const registered = await findActor(reader, name);
  if (registered !== undefined) return registered;
  const model = modelNamed(name);
  if (model !== undefined) return modelActor(name, model);
  throw new AgentsError("not_found", `The actor "${name}" is not registered.`, {
    kept: "The plan was not changed.",
    next: [nextStep("actor.list"), nextStep("actor.add", { definition: { file: "<file>" } })],
    detail: { kind: "actor", id: name },
  });
}

export type ModelActorDefinition = Exclude<ActorDefinition, { readonly type: "tool" }>;

/** A tool actor has its steps; it can neither decide on steps nor carry out those of another actor. */
export function requireModel(actor: ActorDefinition): ModelActorDefinition {
  if (actor.type !== "tool") return actor;
  throw new ConfigurationError(`The actor "${actor.name}" asks no model, so it cannot think for this plan.`, {
    kept: "Nothing was changed.",
    next: [nextStep("actor.show", { actor: actor.name })],
  });
}
