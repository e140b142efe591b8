import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { stepActorsOf } from "../../ledger/plan-step-actors.ts";
import { findAppliedJournal } from "../../ledger/journal.ts";
import { groupOfPlan } from "../../ledger/candidate-records.ts";
import { planEffort } from "../../ledger/plan-effort.ts";
import { isRecoverable, isTerminal, PHASES } from "../../domain/plan/transitions.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { STANDINGS } from "../../domain/plan/standing.ts";
import type { PlanQuestion } from "../../ledger/questions.ts";
import type { App } from "../base/app.ts";
import { shortRef } from "../../apply/git-target.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, Json, NextSteps, PlanGiven } from "../base/schemas.ts";
import { commandsHere, ConfinementFacts } from "../procedures/confinement-here.ts";
import { InPlace } from "../queries/in-place.ts";
import { PlanFacts, planFacts } from "../queries/plan-facts.ts";
import { phaseProgress, PROGRESS } from "../queries/plan-progress.ts";
import { planSituation } from "../queries/plan-situation.ts";
import { planValidations, ValidationSummary } from "../queries/plan-validations.ts";
import { PlanCost, planCost } from "../queries/spending.ts";
import { planMeant } from "../queries/plan-meant.ts";

const QuestionFacts = z.strictObject({
  question: z.string(),
  alternatives: z.array(z.string()).readonly(),
  phase: z.string(),
  confidence: z.number().nullable(),
  factors: Json.nullable(),
  explanation: z.string().nullable(),
  askedAt: Instant,
});

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: PlanFacts.extend({
    /** Where it stands, as people say it. */
    standing: z.enum(STANDINGS),
    inPlace: InPlace,
    reversions: z.int(),
    progress: z.array(z.strictObject({ step: z.enum(PHASES), status: z.enum(PROGRESS) })),
    /** How long each phase has taken so far; null for one that has not begun. */
    phaseDurationsMs: z.record(z.enum(PHASES), z.number().nullable()),
    timing: z.strictObject({ started: Instant, elapsed: z.string() }),
    owner: z.strictObject({ holder: z.string(), epoch: z.int(), expiresAt: Instant }).nullable(),
    abandonedBy: z.string().nullable(),
    awaitingInput: QuestionFacts.nullable(),
    execution: z.strictObject({ stepsRecorded: z.int(), changesets: z.int(), changes: z.int() }),
    cost: PlanCost,
    /** How much its models think, where that is set for the plan. */
    effort: z.union([z.string(), z.int()]).nullable(),
    usage: z.strictObject({
      modelCalls: z.int(),
      failedCalls: z.int(),
      inputTokens: z.int(),
      /** Those of the input tokens that providers read from their caches, and those they wrote there. */
      cachedTokens: z.int(),
      cacheWriteTokens: z.int(),
      outputTokens: z.int(),
      costUsd: z.number(),
      callsWithoutPrice: z.int(),
    }),
    validationSummary: ValidationSummary,
    obstacle: z.string().nullable(),
    confined: z.boolean().nullable(),
    confinement: ConfinementFacts.nullable(),
    cancelReason: z.string().nullable(),
    /** The branches that its apply made for its changes. */
    newBranches: z.array(z.strictObject({ resource: z.string(), branch: z.string() })).readonly(),
    undoneAt: Instant.nullable(),
    undoneSteps: z.array(z.string()),
    /** The group that it is a candidate of, and the plan that was chosen there. */
    /** The actors that single steps may be given to; empty where all steps are the execution actor's. */
    stepActors: z.array(z.string()).readonly(),
    candidateOf: z.strictObject({ groupId: z.string(), chosenPlan: z.string().nullable() }).nullable(),
    error: z.strictObject({ message: z.string(), category: z.string(), recoverable: z.boolean() }).nullable(),
    nextSteps: NextSteps,
  }),
  run: async (app, input, call) => {
    const service = await app.plans();
    const plan = await planMeant(app, input, { operation: "plan.status" }, call);
    const store = await app.store();
    const failure = isRecoverable(plan) ? (await service.listFailures(plan.id)).at(-1) : undefined;
    const situation = await store.read((reader) => planSituation(reader, plan));
    const group = await store.read((reader) => groupOfPlan(reader, plan.id));
    const { activity, usage, inPlace, lease, question, undoneSteps } = situation;
    const validated = await planValidations(store, plan);
    // In place no command runs.
    const idle = plan.phase === "apply" || isTerminal(plan) || inPlace.length > 0;
    const commands = idle ? undefined : await commandsHere(plan.profile);
    const now = Date.now();
    return {
      ...planFacts(plan),
      standing: situation.standing,
      inPlace,
      reversions: plan.reversionCount,
      ...phaseProgress(plan, now),
      owner:
        lease === undefined ? null : { holder: lease.holder, epoch: lease.epoch, expiresAt: instant(lease.expiresAt) },
      abandonedBy: situation.abandonedBy ?? null,
      awaitingInput: question === undefined ? null : questionFacts(question),
      execution: { stepsRecorded: activity.steps, changesets: activity.changesets, changes: activity.changes },
      cost: await planCost(app, plan.id),
      effort: (await store.read((reader) => planEffort(reader, plan.id))) ?? null,
      usage: {
        modelCalls: usage.calls,
        failedCalls: usage.failedCalls,
        inputTokens: usage.inputTokens,
        cachedTokens: usage.cachedTokens,
        cacheWriteTokens: usage.cacheWriteTokens,
        outputTokens: usage.outputTokens,
        costUsd: usage.cost / 1_000_000,
        callsWithoutPrice: usage.unpriced,
      },
      validationSummary: validated.summary,
      obstacle: validated.obstacle ?? null,
      confined: commands === undefined ? null : commands.kind !== "none",
      confinement: commands?.facts ?? null,
      cancelReason: plan.cancelReason ?? null,
      newBranches: await newBranches(app, plan),
      undoneAt: undoneAt(plan),
      undoneSteps,
      stepActors: await store.read((reader) => stepActorsOf(reader, plan.id)),
      candidateOf: group === undefined ? null : { groupId: group.id, chosenPlan: group.chosen?.plan ?? null },
      error: failure === undefined ? null : { message: failure.message, category: failure.category, recoverable: true },
      nextSteps: [...(group === undefined ? [] : [nextStep("plan.compare", { id: plan.id })]), ...situation.next],
    };
  },
});

async function newBranches(app: App, plan: Plan): Promise<{ resource: string; branch: string }[]> {
  const journal = await (await app.store()).read((reader) => findAppliedJournal(reader, plan.id));
  return (journal?.landings ?? []).flatMap(({ alias: resource, git }) =>
    git?.created === true ? [{ resource, branch: shortRef(git.ref) }] : [],
  );
}

function undoneAt(plan: Plan): string | null {
  return plan.undoneAt === undefined ? null : instant(plan.undoneAt);
}

function questionFacts(open: PlanQuestion): z.output<typeof QuestionFacts> {
  const { question, alternatives, assessment, phase, askedAt } = open;
  return {
    question,
    alternatives,
    phase,
    confidence: assessment?.confidence ?? null,
    factors: assessment === undefined ? null : { ...assessment.factors },
    explanation: assessment?.explanation ?? null,
    askedAt: instant(askedAt),
  };
}
