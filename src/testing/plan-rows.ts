/** Everything the store holds about one plan, row by row, for tests that must see that nothing was written. */
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";

type Row = Readonly<Record<string, string | number | null>>;

export interface PlanRows {
  readonly plan: readonly Row[];
  readonly lease: readonly Row[];
  readonly failures: readonly Row[];
  readonly steps: readonly Row[];
  readonly decisions: readonly Row[];
  readonly calls: readonly Row[];
  readonly changesets: readonly Row[];
  readonly changes: readonly Row[];
  readonly events: readonly Row[];
  readonly audit: readonly Row[];
}

export async function planRows(store: Store, planId: PlanId): Promise<PlanRows> {
  return store.read(async (reader) => {
    const all = async (sql: string): Promise<Row[]> => (await reader.all<Row>(sql, planId)).map((row) => ({ ...row }));
    return {
      plan: await all("SELECT * FROM plans WHERE id = ?"),
      lease: await all("SELECT * FROM leases WHERE plan_id = ?"),
      failures: await all("SELECT * FROM plan_failures WHERE plan_id = ? ORDER BY position"),
      steps: await all("SELECT * FROM steps WHERE plan_id = ? ORDER BY phase, attempt, key"),
      decisions: await all("SELECT * FROM decisions WHERE plan_id = ? ORDER BY sequence"),
      calls: await all("SELECT * FROM tool_invocations WHERE plan_id = ? ORDER BY sequence"),
      changesets: await all("SELECT * FROM changesets WHERE plan_id = ? ORDER BY sequence"),
      changes: await all(
        `SELECT * FROM change_entries WHERE changeset_id IN (SELECT id FROM changesets WHERE plan_id = ?)
          ORDER BY changeset_id, sequence`,
      ),
      events: await all("SELECT * FROM events WHERE plan_id = ? ORDER BY sequence"),
      audit: await all("SELECT * FROM audit_entries WHERE chain = ? ORDER BY position"),
    };
  });
}

/** One step of a plan's history, as its audit entry tells it. */
export interface HistoryEntry {
  readonly version: number;
  readonly type: string;
  readonly status: string;
  readonly at: number;
  readonly operation: string | undefined;
  readonly from: string | undefined;
  readonly epoch: number | undefined;
}

export function history(rows: PlanRows): HistoryEntry[] {
  return rows.audit.map((row) => {
    const details = JSON.parse(String(row["details"])) as { operation?: string; from?: string; epoch?: number };
    return {
      version: Number(row["plan_version"]),
      type: String(row["type"]),
      status: String(row["status"]),
      at: Number(row["at"]),
      operation: details.operation,
      from: details.from,
      epoch: details.epoch,
    };
  });
}
