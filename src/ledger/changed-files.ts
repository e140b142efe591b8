/** How many files plans changed, for lists. `plan diff` has the exact difference; this counts the same paths. */
import type { PlanId } from "../domain/names/ids.ts";
import type { Reader } from "../store/port.ts";

/** Placeholders in one statement. */
const PAGE = 500;

interface PathRow {
  readonly plan_id: PlanId;
  readonly resource: string;
  readonly path: string;
  readonly from_path: string | null;
  readonly before_hash: string | null;
  readonly before_mode: number | null;
  readonly after_hash: string | null;
  readonly after_mode: number | null;
}

/**
 * Of the present attempt of each plan, in one statement for a page of plans. A path that is again as it was does not
 * count; a renamed file is one. A plan that changed nothing is left out.
 */
export async function changedFileCounts(reader: Reader, ids: readonly PlanId[]): Promise<ReadonlyMap<PlanId, number>> {
  const files = await changedFiles(reader, ids);
  return new Map([...files].map(([id, own]) => [id, own.length]));
}

/** The resource's alias in its project, and the path there. */
interface ChangedPlace {
  readonly resource: string;
  readonly path: string;
}

/** The same, by name. */
export async function changedFiles(
  reader: Reader,
  ids: readonly PlanId[],
): Promise<ReadonlyMap<PlanId, readonly ChangedPlace[]>> {
  const files = new Map<PlanId, readonly ChangedPlace[]>();
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const rows = await reader.all<PathRow>(
      `SELECT calls.plan_id, entries.resource, entries.path, entries.from_path, entries.before_hash,
              entries.before_mode, entries.after_hash, entries.after_mode
         FROM tool_invocations AS calls
         JOIN plans ON plans.id = calls.plan_id AND plans.attempt = calls.attempt
         JOIN changesets ON changesets.id = calls.changeset_id AND changesets.superseded_at IS NULL
         JOIN change_entries AS entries ON entries.changeset_id = changesets.id
        WHERE calls.plan_id IN (${page.map(() => "?").join(", ")}) AND calls.superseded_at IS NULL
        ORDER BY calls.plan_id, calls.sequence, entries.sequence`,
      ...page,
    );
    for (const [id, own] of Map.groupBy(rows, (row) => row.plan_id)) {
      const changed = changedPaths(own);
      if (changed.length > 0) files.set(id, changed);
    }
  }
  return files;
}

interface Sides {
  readonly file: ChangedPlace;
  readonly before: string;
  after: string;
  /** Another path has its content now. */
  moved: boolean;
}

function changedPaths(rows: readonly PathRow[]): ChangedPlace[] {
  const paths = new Map<string, Sides>();
  const put = (file: ChangedPlace, before: string, after: string, moved: boolean): void => {
    const key = `${file.resource}\n${file.path}`;
    const known = paths.get(key);
    if (known === undefined) paths.set(key, { file, before, after, moved });
    else Object.assign(known, { after, moved });
  };
  for (const row of rows) {
    const file = (path: string): ChangedPlace => ({ resource: row.resource, path });
    const before = `${row.before_hash} ${row.before_mode}`;
    const after = `${row.after_hash} ${row.after_mode}`;
    if (row.from_path !== null) put(file(row.from_path), before, ABSENT, true);
    put(file(row.path), row.from_path === null ? before : ABSENT, after, false);
  }
  return [...paths.values()].flatMap(({ file, before, after, moved }) => (!moved && before !== after ? [file] : []));
}

const ABSENT = "null null";
