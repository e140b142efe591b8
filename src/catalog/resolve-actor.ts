import { builtInActor, offeredActors } from "../actors/providers/built-in-actors.ts";
import { configuredProviders, requireProvider } from "../actors/providers/providers.ts";
import { knownAgentActor } from "../domain/actor/known-agents.ts";
import { actorNameOf, agentNamed, AGENT_NAMES } from "../domain/names/agent-names.ts";
import { modelNamed, parseActorName } from "../domain/names/actor-name.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { PROVIDER_TYPES } from "../domain/settings/provider-settings.ts";
import { nearest } from "../domain/text/suggest.ts";
import { actorNames, findActor } from "../store/tables/actors.ts";
import type { Store } from "../store/port.ts";
import type { Environment } from "../domain/values/environment.ts";

export interface ActorSources {
  readonly store: Store;
  /** The values of the configuration file. */
  readonly settings: ReadonlyMap<string, string>;
  readonly environment: Environment;
}

/** The actor of this name: a registered one, or a model of a configured provider by itself. */
export async function resolveActor(text: string, sources: ActorSources): Promise<ActorDefinition> {
  const providers = configuredProviders(sources.settings, sources.environment);
  const builtIn = builtInActor(text, providers);
  // An actor that is only asked once may have a name that no plan could store: the path of a transcript.
  if (builtIn !== undefined && !isActorName(text)) return builtIn;
  const name = parseActorName(text);
  const registered = await sources.store.read((reader) => findActor(reader, name));
  if (registered !== undefined) return registered;
  if (builtIn !== undefined) return builtIn;
  const agent = agentNamed(name);
  if (agent !== undefined) return knownAgentActor(agent);
  const ref = modelNamed(name);
  // A known provider without a key is told apart from an unknown name.
  if (ref !== undefined && PROVIDER_TYPES.some((type) => type === ref.provider)) requireProvider(providers, ref);
  const offered = offeredActors(providers);
  const agents = AGENT_NAMES.map(actorNameOf);
  const known = [...(await sources.store.read(actorNames)), ...offered.map((actor) => actor.name), ...agents];
  const suggestion = offered.find(({ model }) => model === text)?.name ?? nearest(name, known);
  throw new NotFoundError("actor", name, {
    kept: "Nothing was written and nothing was sent.",
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: suggestion === undefined ? [nextStep("actor.list")] : [nextStep("actor.show", { actor: suggestion })],
  });
}

function isActorName(text: string): boolean {
  try {
    parseActorName(text);
    return true;
  } catch {
    return false;
  }
}
