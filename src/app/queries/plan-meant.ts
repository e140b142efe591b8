/**
 * Which plan a user means. By its number, its id or a beginning of it, its name, `last`, or words of its request that
 * only one plan has; without any of these, the newest plan here that fits the operation. A plan that was not named
 * exactly is named in the first line of the answer, and where a mistake matters the user is asked.
 */
import { AgentsError, NotFoundError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { sessionTitle } from "../../domain/plan/session.ts";
import type { Standing } from "../../domain/plan/standing.ts";
import { shown } from "../../domain/text/text.ts";
import { findPlanByNumber, type PlanSummary } from "../../store/tables/plan-summaries.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";
import { projectsHere, searchPlans, type PlanSearch } from "./listed-plans.ts";

/** The plan that a caller named, and where the caller is. */
export interface PlanGiven {
  readonly plan?: string | undefined;
  readonly directory?: string | undefined;
}

/** For which operation a plan is wanted. */
export interface PlanWanted {
  /** "plan.apply" */
  readonly operation: string;
  /** Where a plan stands that the operation is for; any, unless given. */
  readonly standings?: readonly Standing[];
  /** The question for a plan that was not named: "Cancel". An operation that asks by itself needs none. */
  readonly verb?: string;
  /** Words of a request do not name a plan here: they could be the beginning of a text. */
  readonly exact?: true;
  /** The effect cannot simply be done again: where no one can be asked, the plan must be named. */
  readonly matters?: true;
}

export async function planMeant(app: App, given: PlanGiven, wanted: PlanWanted, call: Call): Promise<Plan> {
  const plan = await planWanted(app, given, wanted, call);
  call.meant?.(plan);
  return plan;
}

async function planWanted(app: App, given: PlanGiven, wanted: PlanWanted, call: Call): Promise<Plan> {
  const plans = await app.plans();
  const named = given.plan?.trim();
  if (named !== undefined && isId(named)) return plans.getPlan(named);
  const found =
    named === undefined || isLast(named)
      ? await newestHere(app, given.directory, wanted, named)
      : await planBy(app, named, given.directory, wanted);
  if (named === undefined && wanted.matters === true && call.answers === "none") throw unnamedError(found, wanted);
  call.tell({ type: "notice", level: "info", text: `Plan ${found.number} (${found.shortId}): ${requestOf(found)}` });
  if (named === undefined && wanted.verb !== undefined) {
    if (!(await confirmed(call, `${wanted.verb} this plan?`))) throw declinedError(found, wanted);
  }
  return plans.getPlan(found.id);
}

/** The plan's id where it was named exactly enough to be one; for operations that take other ids too. */
export function isId(text: string): boolean {
  // Ids begin with a zero until the year 3084, numbers do not.
  return /^0[0-9A-HJKMNP-TV-Z]*$/i.test(text);
}

function isLast(text: string): boolean {
  return ["last", "@last", "@"].includes(text.toLowerCase());
}

async function newestHere(
  app: App,
  directory: string | undefined,
  { operation, standings }: PlanWanted,
  named: string | undefined,
): Promise<PlanSummary> {
  const next = [nextStep("plan.list")];
  if (directory === undefined) throw new UsageError("Name the plan.", { kept: "Nothing was changed.", next });
  const first = await projectsHere(app, directory);
  // "last" is the newest of all.
  const wanted = named === undefined ? standings : undefined;
  const fits = wanted === undefined ? undefined : ({ standing }: { standing: Standing }) => wanted.includes(standing);
  const [found] = await search(app, { first, only: true, limit: 1, fits });
  if (found !== undefined) return found;
  const any = await search(app, { first, only: true, limit: 1 });
  const command = operation.replaceAll(".", " ");
  throw new AgentsError(
    "not_found",
    any.length === 0 ? `No plan works on ${directory}.` : `No plan of this directory fits "${command}" now.`,
    {
      kept: "Nothing was changed.",
      next: [...next, ...(any.length === 0 ? [nextStep("run", { request: "<what you want done>" })] : [])],
    },
  );
}

/** By its number, its name, or words of its request: those of the directory win over others. */
async function planBy(
  app: App,
  named: string,
  directory: string | undefined,
  { exact }: PlanWanted,
): Promise<PlanSummary> {
  const next = [nextStep("plan.list")];
  if (/^[1-9]\d{0,14}$/.test(named)) {
    const numbered = await (await app.store()).read((reader) => findPlanByNumber(reader, Number(named)));
    if (numbered === undefined) throw new NotFoundError("plan", named, { next });
    return numbered;
  }
  if (named === "") throw new UsageError(`${shown(named)} is not a plan.`, { next });
  const first = await projectsHere(app, directory);
  const words = named.toLowerCase().split(/\s+/);
  const isNamed = ({ name }: PlanSummary): boolean => name.toLowerCase() === words.join(" ");
  const hasWords = ({ description }: PlanSummary): boolean => {
    const text = description.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const fits: PlanSearch["fits"] = ({ plan }) => isNamed(plan) || (exact !== true && hasWords(plan));
  const here = first.length === 0 ? [] : await search(app, { first, only: true, limit: MOST + 1, fits });
  const found = here.length > 0 ? here : await search(app, { first: [], only: false, limit: MOST + 1, fits });
  const called = found.find(isNamed);
  const [only, another] = found;
  if (called !== undefined) return called;
  if (only === undefined) throw new NotFoundError("plan", named, { next });
  if (another === undefined) return only;
  throw ambiguousError(named, found);
}

/** Candidates in an error. */
const MOST = 5;

async function search(app: App, wanted: Omit<PlanSearch, "filter">): Promise<PlanSummary[]> {
  const found = await (await app.store()).read((reader) => searchPlans(reader, { filter: {}, ...wanted }));
  return found.map(({ plan }) => plan);
}

function requestOf({ description }: PlanSummary): string {
  return sessionTitle(description);
}

function ambiguousError(named: string, found: readonly PlanSummary[]): UsageError {
  const candidates = found.slice(0, MOST);
  const lines = candidates.map((one) => `${one.number} (${requestOf(one)})`);
  return new UsageError(`Several plans fit ${shown(named)}: ${lines.join(", ")}${found.length > MOST ? ", …" : ""}.`, {
    kept: "Nothing was changed.",
    detail: { candidates: candidates.map(({ id }) => id) },
    next: [{ text: "repeat the command with the number of the plan" }],
  });
}

function unnamedError(found: PlanSummary, { operation }: PlanWanted): UsageError {
  return new UsageError(
    `Name the plan: the newest here that fits is ${found.number} (${found.shortId}): ${requestOf(found)}.`,
    {
      kept: "Nothing was changed.",
      detail: { candidates: [found.id] },
      next: namedNext(found, operation),
    },
  );
}

function declinedError(found: PlanSummary, { operation }: PlanWanted): UsageError {
  return new UsageError("Nothing was done.", { kept: "The plan is as it was.", next: namedNext(found, operation) });
}

function namedNext(found: PlanSummary, operation: string): NextStep[] {
  return [nextStep(operation, { plan: found.id })];
}
