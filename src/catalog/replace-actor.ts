/**
 * Whether a definition may take the place of the one that has its name, judged in the transaction that does it. A plan
 * keeps what it was promised of its actors: the steps of a tool actor are decisions of the plan once it has decided,
 * and a plan that decides again takes the new steps, so these must fit its action. Any other actor is read each time
 * that the plan works, and a model would get a conversation that another actor began: it is replaced once the plan has
 * ended.
 */
import { refersTo } from "../domain/actor/actor-references.ts";
import type { Actor, ActorDefinition } from "../domain/actor/actor.ts";
import { ConflictError } from "../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import { checkVariables } from "../plans/plan-actors.ts";
import { requireAction } from "../plans/use-action.ts";
import type { Reader } from "../store/port.ts";
import { activePlanActions, activePlansUsing, findGraphs } from "../store/tables/actors.ts";

const SHOWN = 5;

export async function requireReplaceable(reader: Reader, before: Actor, after: Actor): Promise<void> {
  const graphs = await graphsAround(reader, before);
  const names = graphs.map(({ name }) => name);
  if (after.type !== before.type && graphs.length > 0) {
    const needs = `needed by ${names.slice(0, SHOWN).join(", ")}, where one of type ${before.type} is`;
    throw neededError(before, needs, { graphs: names }, [nextStep("actor.show", { actor: names[0] ?? "" })]);
  }
  const plans = new Set<string>();
  for (const name of [before.name, ...names]) for (const id of await activePlansUsing(reader, name)) plans.add(id);
  if (plans.size === 0) return;
  if (before.type !== "tool" || after.type !== "tool") {
    const which = plans.size === 1 ? "an active plan" : `${plans.size} active plans`;
    const next = [...plans].slice(0, SHOWN).map((plan) => nextStep("plan.cancel", { plan }));
    throw neededError(before, `needed by ${which}, which began with it`, { plans: [...plans] }, next);
  }
  for (const action of await activePlanActions(reader, before.name))
    checkVariables(await requireAction(reader, action), after);
}

/** The graphs that have the actor in a node, and the graphs that have those. */
async function graphsAround(reader: Reader, actor: Pick<ActorDefinition, "name">): Promise<ActorDefinition[]> {
  const graphs = await findGraphs(reader);
  const found = new Set<ActorDefinition>();
  const walk = ({ name }: Pick<ActorDefinition, "name">): void => {
    for (const graph of graphs) {
      if (found.has(graph) || !refersTo(graph, name)) continue;
      found.add(graph);
      walk(graph);
    }
  };
  walk(actor);
  return [...found];
}

function neededError(
  { name }: Actor,
  why: string,
  actual: Readonly<Record<string, readonly string[]>>,
  next: readonly NextStep[],
): ConflictError {
  return new ConflictError(
    `The actor "${name}" cannot be replaced: it is ${why}.`,
    { expected: "nothing that needs the definition as it is", actual },
    { kept: "Nothing was changed.", next },
  );
}
