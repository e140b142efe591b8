/** The plans that concern their user now: the request, what it needs, and the one command that gives it. */
import * as z from "zod";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { STANDINGS, type Standing } from "../../domain/plan/standing.ts";
import type { App } from "../base/app.ts";
import { Next } from "../base/schemas.ts";
import { changedFiles } from "../../ledger/changed-files.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import { plansInQueue } from "../../ledger/jobs.ts";
import type { Reader } from "../../store/port.ts";
import { ListedPlan, listedPlans, projectsHere, searchPlans, type StandingPlan } from "./listed-plans.ts";

export const Waiting = z.strictObject({
  planId: z.string(),
  number: z.int(),
  request: z.string(),
  standing: z.enum(STANDINGS),
  needs: z.string(),
  here: z.boolean(),
  next: Next,
});

export type Waiting = z.output<typeof Waiting>;

const WAITS: readonly Standing[] = ["waiting for you", "ready to review", "stopped"];

/** At most `limit`: those of the directory first, the newest first. */
export async function waitingPlans(app: App, directory: string | undefined, limit: number): Promise<Waiting[]> {
  const first = await projectsHere(app, directory);
  const plans = await (
    await app.store()
  ).read(async (reader) => {
    const queued = await plansInQueue(reader);
    const fits = ({ plan, standing }: Pick<StandingPlan, "plan" | "standing">): boolean =>
      WAITS.includes(standing) && !queued.has(plan.id);
    return listedPlans(
      reader,
      await searchPlans(reader, { filter: { active: true }, first, only: false, limit, fits }),
    );
  });
  return plans.map((plan) => ({
    planId: plan.planId,
    number: plan.number,
    request: plan.request,
    standing: plan.standing,
    here: plan.here,
    ...needOf(plan),
  }));
}

/** The groups of the inbox, in the order in which they are shown. */
const GROUPS = ["needs you", "working", "ready to review", "stopped", "done"] as const;
type Group = (typeof GROUPS)[number];

const GROUP_OF: Readonly<Record<Standing, Group | undefined>> = {
  "waiting for you": "needs you",
  working: "working",
  "ready to review": "ready to review",
  stopped: "stopped",
  "not started": "stopped",
  answered: "done",
  applied: "done",
  undone: "done",
  "not chosen": undefined,
  cancelled: undefined,
};

export const InboxPlan = ListedPlan.extend({
  group: z.enum(GROUPS),
  /** Its need for its user; null where there is none. */
  needs: z.string().nullable(),
  next: Next.nullable(),
  /** The numbers of other working plans that change a file that this one changes. */
  sameFiles: z.array(z.int()).readonly(),
});

export type InboxPlan = z.output<typeof InboxPlan>;

/** More than anyone reads on a screen; the list of plans has all. */
const ACTIVE = 200;
const DONE = 8;

/** Group by group; in each those of the directory first, the newest first. `first`: the projects of the directory. */
export async function inboxPlans(reader: Reader, first: readonly string[]): Promise<InboxPlan[]> {
  const fits = ({ standing }: { readonly standing: Standing }): boolean => GROUP_OF[standing] !== undefined;
  const active = await searchPlans(reader, { filter: { active: true }, first, only: false, limit: ACTIVE, fits });
  const applied = await searchPlans(reader, { filter: { state: "applied" }, first, only: false, limit: DONE });
  const plans = await listedPlans(reader, [...active, ...applied]);
  const queued = await plansInQueue(reader);
  const groupOf = ({ planId, standing }: ListedPlan): Group | undefined =>
    queued.has(planId) ? "working" : GROUP_OF[standing];
  const same = await sameFiles(
    reader,
    plans.filter(({ standing }) => standing === "working"),
  );
  return GROUPS.flatMap((group) =>
    plans
      .filter((plan) => groupOf(plan) === group)
      .slice(0, group === "done" ? DONE : ACTIVE)
      .map((plan) => ({
        ...plan,
        group,
        ...(waits(plan) && !queued.has(plan.planId) ? needOf(plan) : { needs: null, next: null }),
        sameFiles: same.get(plan.planId) ?? [],
      })),
  );
}

function waits({ standing }: ListedPlan): boolean {
  return standing === "not started" || WAITS.includes(standing);
}

/** By the id of a plan, the numbers of the others that change one of its files in one of its projects. */
async function sameFiles(reader: Reader, plans: readonly ListedPlan[]): Promise<ReadonlyMap<string, number[]>> {
  const ids = plans.map(({ planId }) => planId as PlanId);
  const files = await changedFiles(reader, ids);
  const byFile = new Map<string, ListedPlan[]>();
  for (const plan of plans) {
    for (const { resource, path } of files.get(plan.planId as PlanId) ?? []) {
      for (const project of plan.projects) {
        const key = JSON.stringify([project, resource, path]);
        byFile.set(key, [...(byFile.get(key) ?? []), plan]);
      }
    }
  }
  const others = new Map<string, Set<number>>();
  for (const together of byFile.values()) {
    for (const { planId } of together) {
      const known = others.get(planId) ?? new Set<number>();
      for (const other of together) if (other.planId !== planId) known.add(other.number);
      others.set(planId, known);
    }
  }
  return new Map([...others].map(([id, numbers]) => [id, [...numbers].toSorted((a, b) => a - b)]));
}

function needOf(plan: ListedPlan): { readonly needs: string; readonly next: NextStep } {
  const named = { plan: String(plan.number) };
  if (plan.awaitingInput !== null) {
    return { needs: plan.awaitingInput, next: nextStep("plan.prompt", { ...named, text: "<answer>" }) };
  }
  if (plan.standing === "waiting for you") {
    return { needs: "a yes to its strategy", next: nextStep("plan.execute", named) };
  }
  if (plan.standing === "ready to review") {
    const files = plan.changedFiles === 1 ? "1 file" : `${plan.changedFiles} files`;
    return { needs: `a review of ${files}`, next: nextStep("plan.diff", named) };
  }
  if (plan.standing === "not started") return { needs: "to be started", next: nextStep("plan.execute", named) };
  const failed = plan.state === "errored" || plan.state === "constrained";
  return failed
    ? { needs: "a look at why it stopped", next: nextStep("plan.errors", named) }
    : { needs: "to be continued", next: nextStep("plan.resume", named) };
}
