import { UsageError } from "../../domain/errors.ts";
import type { PlanId } from "../../domain/ids.ts";
import { PHASES, STATES, type State } from "../../domain/transitions.ts";
import type { PlanList } from "../../plans/plan-lifecycle-service.ts";
import type { PlanSummary } from "../../store/plans.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant, orDash, planElapsed, stateCell } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned } from "../view.ts";

const DEFAULT_LIMIT = 50;
const PAGE = 500;

export async function planList(context: CommandContext, input: Input): Promise<Outcome> {
  const plans = await context.plans();
  const query = {
    phase: PHASES.find((phase) => phase === input.text("phase")),
    state: STATES.find((state) => state === input.text("state")),
    project: input.text("project"),
    action: input.text("action"),
  };
  const limit = parseLimit(input.text("limit"), DEFAULT_LIMIT);
  const pattern = parsePattern(input.optionalArgument(0));
  let list = await plans.listPlans({ ...query, limit: pattern === undefined ? limit : PAGE });
  let shown = matching(list, pattern);
  while (pattern !== undefined && shown.length < limit && list.plans.length === PAGE) {
    const before: PlanId | undefined = list.plans.at(-1)?.id;
    list = { ...list, plans: (await plans.listPlans({ ...query, limit: PAGE, before })).plans };
    shown = [...shown, ...matching(list, pattern)];
  }
  shown = shown.slice(0, limit);
  const { counts } = list;
  const of = (state: State): number => counts.get(state) ?? 0;
  const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const now = Date.now();
  return {
    data: {
      plans: shown.map((plan) => ({
        id: plan.id,
        short_id: plan.shortId,
        name: plan.name,
        phase: plan.status.phase,
        state: plan.status.state,
        awaiting_input: plan.awaiting ?? null,
        action: plan.action,
        project: plan.projects[0] ?? null,
        projects: plan.projects,
        elapsed: planElapsed(plan, now),
        created_at: instant(plan.createdAt),
        updated_at: instant(plan.updatedAt),
      })),
      filters: {
        phase: query.phase ?? null,
        state: query.state ?? null,
        project: query.project ?? null,
        action: query.action ?? null,
        regex: pattern?.source ?? null,
      },
      summary: {
        total,
        shown: shown.length,
        queued: of("queued"),
        processing: of("processing"),
        completed: of("complete") + of("applied"),
        constrained: of("constrained"),
        errored: of("errored"),
        cancelled: of("cancelled"),
      },
    },
    view: [
      {
        kind: "table",
        title: "Plans",
        columns: [{ keep: "Plan" }, "Phase", "State", "Action", "Project", "Elapsed"],
        rows: shown.map((plan) => [
          plan.shortId,
          plan.status.phase,
          plan.awaiting === undefined ? stateCell(plan.status.state) : toned("asks", "warn"),
          plan.action,
          orDash(plan.projects.join(", ") || undefined),
          planElapsed(plan, now),
        ]),
        empty: total === 0 ? "No plans." : "No plan fits.",
      },
    ],
    messages: info(
      `${count(shown.length, "plan")} of ${total} shown${shown.length < total ? " (more with --limit)" : ""}.`,
    ),
    ...(total === 0 ? { next: ["agents plan use <action> <project>"] } : {}),
  };
}

export function parseLimit(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 100_000) {
    throw new UsageError(`"${text}" is no limit: give a whole number from 1 to 100000.`);
  }
  return limit;
}

function parsePattern(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text, "iu");
  } catch (error) {
    throw new UsageError(`"${text}" is not a regular expression: ${error instanceof Error ? error.message : ""}.`);
  }
}

function matching(list: PlanList, pattern: RegExp | undefined): PlanSummary[] {
  const fits = (plan: PlanSummary): boolean =>
    pattern === undefined || pattern.test([plan.id, plan.name, plan.action, ...plan.projects].join("\n"));
  return list.plans.filter(fits);
}
