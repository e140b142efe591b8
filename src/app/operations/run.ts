/**
 * From a sentence to a change that can be undone: makes what is missing, makes the plan, carries it out in a sandbox,
 * shows the diff, and applies it after a yes. When anything stops it, the plan stays, and every operation on plans
 * continues from there.
 */
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { CANDIDATE_LIMIT, CHOICE_RULES } from "../../domain/plan/candidate.ts";
import { isTerminal } from "../../domain/plan/transitions.ts";
import { notChosen } from "../../ledger/candidate-records.ts";
import { enqueueJob, PRIORITIES } from "../../ledger/jobs.ts";
import type { Tx } from "../../store/port.ts";
import { setUpRun } from "../../runs/run-setup.ts";
import { sessionOfPlan } from "../../store/tables/sessions.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort, SessionReference } from "../base/schemas.ts";
import { CarriedOn, carryOn } from "../procedures/carry-on.ts";
import {
  continuedGroup,
  makeCandidatePlans,
  tryAll,
  TriedAll,
  type CandidateOptions,
  type RunCandidates,
} from "../procedures/candidate-plans.ts";
import { makeRunPlan, type RunPlan, type Wish } from "../procedures/make-run-plan.ts";
import { guidePlan } from "../procedures/prompt-plan.ts";
import { worded } from "../procedures/prompt-request.ts";
import { requireFitting, tellSession, ToldRunning, toldRunning } from "../procedures/tell-session.ts";
import { choicesOf, Queued, queuedPlan, type JobChoices } from "../procedures/queue-plan.ts";
import { sessionNamed } from "../queries/session-facts.ts";

const Made = z.object({
  /** Things that were missing and now exist, such as a project. */
  made: z.array(z.string()).readonly(),
  /** Files of the checkout that are not committed and so not part of the plan. */
  uncommitted: z.int(),
  /** The session that the plan is part of; null for a plan that was made without one. */
  sessionId: z.string().nullable(),
});

type RunOptions = Pick<CandidateOptions, "bestOf" | "judge" | "choose"> & {
  readonly actor?: readonly string[] | undefined;
  readonly continue: boolean;
  readonly session?: string | undefined;
};

export const operation = defineOperation({
  input: z.strictObject({
    /** May be empty where a plan continues. */
    request: z.string().default(""),
    /** A prompt of an MCP server, as server/name: its text is the request, and comes before any other. */
    prompt: z.string().optional(),
    /** Where the repository is; needed unless a project is named. */
    directory: z.string(),
    project: z.string().optional(),
    /** Several: one candidate for each. */
    actor: z
      .union([z.string(), z.array(z.string()).readonly()])
      .transform((one): readonly string[] => (typeof one === "string" ? [one] : one))
      .optional(),
    /** How many candidates; as many as there are actors unless given. */
    bestOf: z.int().min(1, "must be at least 1").max(CANDIDATE_LIMIT, `must be at most ${CANDIDATE_LIMIT}`).optional(),
    /** A model that recommends one of the candidates. */
    judge: z.string().optional(),
    choose: z.enum(CHOICE_RULES).optional(),
    /** Values for the arguments of the prompt, or else for those that a tool actor takes. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    strategyActor: z.string().optional(),
    /** Actors that the strategist may give single steps to, besides the one that does the rest. */
    stepActors: z.array(z.string()).readonly().optional(),
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
    /** The id of the session that begins with it, for a caller who had to name it before; made unless given. */
    newSession: z.string().optional(),
    /** Say the request in this session, instead of beginning one. */
    session: SessionReference.optional(),
    /** Make the plan and leave it to a plan worker. */
    background: z.boolean().default(false),
  }),
  output: z.union([
    ToldRunning.extend(Made.shape),
    CarriedOn[0].extend(Made.shape),
    CarriedOn[1].extend(Made.shape),
    CarriedOn[2].extend(Made.shape),
    TriedAll.extend(Made.shape),
    Queued.extend(Made.shape),
  ]),
  run: async (app, given, call) => {
    const input = await worded(app, given, call);
    const { actor, ...rest } = input;
    const wish = { ...rest, actor: actor?.[0] };
    if (input.background) return inBackground(app, wish, input, call);
    if (input.session !== undefined) return toldInSession(app, { ...wish, session: input.session }, input, call);
    const found = await (input.continue
      ? continuedPlan(app, wish, input, call)
      : ((await makeCandidatePlans(app, wish, input, call)) ?? makeRunPlan(app, wish, call)));
    const { made, uncommitted, session = null } = found;
    if ("group" in found) {
      const tried = await tryAll(app, found.group, input, call);
      return { ...tried, made, uncommitted, sessionId: await sessionIdOf(app, tried.chosen?.planId) };
    }
    const { plan } = found;
    return { ...(await carryOn(app, plan, input, call)), made, uncommitted, sessionId: session };
  },
});

/** Makes the plan and queues it in one transaction. */
async function inBackground(app: App, wish: Wish & JobChoices, options: RunOptions, call: Call) {
  const { continue: continues, session, actor = [], bestOf, judge, choose } = options;
  if (
    continues ||
    session !== undefined ||
    actor.length > 1 ||
    [bestOf, judge, choose].some((one) => one !== undefined)
  ) {
    throw new UsageError(
      "--background begins one new plan: not several candidates, and not what a plan comes to next.",
      {
        kept: "Nothing was written.",
        next: [nextStep("plan.execute", { plan: "<plan>", background: true }, "to continue a plan in the background")],
      },
    );
  }
  const job = { kind: "run" as const, options: { ...choicesOf(wish), approve: call.answers === "program" } };
  const askedBy = await app.user();
  const alongside = async (tx: Tx, plan: Plan): Promise<void> => {
    await enqueueJob(tx, { ...job, plan, priority: PRIORITIES.interactive, agreedVersion: undefined, askedBy });
  };
  const { plan, made, uncommitted, session: id = null } = await makeRunPlan(app, { ...wish, alongside }, call);
  return { ...(await queuedPlan(app, plan.id)), made, uncommitted, sessionId: id };
}

/** As `tell` does, with the choices that a new plan takes. */
async function toldInSession(
  app: App,
  wish: Wish & { readonly session: string; readonly applyAnyway: boolean },
  options: CandidateOptions & { readonly continue: boolean },
  call: Call,
) {
  const session = await sessionNamed(app, wish.session, wish.directory);
  await requireFitting(session, wish, options);
  const told = await tellSession(app, session, { ...wish, text: wish.request }, call);
  const { plan, made, uncommitted, isWorkedOn } = told;
  const facts = { made, uncommitted, sessionId: session.id };
  return isWorkedOn ? { ...toldRunning(plan), ...facts } : { ...(await carryOn(app, plan, wish, call)), ...facts };
}

/** The newest plan of the directory's project that is not at its end, told what comes next. */
async function continuedPlan(
  app: App,
  wish: Wish,
  options: CandidateOptions,
  call: Call,
): Promise<RunPlan | RunCandidates> {
  const { images, arguments: given } = wish;
  if (images.length > 0 || given !== undefined) {
    const which = images.length > 0 ? "Images" : "Arguments";
    throw new UsageError(`${which} go with a new request; a plan that continues has those it began with.`, {
      kept: "Nothing was written.",
      next: [nextStep("run", { request: wish.request.trim() || "<request>", images })],
    });
  }
  const plans = await app.plans();
  const services = { plans, projects: await app.projects(), resources: await app.resources() };
  const { project } = await setUpRun(services, { directory: wish.directory, project: wish.project });
  const passedOver = await (await app.store()).read(notChosen);
  const found = (await plans.listPlans({ project, limit: 50 })).plans.find(
    ({ id, status }) => !isTerminal(status) && !passedOver.has(id),
  );
  if (found === undefined) {
    throw new UsageError(`The project ${project} has no plan that could continue.`, {
      kept: "Nothing was written.",
      next: [nextStep("run", { request: wish.request.trim() || "<request>" })],
    });
  }
  const group = await continuedGroup(app, found.id, { ...options, request: wish.request }, call);
  if (group !== undefined) return { group, made: [], uncommitted: 0, session: undefined };
  call.tell({ type: "notice", level: "info", text: `Continuing plan ${found.id}.` });
  if (wish.request.trim() !== "") await guidePlan(app, found.id, wish.request);
  const session = await (await app.store()).read((reader) => sessionOfPlan(reader, found.id));
  return { plan: await plans.getPlan(found.id), made: [], uncommitted: 0, session: session?.id };
}

async function sessionIdOf(app: App, plan: string | undefined): Promise<string | null> {
  if (plan === undefined) return null;
  return (await (await app.store()).read((reader) => sessionOfPlan(reader, plan as PlanId)))?.id ?? null;
}
