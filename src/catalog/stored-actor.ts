import { modelActor } from "../actors/providers/built-in-actors.ts";
import { noStrategistError } from "../domain/actor/actor-errors.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { knownAgentActor } from "../domain/actor/known-agents.ts";
import { agentNamed } from "../domain/names/agent-names.ts";
import { modelNamed } from "../domain/names/actor-name.ts";
import { AgentsError, ConfigurationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { parseOwnName, type QualifiedName } from "../domain/names/qualified-name.ts";
import { isSkillSetName } from "../domain/skill/skill-text.ts";
import { resolvedSkills } from "../domain/tool/tool-skill.ts";
import { findActor } from "../store/tables/actors.ts";
import type { Reader } from "../store/port.ts";
import { storedToolSkills } from "./skill-service.ts";

/**
 * The actor that a name stands for: a registered actor, or one that needs no registration. That is a known agent, or a
 * model with all tools and no system prompt of its own.
 */
export async function actorNamed(reader: Reader, name: QualifiedName): Promise<ActorDefinition> {
  const registered = await findActor(reader, name);
  if (registered !== undefined) return withSkillSets(reader, registered);
  const agent = agentNamed(name);
  if (agent !== undefined) return knownAgentActor(agent);
  const model = modelNamed(name);
  if (model !== undefined) return modelActor(name, model);
  throw new AgentsError("not_found", `The actor "${name}" is not registered.`, {
    kept: "The plan was not changed.",
    next: [nextStep("actor.list"), nextStep("actor.add", { definition: { file: "<file>" } })],
    detail: { kind: "actor", id: name },
  });
}

/** With the tools of the sets that it names in place of their names; without a list of tools it has these alone. */
async function withSkillSets(reader: Reader, actor: ActorDefinition): Promise<ActorDefinition> {
  if (actor.type !== "llm" && actor.type !== "graph") return actor;
  const sets = (actor.skills ?? []).filter(isSkillSetName);
  if (sets.length === 0) return actor;
  const found = await storedToolSkills(reader);
  const resolved = resolvedSkills(
    sets.map((name) => parseOwnName(name)),
    found,
  );
  const folders = (actor.skills ?? []).filter((name) => !isSkillSetName(name));
  const skills = [...new Set([...folders, ...resolved.skills])];
  if (actor.type === "graph") return { ...actor, skills };
  return { ...actor, skills, tools: [...new Set([...(actor.tools ?? []), ...resolved.tools])] };
}

/** An actor that asks a model of ours itself. */
export type ModelActorDefinition = Exclude<ActorDefinition, { readonly type: "tool" | "acp" }>;

/** An actor that carries out steps which are not single tool calls. */
export type WorkingActor = Exclude<ActorDefinition, { readonly type: "tool" }>;

/** A tool actor has its steps; it can neither decide on steps nor carry out those of another actor. */
export function requireModel(actor: ActorDefinition): ModelActorDefinition {
  if (actor.type === "acp") throw noStrategistError(actor.name);
  if (actor.type !== "tool") return actor;
  throw new ConfigurationError(`The actor "${actor.name}" asks no model, so it cannot think for this plan.`, {
    kept: "Nothing was changed.",
    next: [nextStep("actor.show", { actor: actor.name })],
  });
}

/** A model, a graph or an outside agent: all but a tool actor carry out steps that others decided on. */
export function requireWorker(actor: ActorDefinition): WorkingActor {
  return actor.type === "acp" ? actor : requireModel(actor);
}
