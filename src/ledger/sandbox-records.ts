/**
 * The facts of plans' sandboxes, in the table `sandboxes`: enough to make a sandbox again elsewhere, and to know where
 * its changes belong. Written once: later commits of the user to the branch do not change them, and the plan's changes
 * are changes to this.
 */
import { hostname } from "node:os";
import type { PlanId } from "../domain/names/ids.ts";
import { nameKey, type QualifiedName } from "../domain/names/qualified-name.ts";
import type { SandboxStrategy } from "../domain/resource/resource.ts";
import type { Reader, Tx } from "../store/port.ts";

export interface SandboxRecord {
  readonly alias: string;
  readonly strategy: SandboxStrategy;
  /** The machine on which `path` is a directory. */
  readonly host: string;
  /** The user's checkout or directory. */
  readonly path: string;
  /** The branch it started from, in full; undefined for a directory and for a detached HEAD. */
  readonly ref: string | undefined;
  readonly baseCommit: string | undefined;
  /** Whether it started from files that were not committed. */
  readonly dirty: boolean;
}

export async function recordSandbox(
  tx: Tx,
  plan: { readonly id: PlanId; readonly attempt: number },
  sandbox: Pick<SandboxRecord, "alias" | "strategy" | "path" | "ref" | "dirty"> & { readonly base: string | undefined },
): Promise<void> {
  await tx.run(
    `INSERT INTO sandboxes (plan_id, attempt, alias, strategy, host, path, ref, base_commit, dirty, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, now_ms()) ON CONFLICT (plan_id, attempt, alias) DO NOTHING`,
    plan.id,
    plan.attempt,
    sandbox.alias,
    sandbox.strategy,
    hostname(),
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
    host: string;
    path: string;
    ref: string | null;
    base_commit: string | null;
    dirty: number;
  }>("SELECT * FROM sandboxes WHERE plan_id = ? AND attempt = ? ORDER BY alias", planId, attempt);
  return rows.map((row) => ({
    alias: row.alias,
    strategy: row.strategy,
    host: row.host,
    path: row.path,
    ref: row.ref ?? undefined,
    baseCommit: row.base_commit ?? undefined,
    dirty: row.dirty === 1,
  }));
}

/** The commits that plans' sandboxes of this place started from, the newest first; none for a directory. */
export async function basesOf(reader: Reader, path: string): Promise<string[]> {
  const rows = await reader.all<{ base_commit: string }>(
    `SELECT base_commit FROM sandboxes WHERE path = ? AND base_commit IS NOT NULL AND dirty = 0
      ORDER BY made_at DESC LIMIT 1`,
    path,
  );
  return rows.map(({ base_commit: commit }) => commit);
}

/** The resource is at another place now: changes of its past plans are undone and redone there. */
export async function moveSandboxRecords(
  tx: Tx,
  resource: QualifiedName,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await tx.run(
    `UPDATE sandboxes SET path = ?, host = ? WHERE path = ?
        AND EXISTS (SELECT 1 FROM plan_projects JOIN project_resources USING (project_key)
                     WHERE plan_id = sandboxes.plan_id AND resource_key = ?)`,
    to,
    hostname(),
    from,
    nameKey(resource),
  );
}

/** Plans that can still continue and work without a sandbox, which a list of sandbox directories cannot show. */
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

/** Each path is bound twice, and SQLite's oldest limit is 999 parameters in a statement. */
const PATHS_AT_ONCE = 400;

/**
 * The other plans whose sandboxes were made of the directory and which changed one of the paths. Not limited to one
 * host: a machine can be renamed, and a plan too many in the answer is compared by its contents, while one too few
 * could be overlooked.
 */
export async function plansThatChanged(
  reader: Reader,
  own: PlanId,
  directory: string,
  paths: readonly string[],
): Promise<PlanId[]> {
  const found = new Set<PlanId>();
  for (let start = 0; start < paths.length; start += PATHS_AT_ONCE) {
    const some = paths.slice(start, start + PATHS_AT_ONCE);
    const marks = some.map(() => "?").join(", ");
    const rows = await reader.all<{ plan_id: PlanId }>(
      `SELECT DISTINCT sandboxes.plan_id FROM sandboxes
         JOIN changesets ON changesets.plan_id = sandboxes.plan_id
         JOIN change_entries ON change_entries.changeset_id = changesets.id AND change_entries.resource = sandboxes.alias
        WHERE sandboxes.path = ? AND sandboxes.plan_id <> ?
          AND (change_entries.path IN (${marks}) OR change_entries.from_path IN (${marks}))`,
      directory,
      own,
      ...some,
      ...some,
    );
    for (const { plan_id: id } of rows) found.add(id);
  }
  return [...found];
}
