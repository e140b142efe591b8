/** The answer of a plan's model in words: the summary with which its last step ended. */
import type { Plan } from "../domain/plan/plan.ts";
import type { Store } from "../store/port.ts";
import { placedRecords } from "./step-records.ts";

/** Undefined when no model worked on the plan's present attempt, or has not ended a step. */
export async function planAnswer(store: Store, plan: Pick<Plan, "id" | "attempt">): Promise<string | undefined> {
  const records = await store.read((reader) => placedRecords(reader, plan.id, plan.attempt));
  const last = records.findLast((record) => record.kind === "step_end");
  const text = last?.kind === "step_end" ? last.summary.trim() : "";
  return text === "" ? undefined : text;
}
