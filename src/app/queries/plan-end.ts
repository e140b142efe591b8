/** Whether a plan that another process works on has come as far as a caller waits for. */
import { isTerminal } from "../../domain/plan/transitions.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Standing } from "../../domain/plan/standing.ts";
import { findJobs, type Job } from "../../ledger/jobs.ts";
import type { PlanQuestion } from "../../ledger/questions.ts";
import { findPlan } from "../../store/tables/plans.ts";
import type { Reader } from "../../store/port.ts";
import { planSituation } from "./plan-situation.ts";

/** `ready`: there is a result. `applied`: it is applied, or there is nothing to apply. `ended`: the plan is final. */
export const WAITED_FOR = ["ready", "applied", "ended"] as const;
export type WaitedFor = (typeof WAITED_FOR)[number];

/**
 * `goes on`: a process works on the plan, or it is queued. `still`: nothing happens by itself any more, and the plan is
 * not as far as the caller waits for.
 */
export interface PlanEnd {
  readonly kind: "goes on" | "reached" | "waits" | "still" | "gone";
  readonly plan: Plan;
  readonly standing: Standing;
  readonly question: PlanQuestion | undefined;
  readonly job: Job | undefined;
}

export async function planEnd(reader: Reader, seen: Plan, until: WaitedFor): Promise<PlanEnd> {
  const plan = (await findPlan(reader, seen.id)) ?? seen;
  const { standing, question } = await planSituation(reader, plan);
  const [job] = await findJobs(reader, plan.id);
  const goesOn = standing === "working" || job?.state === "queued" || job?.state === "active";
  return { kind: endKind(plan, standing, until, goesOn), plan, standing, question, job };
}

function endKind(plan: Plan, standing: Standing, until: WaitedFor, goesOn: boolean): PlanEnd["kind"] {
  if (standing === "cancelled" || standing === "not chosen") return "gone";
  if (isTerminal(plan)) return "reached";
  if (goesOn && (until !== "ready" || plan.phase !== "execute" || plan.state !== "complete")) return "goes on";
  if (standing === "answered" && until !== "ended") return "reached";
  if (standing === "ready to review" && until === "ready") return "reached";
  if (standing === "waiting for you" || standing === "ready to review" || standing === "answered") {
    // Until its very end, a plan is waited for also while a person thinks.
    return until === "ended" ? "goes on" : "waits";
  }
  return "still";
}
