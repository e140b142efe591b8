/**
 * The actors of a new plan: which they are, and whether the plan may have them. All of it is true as long as the plan
 * is active, because an actor that an active plan or a graph needs cannot be removed, and is replaced only by one
 * that the plan can work with as well.
 */
import { ACTOR_ROLES, STEP_ACTOR_LIMIT, type Action, type ActorRole, type Actors } from "../domain/action/action.ts";
import { actorReferences } from "../domain/actor/actor-references.ts";
import { noStrategistError } from "../domain/actor/actor-errors.ts";
import type { Actor } from "../domain/actor/actor.ts";
import { actorVariables } from "../domain/actor/tool-actor.ts";
import { AgentsError, ValidationError } from "../domain/errors/errors.ts";
import { agentNamed } from "../domain/names/agent-names.ts";
import { modelNamed, parseActorName } from "../domain/names/actor-name.ts";
import { notFoundError } from "../domain/names/not-found.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { AutomationProfile } from "../domain/profile/automation-profile.ts";
import { nearest } from "../domain/text/suggest.ts";
import { actorNames, findActor } from "../store/tables/actors.ts";
import type { Reader } from "../store/port.ts";

export interface ActorChoice {
  /** The actors that single steps may be given to, besides the execution actor; instead of the action's. */
  readonly stepActors?: readonly string[] | undefined;
  readonly actors?: Partial<Readonly<Record<ActorRole, string | undefined>>>;
  /** The configured actors for roles that neither the plan nor the action fills. */
  readonly defaultActors?: Partial<Readonly<Record<ActorRole, string | undefined>>>;
  /**
   * The providers of models. If they are given, each actor must be registered or be a model of one of them. A program
   * that carries its plans out itself leaves them out: then actors are only names.
   */
  readonly providers?: readonly string[];
}

/** plan > action > configuration. */
export async function planActors(
  reader: Reader,
  action: Action,
  input: ActorChoice,
  profile: AutomationProfile,
): Promise<Actors> {
  const actors = await resolveActors(reader, action, input);
  const seen = new Map<string, Actor>();
  for (const role of ACTOR_ROLES) {
    const name = actors[role];
    if (name === undefined) continue;
    const actor = await findActor(reader, name);
    if (role === "strategy" && (actor?.type === "acp" || agentNamed(name) !== undefined)) throw noStrategistError(name);
    if (actor === undefined) await requireKnownName(reader, name, input.providers);
    else {
      if (role === "execution") checkVariables(action, actor);
      await collectActors(reader, actor, seen);
    }
  }
  requireAllowed([...seen.values()], profile);
  return actors;
}

/**
 * The actors that the strategist may give steps to: the execution actor first, each once. Empty when there is no other.
 * A strategist is a model, so a plan whose steps are fixed has none.
 */
export async function planStepActors(
  reader: Reader,
  action: Action,
  input: ActorChoice,
  { actors, profile }: { readonly actors: Actors; readonly profile: AutomationProfile },
): Promise<QualifiedName[]> {
  const given = input.stepActors?.map((name) => parseActorName(name, "step_actor")) ?? action.stepActors;
  const all = [...(actors.execution === undefined ? [] : [actors.execution]), ...given];
  const named = all.filter((name, index) => all.findIndex((one) => nameKey(one) === nameKey(name)) === index);
  if (named.length < 2) return [];
  if (named.length > STEP_ACTOR_LIMIT) throw stepActorsError(`a plan has at most ${STEP_ACTOR_LIMIT} of them`);
  const seen = new Map<string, Actor>();
  for (const name of named) {
    const actor = await findActor(reader, name);
    if (actor === undefined) await requireKnownName(reader, name, input.providers);
    else if (actor.type === "tool") throw stepActorsError(`"${name}" is a tool actor, which has steps of its own`);
    else await collectActors(reader, actor, seen);
  }
  requireAllowed([...seen.values()], profile);
  if (actors.strategy === undefined) await requireStrategist(reader, actors.execution);
  return named;
}

/** Without a strategy actor the execution actor decides, and only a model does. */
async function requireStrategist(reader: Reader, name: QualifiedName | undefined): Promise<void> {
  if (name === undefined) return;
  const type = (await findActor(reader, name))?.type ?? (agentNamed(name) === undefined ? "llm" : "acp");
  if (type !== "llm") throw stepActorsError(`"${name}" decides on no steps; name a model as strategy actor`);
}

function stepActorsError(problem: string): ValidationError {
  return new ValidationError(
    `The actors of steps do not fit: ${problem}.`,
    [{ path: "step_actors", message: problem }],
    { kept: "Nothing was written.", next: [nextStep("actor.list")] },
  );
}

/** A name that stands for no registered actor must be that of a known agent or of a model. */
async function requireKnownName(
  reader: Reader,
  name: QualifiedName,
  providers: readonly string[] | undefined,
): Promise<void> {
  if (agentNamed(name) !== undefined) return;
  const provider = modelNamed(name)?.provider.toLowerCase();
  if (providers === undefined || (provider !== undefined && providers.includes(provider))) return;
  throw notFoundError("actor", name, await actorNames(reader));
}

/** The actor and those that its graph needs, each once. */
async function collectActors(reader: Reader, actor: Actor, seen: Map<string, Actor>): Promise<void> {
  const key = nameKey(actor.name);
  if (seen.has(key)) return;
  seen.set(key, actor);
  for (const reference of actorReferences(actor)) {
    const other = await findActor(reader, reference.actor);
    if (other !== undefined) await collectActors(reader, other, seen);
  }
}

/** An actor whose author calls it unsafe is held back like the network of commands. */
function requireAllowed(actors: readonly Actor[], profile: AutomationProfile): void {
  const unsafe = actors.find((actor) => actor.type !== "tool" && actor.unsafe);
  if (unsafe === undefined || profile.allowUnsafeTools) return;
  throw new AgentsError(
    "policy",
    `The actor "${unsafe.name}" is marked unsafe, and the automation profile "${profile.name}" does not allow unsafe tools.`,
    {
      kept: "Nothing was written.",
      next: [
        nextStep("actor.show", { actor: unsafe.name }),
        nextStep("automation-profile.show", { profile: profile.name }),
      ],
      detail: { actor: unsafe.name, profile: profile.name },
    },
  );
}

async function resolveActors(reader: Reader, action: Action, input: ActorChoice): Promise<Actors> {
  const named = (role: ActorRole): QualifiedName | undefined => {
    const own = input.actors?.[role];
    return own === undefined ? action.actors[role] : parseActorName(own, `${role}_actor`);
  };
  const configured = (role: ActorRole): QualifiedName | undefined => {
    const name = input.defaultActors?.[role];
    return name === undefined ? undefined : parseActorName(name, `${role}_actor`);
  };
  const execution = named("execution") ?? configured("execution");
  if (execution === undefined) {
    const message = `neither the plan nor the action "${action.name}" names one, and there is no default`;
    throw new ValidationError(`The plan has no execution actor: ${message}.`, [{ path: "execution_actor", message }], {
      next: [
        nextStep("actor.set-default", { role: "execution", actor: "<actor>" }),
        nextStep("plan.use", { action: action.name, executionActor: "<actor>" }),
      ],
    });
  }
  // The strategy of a tool actor are its steps, and another agent has its own; a model that thinks about them is only
  // asked when the caller names one.
  const type = (await findActor(reader, execution))?.type ?? (agentNamed(execution) === undefined ? "llm" : "acp");
  const fixed = type === "tool" || type === "acp";
  const resolve = (role: ActorRole): QualifiedName | undefined =>
    role === "execution" ? execution : (named(role) ?? (fixed && role === "strategy" ? undefined : configured(role)));
  return Object.fromEntries(ACTOR_ROLES.map((role) => [role, resolve(role)])) as Record<
    ActorRole,
    QualifiedName | undefined
  >;
}

/**
 * A registered execution actor may only use arguments that the action declares: otherwise its steps would run with
 * holes in them.
 */
export function checkVariables(action: Action, actor: Actor): void {
  if (actor.type !== "tool") return;
  const declared = action.arguments.map(({ name }) => name);
  const missing = actorVariables(actor).filter((variable) => !declared.includes(variable));
  if (missing.length === 0) return;
  throw new ValidationError(
    `The actor "${actor.name}" uses ${missing.map((name) => `{${name}}`).join(", ")}, which the action "${action.name}" does not declare.`,
    missing.map((name) => {
      const suggestion = nearest(name, declared);
      return {
        path: name,
        message: `the action "${action.name}" declares no argument "${name}"`,
        ...(suggestion === undefined ? {} : { suggestion }),
      };
    }),
    { next: [nextStep("actor.show", { actor: actor.name }), nextStep("action.show", { action: action.name })] },
  );
}
