import type { PlanId } from "../domain/ids.ts";
import type { Reader, Tx } from "../store/store.ts";
import type { Sandbox, SandboxStrategy } from "./sandbox.ts";

/**
 * What a plan's sandbox was made of, in the store: enough to make it again elsewhere, and to know where its changes belong. Written
 * once; whatever the user does to the branch later, the plan's changes are changes to this.
 */
export interface SandboxRecord {
  readonly alias: string;
  readonly strategy: SandboxStrategy;
  /** The user's checkout or directory. */
  readonly path: string;
  /** The branch it started from, in full; undefined for a directory and for a detached HEAD. */
  readonly ref: string | undefined;
  readonly baseCommit: string | undefined;
  /** Whether it started from files that were not committed. */
  readonly dirty: boolean;
}

export function describeSandbox(sandbox: Sandbox): SandboxRecord {
  const { alias, strategy, path, ref, base: baseCommit } = sandbox;
  return { alias, strategy, path, ref, baseCommit, dirty: false };
}

export async function recordSandbox(
  tx: Tx,
  plan: { readonly id: PlanId; readonly attempt: number },
  record: SandboxRecord,
): Promise<void> {
  await tx.run(
    `INSERT INTO sandboxes (plan_id, attempt, alias, strategy, path, ref, base_commit, dirty, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, now_ms()) ON CONFLICT (plan_id, attempt, alias) DO NOTHING`,
    plan.id,
    plan.attempt,
    record.alias,
    record.strategy,
    record.path,
    record.ref ?? null,
    record.baseCommit ?? null,
    Number(record.dirty),
  );
}

export async function findSandboxRecords(reader: Reader, planId: PlanId, attempt: number): Promise<SandboxRecord[]> {
  const rows = await reader.all<{
    alias: string;
    strategy: SandboxStrategy;
    path: string;
    ref: string | null;
    base_commit: string | null;
    dirty: number;
  }>("SELECT * FROM sandboxes WHERE plan_id = ? AND attempt = ? ORDER BY alias", planId, attempt);
  return rows.map((row) => ({
    alias: row.alias,
    strategy: row.strategy,
    path: row.path,
    ref: row.ref ?? undefined,
    baseCommit: row.base_commit ?? undefined,
    dirty: row.dirty === 1,
  }));
}
