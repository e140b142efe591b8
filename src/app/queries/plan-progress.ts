/** How far a plan is, phase by phase, and how long it has taken. */
import type { Plan } from "../../domain/plan/plan.ts";
import { isRecoverable, isTerminal, PHASES, type Phase, type PlanStatus } from "../../domain/plan/transitions.ts";
import { instant } from "../base/schemas.ts";

export const PROGRESS = ["done", "running", "queued", "pending", "errored", "constrained", "cancelled"] as const;

export function phaseProgress(plan: Plan, now: number) {
  const durations = PHASES.map((phase): [Phase, number | null] => {
    const { startedAt, endedAt } = plan.phaseTimes[phase];
    return [phase, startedAt === undefined ? null : (endedAt ?? now) - startedAt];
  });
  return {
    progress: PHASES.map((phase) => ({ step: phase, status: progressOf(plan, phase) })),
    phaseDurationsMs: Object.fromEntries(durations) as Record<Phase, number | null>,
    timing: { started: instant(plan.createdAt), elapsed: planElapsed({ ...plan, status: plan }, now) },
  };
}

function progressOf(plan: Plan, phase: Phase): (typeof PROGRESS)[number] {
  const here = PHASES.indexOf(plan.phase) - PHASES.indexOf(phase);
  if (here > 0) return "done";
  if (here < 0) return "pending";
  switch (plan.state) {
    case "complete":
    case "applied":
      return "done";
    case "processing":
      return "running";
    case "queued":
    case "errored":
    case "constrained":
    case "cancelled":
      return plan.state;
  }
}

/** How long the plan has been under way, or was: hh:mm:ss, with days in front when there are any. */
export function planElapsed(plan: Pick<Plan, "createdAt" | "updatedAt"> & { status: PlanStatus }, now: number): string {
  const stopped = isTerminal(plan.status) || isRecoverable(plan.status);
  return elapsed((stopped ? plan.updatedAt : now) - plan.createdAt);
}

export function elapsed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const days = Math.floor(seconds / 86_400);
  const clock = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return days === 0 ? clock : `${days}d ${clock}`;
}
