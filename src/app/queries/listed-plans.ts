/** Plans as lists show them: the request first, then where it stands, its changes, its cost. */
import * as z from "zod";
import type { PlanId } from "../../domain/names/ids.ts";
import type { CandidateGroup } from "../../domain/plan/candidate.ts";
import { sessionTitle } from "../../domain/plan/session.ts";
import { standingOf, STANDINGS, type Standing } from "../../domain/plan/standing.ts";
import { PHASES, STATES, statusKey } from "../../domain/plan/transitions.ts";
import { changedFileCounts } from "../../ledger/changed-files.ts";
import { plansSpending } from "../../ledger/budget-report.ts";
import { groupsOf } from "../../ledger/candidate-records.ts";
import { heldPlans } from "../../ledger/leases.ts";
import type { Reader } from "../../store/port.ts";
import { findPlanSummaries, type PlanFilter, type PlanSummary } from "../../store/tables/plan-summaries.ts";
import { projectKeysAt } from "../../store/tables/resources.ts";
import type { App } from "../base/app.ts";
import { Instant, instant } from "../base/schemas.ts";
import { planElapsed } from "./plan-progress.ts";
import { sessionDirectory } from "./session-facts.ts";
import { CostSum, costSum } from "./spending.ts";

export const ListedPlan = z.strictObject({
  planId: z.string(),
  /** A short name that never changes. */
  number: z.int(),
  shortId: z.string(),
  /** The request, in a line. */
  request: z.string(),
  /** Where it stands, as people say it. */
  standing: z.enum(STANDINGS),
  /** The question it waits with. */
  awaitingInput: z.string().nullable(),
  /** It works on the repository or the directory of the caller. */
  here: z.boolean(),
  name: z.string(),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  action: z.string(),
  project: z.string().nullable(),
  projects: z.array(z.string()).readonly(),
  /** The group that it is a candidate of, and whether it, another one or none (null) was chosen there. */
  candidateOf: z.string().nullable(),
  chosen: z.boolean().nullable(),
  changedFiles: z.int(),
  cost: CostSum,
  elapsed: z.string(),
  createdAt: Instant,
  updatedAt: Instant,
});

export type ListedPlan = z.output<typeof ListedPlan>;

/** A plan found, with where it stands. */
export interface StandingPlan {
  readonly plan: PlanSummary;
  readonly standing: Standing;
  /** The group that it is a candidate of. */
  readonly group: CandidateGroup | undefined;
  readonly here: boolean;
}

/** The keys of the projects of a directory; none without one. */
export async function projectsHere(app: App, directory: string | undefined): Promise<string[]> {
  if (directory === undefined) return [];
  // A unit of work awaits only its own statements.
  const place = await sessionDirectory(directory);
  return (await app.store()).read((reader) => projectKeysAt(reader, place));
}

export interface PlanSearch {
  readonly filter: Omit<PlanFilter, "among" | "outside">;
  /** The keys of the projects whose plans come first. */
  readonly first: readonly string[];
  /** Only those. */
  readonly only: boolean;
  readonly limit: number;
  readonly fits?: ((found: StandingPlan) => boolean) | undefined;
}

const PAGE = 500;

/** Plans that fit: those of the first projects, then the others, the newest first in each part. */
export async function searchPlans(reader: Reader, search: PlanSearch): Promise<StandingPlan[]> {
  const { filter, first, only, limit } = search;
  const here = first.length === 0 ? [] : await part(reader, search, { ...filter, among: first }, limit);
  if (only || here.length >= limit) return here;
  return [...here, ...(await part(reader, search, { ...filter, outside: first }, limit - here.length))];
}

/** With a condition the plans are read page by page until enough of them fit. */
async function part(reader: Reader, { fits }: PlanSearch, filter: PlanFilter, limit: number): Promise<StandingPlan[]> {
  const size = fits === undefined ? limit : PAGE;
  const here = filter.among !== undefined;
  const found: StandingPlan[] = [];
  let before: PlanId | undefined;
  for (;;) {
    const page = await findPlanSummaries(reader, filter, { limit: size, before });
    const standing = (await standingPlans(reader, page)).map((one) => ({ ...one, here }));
    found.push(...(fits === undefined ? standing : standing.filter(fits)));
    if (found.length >= limit || page.length < size) return found.slice(0, limit);
    before = page.at(-1)?.id;
  }
}

/** In three statements for a page of plans. */
async function standingPlans(reader: Reader, plans: readonly PlanSummary[]): Promise<Omit<StandingPlan, "here">[]> {
  const working = plans.filter(({ status }) => status.state === "processing").map(({ id }) => id);
  const executed = plans.filter(({ status }) => statusKey(status) === "execute/complete").map(({ id }) => id);
  const held = await heldPlans(reader, working);
  const changed = await changedFileCounts(reader, executed);
  const groups = await groupsOf(
    reader,
    plans.map(({ id }) => id),
  );
  return plans.map((plan) => {
    const { id, status, undone, awaiting } = plan;
    const group = groups.get(id);
    const standing = standingOf(status, {
      undone,
      asks: awaiting !== undefined,
      isWorkedOn: held.has(id),
      hasChanges: changed.has(id),
      passedOver: isChosen(plan, group) === false,
    });
    return { plan, standing, group };
  });
}

/** Undefined outside of a group, and where none was chosen yet. */
function isChosen({ id }: PlanSummary, group: CandidateGroup | undefined): boolean | undefined {
  return group?.chosen === undefined ? undefined : group.chosen.plan === id;
}

/** In two statements for a page of plans. */
export async function listedPlans(reader: Reader, found: readonly StandingPlan[]): Promise<ListedPlan[]> {
  const ids = found.map(({ plan }) => plan.id);
  const spendings = await plansSpending(reader, ids);
  const changed = await changedFileCounts(reader, ids);
  const now = Date.now();
  return found.map(({ plan, standing, group, here }) => ({
    planId: plan.id,
    number: plan.number,
    shortId: plan.shortId,
    request: sessionTitle(plan.description),
    standing,
    awaitingInput: plan.awaiting ?? null,
    here,
    name: plan.name,
    phase: plan.status.phase,
    state: plan.status.state,
    action: plan.action,
    project: plan.projects[0] ?? null,
    projects: plan.projects,
    candidateOf: group?.id ?? null,
    chosen: isChosen(plan, group) ?? null,
    changedFiles: changed.get(plan.id) ?? 0,
    cost: costSum(spendings.get(plan.id)),
    elapsed: planElapsed(plan, now),
    createdAt: instant(plan.createdAt),
    updatedAt: instant(plan.updatedAt),
  }));
}
