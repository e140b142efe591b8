/** Counts of a plan's records, for its status. */
import type { PlanId } from "../domain/names/ids.ts";
import type { Reader } from "../store/port.ts";

/** How much a plan has recorded, over all attempts. */
export interface PlanActivity {
  readonly steps: number;
  readonly changesets: number;
  readonly changes: number;
}

export async function planActivity(reader: Reader, planId: PlanId): Promise<PlanActivity> {
  const row = await reader.get<PlanActivity>(
    `SELECT (SELECT COUNT(*) FROM steps WHERE plan_id = ?) AS steps,
            (SELECT COUNT(*) FROM changesets WHERE plan_id = ?) AS changesets,
            (SELECT COALESCE(SUM(entry_count), 0) FROM changesets WHERE plan_id = ?) AS changes`,
    planId,
    planId,
    planId,
  );
  return { steps: row?.steps ?? 0, changesets: row?.changesets ?? 0, changes: row?.changes ?? 0 };
}
