/** Several candidates of one request: made, continued, carried out, and one of them chosen. */
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { CANDIDATE_LIMIT, type CandidateGroup, type ChoiceRule } from "../../domain/plan/candidate.ts";
import { isTerminal } from "../../domain/plan/transitions.ts";
import { groupOfPlan } from "../../ledger/candidate-records.ts";
import { makeCandidates } from "../../plans/candidates.ts";
import { requireJudge } from "../../runs/candidate-judge.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { chooseOne, comparedAndJudged, type ChoiceOptions } from "./candidate-choice.ts";
import { runCandidates } from "./candidate-run.ts";
import type { ExecutePlanOptions } from "./execute-plan.ts";
import { sessionDirectory } from "../queries/session-facts.ts";
import { Comparison } from "../queries/candidate-facts.ts";
import { Applied } from "./land-plan.ts";
import { preparedRun, pricedActors, requireRequest, warnUncommitted, type Wish } from "./make-run-plan.ts";
import { groupBudget, runActor } from "./plan-defaults.ts";
import { guidePlan } from "./prompt-plan.ts";

export interface CandidateOptions extends ChoiceOptions {
  readonly actor?: readonly string[] | undefined;
  readonly bestOf?: number | undefined;
  readonly judge?: string | undefined;
  readonly choose?: ChoiceRule | undefined;
}

/** The actor of each candidate: those named, from the first again where there are more candidates than actors. */
async function candidateActors(app: App, { actor = [], bestOf }: CandidateOptions): Promise<readonly string[]> {
  const named: string[] = [];
  for (const one of actor.length === 0 ? [undefined] : actor) named.push(await runActor(app, one));
  const count = bestOf ?? named.length;
  if (count < named.length) {
    throw wishError(`--best-of ${count} is less than the ${named.length} actors that are named.`);
  }
  if (count > CANDIDATE_LIMIT)
    throw wishError(`${count} candidates are more than the ${CANDIDATE_LIMIT} that can be compared.`);
  return Array.from({ length: count }, (_, index) => named[index % named.length] ?? "");
}

/** Everything that is wrong with these wishes is said before anything is written. */
async function judgeOf(app: App, { judge, choose }: CandidateOptions, candidates: number): Promise<string | undefined> {
  if (candidates === 1 && (judge !== undefined || choose !== undefined)) {
    throw wishError("--judge and --choose need several candidates: name several actors, or say --best-of 3.");
  }
  if (choose === "judge" && judge === undefined)
    throw wishError("--choose judge needs --judge, the model that judges.");
  return judge === undefined ? undefined : requireJudge(await app.actorNamed(judge)).name;
}

function wishError(message: string): UsageError {
  return new UsageError(message, {
    kept: "Nothing was written.",
    next: [nextStep("run", { request: "<request>", actor: ["<actor>", "<another>"], judge: "<model>" })],
  });
}

/** The candidates of a request, made or found. */
export interface RunCandidates {
  readonly group: CandidateGroup;
  readonly made: readonly string[];
  readonly uncommitted: number;
  readonly session: undefined;
}

/** Undefined when a single plan is wanted. */
export async function makeCandidatePlans(
  app: App,
  wish: Wish,
  options: CandidateOptions,
  call: Call,
): Promise<RunCandidates | undefined> {
  // Only a named actor can do without words; without one, a missing model is not the first thing to be told.
  if (wish.actor === undefined) requireRequest(wish);
  const actors = await candidateActors(app, options);
  const judge = await judgeOf(app, options, actors.length);
  if (actors.length === 1) return undefined;
  const request = requireRequest(wish);
  const asked = await pricedActors(app, wish, judge === undefined ? actors : [...actors, judge]);
  const cap = await groupBudget(app, wish.budget, asked);
  const { input, made } = await preparedRun(app, { ...wish, request }, actors, call);
  const inputs = actors.map((execution) => ({ ...input, actors: { execution, strategy: wish.strategyActor } }));
  const directory = await sessionDirectory(wish.directory);
  const wishes = { inputs, cap, judge, rule: options.choose, directory };
  const { group } = await makeCandidates({ store: await app.store(), user: await app.user() }, wishes);
  return { group, made, uncommitted: await warnUncommitted(wish, call), session: undefined };
}

/** The undecided group of a plan that is to continue, each of whose candidates is told what comes next. */
export async function continuedGroup(
  app: App,
  plan: PlanId,
  wish: CandidateOptions & { readonly request: string },
  call: Call,
): Promise<CandidateGroup | undefined> {
  const group = await (await app.store()).read((reader) => groupOfPlan(reader, plan));
  if (group === undefined || group.chosen !== undefined) return undefined;
  const { plans } = group;
  call.tell({ type: "notice", level: "info", text: `Continuing ${plans.length} candidates (group ${group.id}).` });
  const judge = await judgeOf(app, { ...wish, judge: wish.judge ?? group.judge }, plans.length);
  if (wish.request.trim() !== "") {
    const service = await app.plans();
    for (const id of plans) if (!isTerminal(await service.getPlan(id))) await guidePlan(app, id, wish.request);
  }
  return { ...group, judge, rule: wish.choose ?? group.rule };
}

export const TriedAll = Comparison.extend({
  outcome: z.literal("candidates"),
  /** The chosen one; else the best, else the first. */
  planId: z.string(),
  /** The chosen one; null when none was applied. */
  applied: Applied.nullable(),
  /** Why none was applied; null when one was, and when the user has still to choose. */
  notApplied: z.string().nullable(),
});

/** Carries all of them out, compares them, and applies the chosen one. */
export async function tryAll(
  app: App,
  wanted: CandidateGroup,
  options: ExecutePlanOptions & ChoiceOptions,
  call: Call,
): Promise<z.output<typeof TriedAll>> {
  const { group: ended, errors } = await runCandidates(app, wanted, options, call);
  const group = { ...ended, judge: wanted.judge, rule: wanted.rule };
  const compared = await comparedAndJudged(app, group, call, errors);
  const { comparison, applied, notApplied } = await chooseOne(app, group, compared, options, call);
  const { chosen, best, candidates } = comparison;
  return {
    ...comparison,
    outcome: "candidates",
    planId: chosen?.planId ?? best ?? candidates[0]?.planId ?? "",
    applied: applied ?? null,
    notApplied: notApplied ?? null,
  };
}
