/**
 * One more word at the end of a plan's last step: about changes that no command has looked at, and about a plan that
 * has changed nothing although its model claims to be done.
 */
import type { Acts } from "../actors/loop/worker.ts";
import { decidedWaves } from "../changes/decided-steps.ts";
import { planChanges } from "../changes/plan-changes.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import type { Store } from "../store/port.ts";
import type { StepEffects } from "./step-effects.ts";
import { surroundingsOf } from "./surroundings.ts";

export interface StepEnd {
  readonly store: Store;
  readonly plan: Plan;
  readonly step: string;
  readonly place: StepPlace;
  readonly effects: StepEffects;
  /** Of the answer that ends the step. */
  readonly key: string;
  readonly acts: Acts;
  /** Whether the model has a tool that can change something. */
  readonly mayWrite: boolean;
}

/** Undefined when the step can end. Recorded, because a run that resumes later finds other files than this one. */
export async function lastWord(end: StepEnd): Promise<string | undefined> {
  const { store, plan, step, effects, key, acts, mayWrite } = end;
  const idle = acts.idle && mayWrite;
  if (!acts.unchecked && !idle) return undefined;
  const last = (await decidedWaves(store, plan.id, plan.attempt)).at(-1) ?? [];
  if (!last.some(({ id }) => id === step)) return undefined;
  const said = await effects.once(`last-word-${key}`, async () => {
    if (acts.unchecked) return uncheckedNote(end);
    // Of steps that run side by side, another one may be the one that changes something.
    return last.length === 1 ? idleNote(end) : "";
  });
  return said === "" ? undefined : said;
}

async function uncheckedNote({ plan, place }: StepEnd): Promise<string> {
  const { checks } = await surroundingsOf(plan, place.environment.workspaces, undefined);
  if (checks.length === 0) return "";
  const commands = checks.map(({ command }) => command).join(" or ");
  return `You changed files and ran nothing after that. Run ${commands} and mend what it shows, or say why it cannot be run here.`;
}

async function idleNote({ store, plan }: StepEnd): Promise<string> {
  const changes = await planChanges(store, plan.id, plan.attempt);
  if (changes.length > 0) return "";
  return 'Nothing is changed: neither this step nor one before it changed a file. If the goal needs a change, make it now by calling tools; if it needs none, answer "NOTHING TO DO:" and why.';
}
