/**
 * The actors that the strategist of one plan may give single steps to, in the table `plan_step_actors`: a copy that was
 * made with the plan and never changes.
 */
import type { PlanId } from "../domain/names/ids.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import type { Reader, Tx } from "../store/port.ts";

export async function insertStepActors(tx: Tx, planId: PlanId, actors: readonly QualifiedName[]): Promise<void> {
  for (const [position, actor] of actors.entries()) {
    await tx.run("INSERT INTO plan_step_actors (plan_id, position, actor) VALUES (?, ?, ?)", planId, position, actor);
  }
}

/** Empty for a plan all of whose steps are its execution actor's. */
export async function stepActorsOf(reader: Reader, planId: PlanId): Promise<QualifiedName[]> {
  const rows = await reader.all<{ actor: string }>(
    "SELECT actor FROM plan_step_actors WHERE plan_id = ? ORDER BY position",
    planId,
  );
  return rows.map(({ actor }) => actor as QualifiedName);
}
