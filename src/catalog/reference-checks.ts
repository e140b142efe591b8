import { actorReferences } from "../domain/actor/actor-references.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import { suggested } from "../domain/definition/checked-schema.ts";
import { actorNames, findActor } from "../store/tables/actors.ts";
import type { Reader } from "../store/port.ts";

/** A model by itself: its provider's name stands before the first slash. */
export function isProviders(name: string, providers: readonly string[]): boolean {
  return providers.includes(name.slice(0, name.indexOf("/")).toLowerCase());
}

/**
 * Checks the references of new graphs, in the transaction that adds them: each actor exists, is of the type its node
 * needs, and no graph is reached from itself. So no other process can add or remove an actor in between.
 */
export async function checkReferences(
  reader: Reader,
  added: readonly ActorDefinition[],
  providers: readonly string[],
): Promise<void> {
  const own = new Map(added.map((actor) => [nameKey(actor.name), actor]));
  const find = async (name: QualifiedName): Promise<ActorDefinition | undefined> =>
    own.get(nameKey(name)) ?? (await findActor(reader, name));
  const issues: ValidationIssue[] = [];
  for (const actor of added) {
    for (const reference of actorReferences(actor)) {
      const found = await find(reference.actor);
      const path = `${actor.name}.${reference.node}`;
      const node = `the node "${reference.node}" of ${actor.name} refers to "${reference.actor}"`;
      if (found === undefined) {
        if (reference.type === "llm" && isProviders(reference.actor, providers)) continue;
        const known = [...(await actorNames(reader)), ...added.map(({ name }) => name)];
        issues.push({ path, message: `${node}, which is not registered`, ...suggested(reference.actor, known) });
      } else if (found.type !== reference.type) {
        issues.push({ path, message: `${node}, which is of type ${found.type} where ${reference.type} is needed` });
      }
    }
    const cycle = await cycleFrom(actor, find);
    if (cycle !== undefined)
      issues.push({ path: actor.name, message: `graphs contain each other: ${cycle.join(" → ")}` });
  }
  if (issues.length === 0) return;
  throw new ValidationError(`The actor cannot be added: ${issues.map(({ message }) => message).join("; ")}.`, issues, {
    next: [nextStep("actor.list")],
  });
}

/** The way from a graph back to itself, if there is one. Each graph is looked at once. */
async function cycleFrom(
  start: ActorDefinition,
  find: (name: QualifiedName) => Promise<ActorDefinition | undefined>,
): Promise<string[] | undefined> {
  const seen = new Set<string>();
  const walk = async (actor: ActorDefinition, path: readonly string[]): Promise<string[] | undefined> => {
    for (const reference of actorReferences(actor)) {
      const key = nameKey(reference.actor);
      if (key === nameKey(start.name)) return [...path, reference.actor];
      if (seen.has(key)) continue;
      seen.add(key);
      const next = await find(reference.actor);
      const found = next === undefined ? undefined : await walk(next, [...path, reference.actor]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, [start.name]);
}
