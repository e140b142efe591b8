import type { PlanId } from "../domain/ids.ts";
import type { Reader, Tx } from "../store/store.ts";
import type { Sandbox, SandboxStrategy, SandboxTarget } from "./sandbox.ts";

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

/** Where a sandbox that has to be made again starts: never where the branch is by now. */
export function beginningIn(record: SandboxRecord | undefined): Pick<SandboxTarget, "base"> {
  if (record?.baseCommit === undefined) return {};
  return { base: { commit: record.baseCommit, ref: record.ref, dirty: record.dirty } };
}

export async function recordSandbox(
  tx: Tx,
  plan: { readonly id: PlanId; readonly attempt: number },
  sandbox: Sandbox,
): Promise<void> {
  await tx.run(
    `INSERT INTO sandboxes (plan_id, attempt, alias, strategy, path, ref, base_commit, dirty, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, now_ms()) ON CONFLICT (plan_id, attempt, alias) DO NOTHING`,
    plan.id,
    plan.attempt,
    sandbox.alias,
    sandbox.strategy,
    sandbox.path,
    sandbox.ref ?? null,
    sandbox.base ?? null,
    Number(sandbox.dirty),
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

/** Plans that can still go on and work without a sandbox: what others might look for among the sandboxes. */
export async function plansInPlace(
  reader: Reader,
): Promise<{ readonly planId: PlanId; readonly attempt: number; readonly alias: string; readonly path: string }[]> {
  const rows = await reader.all<{ plan_id: PlanId; attempt: number; alias: string; path: string }>(
    `SELECT plan_id, sandboxes.attempt AS attempt, alias, path FROM sandboxes
       JOIN plans ON plans.id = plan_id AND plans.attempt = sandboxes.attempt
      WHERE sandboxes.strategy = 'none' AND state NOT IN ('applied', 'cancelled') ORDER BY plan_id, alias`,
  );
  return rows.map(({ plan_id: planId, attempt, alias, path }) => ({ planId, attempt, alias, path }));
}
