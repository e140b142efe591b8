import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { PHASES, STATES, type State } from "../../domain/plan/transitions.ts";
import type { PlanSummary } from "../../store/tables/plans.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps } from "../base/schemas.ts";
import { planElapsed } from "../queries/plan-progress.ts";

const DEFAULT_LIMIT = 50;
const PAGE = 500;

const Input = z.strictObject({
  regex: z.string().optional(),
  phase: z.enum(PHASES).optional(),
  state: z.enum(STATES).optional(),
  project: z.string().optional(),
  action: z.string().optional(),
  limit: z.int().min(1).max(100_000).default(DEFAULT_LIMIT),
});

const Listed = z.strictObject({
  id: z.string(),
  shortId: z.string(),
  name: z.string(),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  awaitingInput: z.string().nullable(),
  action: z.string(),
  project: z.string().nullable(),
  projects: z.array(z.string()).readonly(),
  elapsed: z.string(),
  createdAt: Instant,
  updatedAt: Instant,
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    plans: z.array(Listed),
    filters: z.strictObject({
      phase: z.string().nullable(),
      state: z.string().nullable(),
      project: z.string().nullable(),
      action: z.string().nullable(),
      regex: z.string().nullable(),
    }),
    summary: z.strictObject({
      total: z.int(),
      shown: z.int(),
      queued: z.int(),
      processing: z.int(),
      completed: z.int(),
      constrained: z.int(),
      errored: z.int(),
      cancelled: z.int(),
    }),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input) => {
    const { limit, regex, ...query } = input;
    const pattern = parsePattern(regex);
    const { plans, counts } = await matchingPlans(app, query, { pattern, limit });
    const of = (state: State): number => counts.get(state) ?? 0;
    const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
    const now = Date.now();
    return {
      plans: plans.map((plan) => listed(plan, now)),
      filters: {
        phase: query.phase ?? null,
        state: query.state ?? null,
        project: query.project ?? null,
        action: query.action ?? null,
        regex: pattern?.source ?? null,
      },
      summary: {
        total,
        shown: plans.length,
        queued: of("queued"),
        processing: of("processing"),
        completed: of("complete") + of("applied"),
        constrained: of("constrained"),
        errored: of("errored"),
        cancelled: of("cancelled"),
      },
      ...(total === 0 ? { nextSteps: [nextStep("run", { request: "<what you want done>" })] } : {}),
    };
  },
});

/** With a pattern the plans are read page by page until enough of them match. */
async function matchingPlans(
  app: App,
  query: Omit<z.output<typeof Input>, "limit" | "regex">,
  { pattern, limit }: { readonly pattern: RegExp | undefined; readonly limit: number },
): Promise<{ readonly plans: readonly PlanSummary[]; readonly counts: ReadonlyMap<State, number> }> {
  const service = await app.plans();
  const filters = { phase: query.phase, state: query.state, project: query.project, action: query.action };
  const first = await service.listPlans({ ...filters, limit: pattern === undefined ? limit : PAGE });
  if (pattern === undefined) return first;
  const found = first.plans.filter((plan) => matches(plan, pattern));
  let page = first.plans;
  while (found.length < limit && page.length === PAGE) {
    const before: PlanId | undefined = page.at(-1)?.id;
    page = (await service.listPlans({ ...filters, limit: PAGE, before })).plans;
    found.push(...page.filter((plan) => matches(plan, pattern)));
  }
  return { plans: found.slice(0, limit), counts: first.counts };
}

function matches({ id, name, action, projects }: PlanSummary, pattern: RegExp): boolean {
  return pattern.test([id, name, action, ...projects].join("\n"));
}

function parsePattern(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text, "iu");
  } catch (error) {
    throw new UsageError(`"${text}" is not a regular expression: ${error instanceof Error ? error.message : ""}.`);
  }
}

function listed(plan: PlanSummary, now: number): z.output<typeof Listed> {
  return {
    id: plan.id,
    shortId: plan.shortId,
    name: plan.name,
    phase: plan.status.phase,
    state: plan.status.state,
    awaitingInput: plan.awaiting ?? null,
    action: plan.action,
    project: plan.projects[0] ?? null,
    projects: plan.projects,
    elapsed: planElapsed(plan, now),
    createdAt: instant(plan.createdAt),
    updatedAt: instant(plan.updatedAt),
  };
}
