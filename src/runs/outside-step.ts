/** A step by an outside agent: its prompts are put together from what is known of the plan. */
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { decidedWaves, type WorkStep } from "../changes/decided-steps.ts";
import type { AcpActorDefinition } from "../domain/actor/acp-actor.ts";
import type { Tell } from "../domain/run-event.ts";
import type { StepPlace } from "../execution/steps/step-runner.ts";
import type { Lease } from "../ledger/leases.ts";
import { spokenTo } from "../plans/plan-questions.ts";
import type { Store } from "../store/port.ts";
import { earlierAttempts, workSoFar } from "./earlier-attempts.ts";
import { offeredTools } from "./model-tools.ts";
import { contextFor, goalOf, planBriefing, stepsSeenFrom } from "./plan-briefing.ts";
import { sessionHandover } from "./session-conversation.ts";
import type { StepEffects } from "./step-effects.ts";
import { surroundingsOf } from "./surroundings.ts";
import type { OutsideParts } from "./outside/outside-parts.ts";
import type { OutsideStep } from "./outside/outside-worker.ts";
import { turnPrompt } from "./outside/turn-prompt.ts";

interface PromptSource {
  readonly store: Store;
  readonly models: PricedModels;
  readonly tell: Tell;
  readonly lease: Lease<"execute">;
  readonly actor: AcpActorDefinition;
  readonly step: WorkStep;
  readonly place: StepPlace;
  readonly effects: StepEffects;
}

/** Returns the step's summary. */
export async function workOnOutside(
  source: PromptSource & {
    readonly gaveUp: number;
    readonly outside: (() => Promise<OutsideParts>) | undefined;
    readonly at: Parameters<typeof offeredTools>[1];
  },
): Promise<string> {
  const { lease, actor, step, place, effects, gaveUp, outside, at, tell } = source;
  if (outside === undefined) throw new Error(`nothing here can start the agent ${actor.name}`);
  const { workOutside } = await import("./outside/outside-worker.ts");
  const prompt = await outsidePrompt(source);
  const offered = offeredTools(actor, at, tell);
  return workOutside({ lease, actor, step, place, effects, gaveUp, outside: await outside(), offered, prompt, tell });
}

/**
 * Called before the agent has the files to itself: the code context is read from them. An agent of another maker looks
 * for itself, and pays for every question with what stands in its prompt: code is put there only for a view that its
 * definition names. (With code for all, each question cost 2,000 tokens more: 2.5 times pi's own.)
 */
async function outsidePrompt(source: PromptSource): Promise<OutsideStep["prompt"]> {
  const { store, models, tell, lease, actor, step, place, effects } = source;
  const { plan } = lease;
  const port = place.environment.knowledge;
  const query = `${step.work.description}\n${goalOf(plan)}`;
  const { resources } = step.work;
  const context =
    actor.contextView === undefined
      ? ""
      : await contextFor({ models, tell, effects, step: step.id, actor, port, query, resources });
  return async (since) => {
    const heard = await store.read((reader) => spokenTo(reader, plan));
    const waves = await decidedWaves(store, plan.id, plan.attempt);
    const briefing = {
      ...planBriefing(plan),
      session: await sessionHandover(store, plan),
      guidance: heard,
      earlier: await earlierAttempts(store, plan),
      steps: await stepsSeenFrom(store, plan, step.id, waves),
      handover: await workSoFar(store, plan),
      context,
    };
    // The agent reads the project's instructions itself.
    const { workspaces } = place.environment;
    const { checks, facts } = await surroundingsOf(plan, workspaces, undefined);
    const known = { checks, facts: [...placesOf(workspaces), ...facts] };
    const { description } = step.work;
    // By the protocol it is told apart from the prompt.
    const own = actor.program.agent === undefined && actor.program.speaks === "run" ? actor.systemPrompt : "";
    const text = turnPrompt({ own, briefing, facts: known, step: step.id, description, since });
    return { text, heard: heard.length };
  };
}

/** Where several resources are: the agent begins in one of them, and is not shown the others by its tools. */
function placesOf(workspaces: StepPlace["environment"]["workspaces"]): string[] {
  if (workspaces.size < 2) return [];
  return [...workspaces].map(
    ([alias, { sandbox }]) =>
      `The resource ${alias} is in ${sandbox.root}${sandbox.readOnly ? "; it cannot be changed" : ""}.`,
  );
}
