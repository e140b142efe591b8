/**
 * Different steps of one plan by different actors: which the strategist may choose from, and which one carries out a
 * step. The list was copied into the plan when it was made.
 */
import { actorNamed, requireWorker, type WorkingActor } from "../catalog/stored-actor.ts";
import type { WorkStep } from "../changes/decided-steps.ts";
import { ConfigurationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stepActorsOf } from "../ledger/plan-step-actors.ts";
import type { Store } from "../store/port.ts";

/** The sentence about them for the strategist; "" where there is nothing to choose. */
export async function stepActorsText(store: Store, names: readonly QualifiedName[]): Promise<string> {
  if (names.length === 0) return "";
  const lines: string[] = [];
  for (const name of names) {
    const { description } = await store.read((reader) => actorNamed(reader, name));
    lines.push(`- ${name}${description === "" ? "" : `: ${description.split("\n", 1)[0] ?? ""}`}`);
  }
  const asked = "Give each step the one that fits it best, by its name; a step without one goes to the first";
  return `\n\nThe steps may be carried out by different actors. ${asked}:\n${lines.join("\n")}`;
}

/** The actor of a step: the one it was given to, or the plan's execution actor. */
export async function actorOfStep(
  store: Store,
  plan: Plan,
  step: WorkStep,
  execution: WorkingActor,
): Promise<WorkingActor> {
  const { actor } = step.work;
  if (actor === undefined || actor === plan.actors.execution) return execution;
  const known = await store.read((reader) => stepActorsOf(reader, plan.id));
  const name = known.find((one) => one === actor);
  if (name !== undefined) return requireWorker(await store.read((reader) => actorNamed(reader, name)));
  throw new ConfigurationError(
    `The step "${step.id}" is given to "${actor}", which the plan ${plan.id} does not have.`,
    {
      kept: "Nothing was changed.",
      next: [nextStep("plan.revert", { plan: plan.id })],
    },
  );
}
