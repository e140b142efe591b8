/**
 * How much the models of one plan think, in the table `plan_efforts`: goes before what their actors say, also when the
 * plan goes on later.
 */
import { parseReasoning, type Reasoning } from "../domain/actor/reasoning.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Reader, Tx } from "../store/port.ts";
import { recordSystemEvent } from "./system-events.ts";

export async function planEffort(reader: Reader, planId: PlanId): Promise<Reasoning | undefined> {
  const row = await reader.get<{ effort: string }>("SELECT effort FROM plan_efforts WHERE plan_id = ?", planId);
  return parseReasoning(row?.effort);
}

/** Counts from the next call of a model on. */
export async function setPlanEffort(
  tx: Tx,
  change: { readonly planId: PlanId; readonly effort: Reasoning; readonly user: string },
): Promise<void> {
  const { planId, effort, user } = change;
  const before = await planEffort(tx, planId);
  if (before === effort) return;
  await tx.run("DELETE FROM plan_efforts WHERE plan_id = ?", planId);
  await tx.run("INSERT INTO plan_efforts (plan_id, effort) VALUES (?, ?)", planId, String(effort));
  await recordSystemEvent(tx, { type: "effort.changed", user, planId, details: { from: before ?? null, to: effort } });
}
