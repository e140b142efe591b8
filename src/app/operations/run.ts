/**
 * From a sentence to a change that can be undone: makes what is missing, makes the plan, carries it out in a sandbox,
 * shows the diff, and applies it after a yes. When anything stops it, the plan stays, and every operation on plans
 * continues from there.
 */
import * as z from "zod";
import type { Reasoning } from "../../domain/actor/reasoning.ts";
import { mustBeApproved } from "../../domain/profile/automation-profile.ts";
import { AwaitingInputError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isTerminal } from "../../domain/plan/transitions.ts";
import { decidedWaves } from "../../changes/decided-steps.ts";
import { openQuestion } from "../../ledger/questions.ts";
import { shouldApply } from "../../plans/autonomy.ts";
import { setUpRun, uncommittedFiles } from "../../runs/run-setup.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort } from "../base/schemas.ts";
import {
  announceConfinement,
  Executed,
  executePlan,
  StrategyReady,
  type ExecutePlanOptions,
  type ExecuteOutcome,
} from "../procedures/execute-plan.ts";
import { Applied, applyPlan } from "../procedures/land-plan.ts";
import { configuredProfile, defaultActors, runActor, runBudget } from "../procedures/plan-defaults.ts";
import { givenImages } from "../procedures/given-images.ts";
import { guidePlan } from "../procedures/prompt-plan.ts";
import { diffOfPlan } from "../queries/diff-facts.ts";

const Made = z.object({
  /** Things that were missing and now exist, such as a project. */
  made: z.array(z.string()).readonly(),
  /** Files of the checkout that are not committed and so not part of the plan. */
  uncommitted: z.int(),
});

export const operation = defineOperation({
  input: z.strictObject({
    request: z.string(),
    /** Where the repository is; needed unless a project is named. */
    directory: z.string(),
    project: z.string().optional(),
    actor: z.string().optional(),
    strategyActor: z.string().optional(),
    budget: z.string().optional(),
    effort: Effort.optional(),
    automationProfile: z.string().optional(),
    /** Files; relative paths begin in the directory. */
    images: z.array(z.string()).readonly().default([]),
    includeDirty: z.boolean().default(false),
    verify: z.boolean().default(true),
    /** Apply the result also when the project's own check failed on it. */
    applyAnyway: z.boolean().default(false),
    /** Continue the newest unfinished plan here instead of making one; the request is what comes next. */
    continue: z.boolean().default(false),
  }),
  output: z.union([
    StrategyReady.extend({ ...Made.shape, executed: z.literal(false).optional() }),
    Executed.extend({ ...Made.shape, applied: z.literal(false).optional() }),
    Executed.extend({ ...Applied.shape, changes: Executed.shape.changes, ...Made.shape }),
  ]),
  run: async (app, input, call) => {
    const { plan, made, uncommitted } = await (input.continue
      ? continuedPlan(app, input, call)
      : makePlan(app, input, call));
    const executed = await carryOut(app, plan, input, call);
    if (executed.outcome === "strategy") return { ...executed, made, uncommitted };
    const outcome = { ...executed, made, uncommitted };
    // A request that needed no change is answered, and that is all.
    if (executed.obstacle !== null || (executed.changes.files === 0 && executed.answer !== null)) return outcome;
    // A person sees the failed check and decides; a yes given beforehand does not cover it.
    if (executed.checked.outcome === "failed" && call.answers !== "person" && !input.applyAnyway) return outcome;
    const agreed = await mayApply(app, plan);
    if (!agreed && call.answers === "none") return outcome;
    const seen = await (await app.plans()).getPlan(plan.id);
    const shown = call.answers === "person" ? [{ kind: "diff" as const, output: await diffOfPlan(app, seen) }] : [];
    const options = { allowEmpty: false, verify: input.verify, agreed, shown };
    const applied = await applyPlan(app, seen, options, call);
    if (!applied.applied) return { ...outcome, applied: false as const };
    return { ...outcome, ...applied, changes: executed.changes };
  },
});

interface Wish extends ExecutePlanOptions {
  readonly request: string;
  readonly directory: string;
  readonly project?: string | undefined;
  readonly actor?: string | undefined;
  readonly strategyActor?: string | undefined;
  readonly budget?: string | undefined;
  readonly effort?: Reasoning | undefined;
  readonly automationProfile?: string | undefined;
  readonly images: readonly string[];
}

async function makePlan(
  app: App,
  wish: Wish,
  call: Call,
): Promise<{ readonly plan: Plan; readonly made: readonly string[]; readonly uncommitted: number }> {
  const request = wish.request.trim();
  if (request === "") {
    throw new UsageError("Say what you want done.", {
      kept: "Nothing was written.",
      next: [nextStep("run", { request: "make the health endpoint answer 200 when the database is down" })],
    });
  }
  const actor = await runActor(app, wish.actor);
  const defaults = await defaultActors(app);
  const strategy = wish.strategyActor ?? defaults.strategy;
  const budget = await runBudget(app, wish.budget, strategy === undefined ? [actor] : [actor, strategy]);
  const images = await givenImages(app, wish, [actor, wish.strategyActor], call.signal);
  const plans = await app.plans();
  const services = { plans, projects: await app.projects(), resources: await app.resources() };
  const { project, action, made } = await setUpRun(services, { directory: wish.directory, project: wish.project });
  const plan = await plans.useAction({
    action,
    projects: [project],
    arguments: { request },
    automationProfile: wish.automationProfile,
    configuredProfile: await configuredProfile(app, [project]),
    actors: { execution: actor, strategy: wish.strategyActor },
    defaultActors: defaults,
    providers: await app.providers(),
    budget,
    effort: wish.effort,
    images,
  });
  call.tell({ type: "plan_made", plan: plan.id, project, made });
  const clean = wish.project !== undefined || wish.includeDirty;
  const uncommitted = clean ? 0 : await uncommittedFiles(wish.directory);
  if (uncommitted > 0) {
    const files = uncommitted === 1 ? "1 uncommitted file is" : `${uncommitted} uncommitted files are`;
    const text = `${files} not part of this plan. Use --include-dirty to start from ${uncommitted === 1 ? "it" : "them"}.`;
    call.tell({ type: "notice", level: "warning", text });
  }
  return { plan, made, uncommitted };
}

/** The newest plan of the directory's project that is not at its end, told what comes next. */
async function continuedPlan(
  app: App,
  wish: Wish,
  call: Call,
): Promise<{ readonly plan: Plan; readonly made: readonly string[]; readonly uncommitted: number }> {
  if (wish.images.length > 0) {
    throw new UsageError("Images go with a new request; a plan that continues has those it began with.", {
      kept: "Nothing was written.",
      next: [nextStep("run", { request: wish.request.trim() || "<request>", images: wish.images })],
    });
  }
  const plans = await app.plans();
  const services = { plans, projects: await app.projects(), resources: await app.resources() };
  const { project } = await setUpRun(services, { directory: wish.directory, project: wish.project });
  const found = (await plans.listPlans({ project, limit: 50 })).plans.find(({ status }) => !isTerminal(status));
  if (found === undefined) {
    throw new UsageError(`The project ${project} has no plan that could continue.`, {
      kept: "Nothing was written.",
      next: [nextStep("run", { request: wish.request.trim() || "<request>" })],
    });
  }
  call.tell({ type: "notice", level: "info", text: `Continuing plan ${found.id}.` });
  if (wish.request.trim() !== "") await guidePlan(app, found.id, wish.request);
  return { plan: await plans.getPlan(found.id), made: [], uncommitted: 0 };
}

/** Until it is executed, or a person is needed and there is none: shows and asks what the profile wants asked. */
async function carryOut(
  app: App,
  plan: Plan,
  { includeDirty, verify }: ExecutePlanOptions,
  call: Call,
): Promise<ExecuteOutcome & { readonly executed?: false }> {
  const commands = await announceConfinement(app, plan, call);
  for (;;) {
    const outcome = await executePlan(app, { id: plan.id, commands, includeDirty, verify }, call).catch(
      async (error: unknown) => {
        if (!(error instanceof AwaitingInputError) || !(await answerQuestion(app, plan, call))) throw error;
        return undefined;
      },
    );
    if (outcome === undefined) continue;
    // The strategy is there, and the profile wants it looked at: executing again is the yes.
    if (outcome.outcome === "executed" || call.answers === "none") return outcome;
    const shown = [{ kind: "strategy" as const, output: outcome }];
    const reply = await call.ask({ kind: "strategy", text: "Run this plan?", shown });
    if (reply.kind === "yes") continue;
    if (reply.kind !== "text") return { ...outcome, executed: false };
    await guidePlan(app, plan.id, reply.text);
  }
}

/** False when there is no answer. */
async function answerQuestion(app: App, { id }: Plan, call: Call): Promise<boolean> {
  const open = await (await app.store()).read((reader) => openQuestion(reader, id));
  // Another process answered first.
  if (open === undefined) return true;
  const reply = await call.ask({ kind: "plan", text: open.question, alternatives: open.alternatives });
  if (reply.kind !== "text" || reply.text === "") return false;
  await guidePlan(app, id, reply.text);
  return true;
}

/** The profile lets the plan apply its changes without asking. */
async function mayApply(app: App, { id, attempt }: Plan): Promise<boolean> {
  const plan = await (await app.plans()).getPlan(id);
  if (mustBeApproved(plan.profile)) return false;
  const store = await app.store();
  const steps = (await decidedWaves(store, id, attempt)).flat();
  const risks = steps.map((step) =>
    step.tool === undefined ? { risk: step.work.risk ?? undefined } : { tool: step.tool },
  );
  return (await shouldApply(store, plan, risks)).go;
}
