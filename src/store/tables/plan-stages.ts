/** The owner of the table `plan_stages`: the modules that replace stages of a plan's context assembly. */
import type { PlanId } from "../../domain/names/ids.ts";
import type { Reader, Tx } from "../port.ts";

/** The stages of context assembly that a plan brings its own module for. Written with the plan, never changed. */
export async function insertPlanStages(tx: Tx, planId: PlanId, stages: ReadonlyMap<string, string>): Promise<void> {
  for (const [stage, module] of stages) {
    await tx.run("INSERT INTO plan_stages (plan_id, stage, module) VALUES (?, ?, ?)", planId, stage, module);
  }
}

export async function findPlanStages(reader: Reader, planId: PlanId): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.all<{ stage: string; module: string }>(
    "SELECT stage, module FROM plan_stages WHERE plan_id = ? ORDER BY stage",
    planId,
  );
  return new Map(rows.map(({ stage, module }) => [stage, module]));
}
