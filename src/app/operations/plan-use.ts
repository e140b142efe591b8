import { resolve } from "node:path";
import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { looserFields } from "../../domain/profile/tighter-profile.ts";
import { enqueueJob, PRIORITIES } from "../../ledger/jobs.ts";
import type { Tx } from "../../store/port.ts";
import { requireProfile } from "../../store/tables/profiles.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort, NextSteps } from "../base/schemas.ts";
import { configuredProfile, defaultActors, givenBudget } from "../procedures/plan-defaults.ts";
import { requireStages } from "../procedures/require-stages.ts";
import { queuedPlan } from "../procedures/queue-plan.ts";
import { InPlace, placesOf } from "../queries/in-place.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    action: z.string(),
    projects: z.array(z.string()).min(1),
    arguments: z.record(z.string(), z.unknown()).default({}),
    automationProfile: z.string().optional(),
    strategyActor: z.string().optional(),
    executionActor: z.string().optional(),
    /** Actors that the strategist may give single steps to, besides the execution actor; instead of the action's. */
    stepActors: z.array(z.string()).readonly().optional(),
    /** Modules by the stage of context assembly that they replace. */
    stages: z.record(z.string(), z.string()).default({}),
    /** Where the modules' relative paths begin. */
    directory: z.string(),
    budget: z.string().optional(),
    effort: Effort.optional(),
    /** Leave the plan to a plan worker, which carries it out as `run` does. */
    background: z.boolean().default(false),
  }),
  output: PlanFacts.extend({
    profileDescription: z.string(),
    inPlace: InPlace,
    context: z.strictObject({
      resources: z.array(z.string()).readonly(),
      indexedFiles: z.int().nullable(),
      view: z.string(),
      budget: z.int(),
    }),
    budgetUsd: z.number().nullable(),
    /** Fields of the action's profile that go further than the plan may; the plan's own profile holds there. */
    heldBack: z.strictObject({ profile: z.string(), fields: z.array(z.string()).readonly() }).nullable(),
    /** Null for a plan that was not queued; else how many plans are carried out at once. */
    queued: z.strictObject({ workers: z.int() }).nullable(),
    nextSteps: NextSteps,
  }),
  run: async (app, input) => {
    const { action, projects, automationProfile, directory } = input;
    const stages = Object.entries(input.stages).map(([stage, module]) => [stage, resolve(directory, module)] as const);
    const contextStages = Object.fromEntries(stages);
    await requireStages(app, projects[0], contextStages);
    const budget = await givenBudget(app, input.budget);
    const plan = await (
      await app.plans()
    ).useAction({
      action,
      projects,
      arguments: input.arguments,
      automationProfile,
      configuredProfile: await configuredProfile(app, projects),
      actors: { strategy: input.strategyActor, execution: input.executionActor },
      stepActors: input.stepActors,
      defaultActors: await defaultActors(app),
      providers: await app.providers(),
      contextStages,
      budget,
      effort: input.effort,
      alongside: input.background ? await queueing(app) : undefined,
    });
    const queued = input.background ? await queuedPlan(app, plan.id) : undefined;
    const summary = await (await app.planContext()).summaryOf(plan);
    return {
      ...planFacts(plan),
      profileDescription: plan.profile.description,
      inPlace: await (await app.store()).read((reader) => placesOf(reader, plan)),
      context: { ...summary, indexedFiles: summary.indexedFiles ?? null },
      budgetUsd: budget === undefined ? null : budget / 1_000_000,
      heldBack: await heldBack(app, plan),
      queued: queued === undefined ? null : { workers: queued.workers },
      nextSteps: queued?.nextSteps ?? [
        nextStep("plan.execute", { plan: plan.id }),
        nextStep("plan.status", { plan: plan.id }),
      ],
    };
  },
});

/** Queues the plan in the transaction that makes it. */
async function queueing(app: App): Promise<(tx: Tx, plan: Plan) => Promise<void>> {
  const askedBy = await app.user();
  const options = { includeDirty: false, verify: true, applyAnyway: false, approve: false };
  return async (tx, plan) => {
    const job = { kind: "run", priority: PRIORITIES.interactive, agreedVersion: undefined } as const;
    await enqueueJob(tx, { ...job, plan, options, askedBy });
  };
}

/** The action's profile may go further than the plan does: only the user's own choice lets it. */
async function heldBack(
  app: App,
  plan: Plan,
): Promise<{ readonly profile: string; readonly fields: readonly string[] } | null> {
  const { automationProfile: name } = await (await app.plans()).getAction(plan.action);
  if (name === undefined || plan.profileSource === "plan") return null;
  const wanted = await (await app.store()).read((reader) => requireProfile(reader, name));
  const fields = looserFields(wanted, plan.profile);
  return fields.length === 0 ? null : { profile: name, fields };
}
