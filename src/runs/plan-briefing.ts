/** The texts about a plan that a model is told: its goal, its resources, its steps, and the code found for it. */
import { openingAt } from "../actors/loop/memory.ts";
import type { ModelMessage } from "../actors/models/model.ts";
import type { BriefedResource, BriefedStep, Briefing } from "../actors/loop/briefing.ts";
import type { PricedModels } from "../actors/models/budgeted-models.ts";
import { modelOf } from "../actors/providers/actor-model.ts";
import type { WorkingActor } from "../catalog/stored-actor.ts";
import type { DecidedStep } from "../changes/decided-steps.ts";
import { placedRecords, stepSummaries } from "../changes/step-records.ts";
import { argumentText } from "../domain/action/arguments.ts";
import { DEFAULT_BREADTH, DEFAULT_DEPTH } from "../domain/context/context-question.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Tell } from "../domain/run-event.ts";
import type { ContextPort } from "../execution/tools/context-port.ts";
import { planResources } from "../plans/in-place-rules.ts";
import type { Store } from "../store/port.ts";
import type { StepEffects } from "./step-effects.ts";

/** The share of a model's window that a context may take: the rest is for the conversation and the answer. */
const CONTEXT_SHARE = 8;

/**
 * Tokens. A context points to the places; a model that needs more reads them, or asks for more by a tool. Every call of
 * the conversation carries it: 4,000 were a third of all tokens of a bug fix of twenty answers.
 */
const CONTEXT_LIMIT = 2_000;

export function goalOf(plan: Plan): string {
  return `${plan.description}\n${plan.definitionOfDone}`;
}

export function planBriefing(plan: Plan): Pick<Briefing, "goal" | "definitionOfDone" | "constraints" | "arguments"> {
  return {
    goal: plan.description,
    definitionOfDone: plan.definitionOfDone,
    constraints: plan.invariants,
    arguments: [...plan.arguments].map(([name, value]) => [name, argumentText(value)]),
  };
}

export async function briefedResources(store: Store, plan: Plan): Promise<readonly BriefedResource[]> {
  const resources = await store.read((reader) => planResources(reader, plan));
  return resources.map(({ alias, type: kind, readOnly, planReadOnly }) => ({
    alias,
    kind,
    readOnly: readOnly || planReadOnly || plan.readOnly,
  }));
}

/** Seen from one step: what its earlier waves came to, which steps run at the same time, and what comes later. */
export async function stepsSeenFrom(
  store: Store,
  plan: Plan,
  here: string,
  waves: readonly (readonly DecidedStep[])[],
): Promise<BriefedStep[]> {
  const summaries = await store.read((reader) => stepSummaries(reader, plan.id, plan.attempt));
  const own = waves.findIndex((wave) => wave.some(({ id }) => id === here));
  return waves.flatMap((wave, index) =>
    wave.map((step): BriefedStep => {
      const { id } = step;
      const description = step.tool === undefined ? step.work.description : step.tool;
      if (index > own && own !== -1) return { id, description, state: "later" };
      if (index === own) return { id, description, state: id === here ? "this" : "meanwhile" };
      const summary = summaries.get(id);
      return { id, description, state: "done", ...(summary === undefined ? {} : { summary }) };
    }),
  );
}

/** The code context for it, assembled once: a resumed run shows the same. */
export async function contextFor(wish: {
  models: PricedModels;
  tell: Tell;
  effects: StepEffects;
  step: string;
  actor: WorkingActor;
  port: ContextPort | undefined;
  query: string;
  resources?: readonly string[];
}): Promise<string> {
  const { models, tell, effects, step, actor, port, query, resources = [] } = wish;
  if (port === undefined) return "";
  // A graph of tools alone has none, and an outside agent may have one that is configured elsewhere.
  const model = actor.model === undefined && actor.type !== "llm" ? undefined : modelOf(actor);
  const window = model === undefined ? undefined : models.windowOf(model);
  const answer = await effects.recorded("context", "1", async () => {
    const question = {
      query: query.slice(0, 10_000),
      entities: [],
      focus: [],
      breadth: DEFAULT_BREADTH,
      depth: DEFAULT_DEPTH,
      strategy: undefined,
      preferredStrategies: [],
      requiredBackends: [],
    };
    const limits = {
      budget: Math.min(CONTEXT_LIMIT, Math.floor((window ?? Infinity) / CONTEXT_SHARE)),
      resources: resources.length === 0 ? undefined : resources,
    };
    const assembled = await port.requestContext(question, limits, effects.signal);
    tell({ type: "context_assembled", step, tokens: assembled.tokens, files: assembled.files_indexed });
    return assembled;
  });
  return answer.text;
}

/** How many messages of people the plan's one conversation has. */
export async function heardSoFar(store: Store, plan: Plan): Promise<number> {
  const records = await store.read(async (reader) => [
    ...(await placedRecords(reader, plan.id, plan.attempt, "strategize")),
    ...(await placedRecords(reader, plan.id, plan.attempt)),
  ]);
  const counts = records.flatMap((record) => {
    if (record.kind !== "once") return [];
    const { heard, count } = (record.output ?? {}) as { heard?: unknown; count?: unknown };
    return [heard, count].filter((one) => typeof one === "number");
  });
  return Math.max(0, ...counts);
}

/** The recorded opening of the plan, where the conversation does not begin with it: undefined where it does. */
export async function openingIn(
  store: Store,
  plan: Plan,
  messages: readonly ModelMessage[],
): Promise<string | undefined> {
  const records = await store.read(async (reader) => [
    ...(await placedRecords(reader, plan.id, plan.attempt, "strategize")),
    ...(await placedRecords(reader, plan.id, plan.attempt)),
  ]);
  const texts = records.flatMap((record) => {
    const { text } = (record.kind === "once" ? (record.output ?? {}) : {}) as { text?: unknown };
    return typeof text === "string" ? [text] : [];
  });
  return texts.findLast((text) => openingAt(messages, text) > 0);
}
