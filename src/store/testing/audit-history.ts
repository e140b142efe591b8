/** A history worth an audit: actions, and plans that went through all their phases. */
import type { Plan } from "../../domain/plan/plan.ts";
import type { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { completeApply } from "../../testing/complete-apply.ts";

export const ACTION = {
  name: "fix",
  description: "Fix it",
  definitionOfDone: "It works",
  executionActor: "local/worker",
};

/** Through all phases to the end: eight transitions. */
export async function runPlan(service: PlanLifecycleService, plan: Plan): Promise<Plan> {
  await service.completeStrategize(await service.startStrategize(plan.id));
  await service.executePlan(plan.id);
  await service.completeExecute(await service.startExecute(plan.id));
  await service.applyPlan(plan.id);
  return completeApply(await service.startApply(plan.id));
}
