/**
 * The paths of one tree as the index has them and as they are found now; written at once when all files have been read.
 */
import type { DatabaseSync } from "node:sqlite";

export interface EntryState {
  readonly size: number;
  /** "" when it was never opened, or must be again. */
  readonly stamp: string;
  readonly racy: boolean;
  /** Null when it is not in the index; then there is a reason. */
  readonly content: number | null;
  readonly reason: string | null;
}

/** Not reported as gaps: users do not expect to find these. */
export const BINARY = "binary";
export const LINK = "link";

interface EntryGap {
  readonly path: string;
  readonly reason: string;
}

export interface TreeSummary {
  readonly generation: number;
  readonly files: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly binaries: number;
  readonly links: number;
  readonly gaps: readonly EntryGap[];
}

export class TreeRecord {
  readonly #database: DatabaseSync;
  readonly #overlay: string;
  readonly #root: string;
  readonly #before: ReadonlyMap<string, EntryState>;
  readonly #now = new Map<string, EntryState>();
  readonly #probed = new Map<string, { readonly size: number; readonly stamp: string }>();

  /** Reads what is known of the tree; nothing is written before `write`. */
  constructor(database: DatabaseSync, overlay: string, root: string) {
    this.#database = database;
    this.#overlay = overlay;
    this.#root = root;
    this.#before = entriesOf(database, overlay);
  }

  /** The paths it knows. */
  get paths(): readonly string[] {
    return [...this.#before.keys()];
  }

  /** True when nothing indicates a change since it was read; it then stays as it was. */
  keep(path: string, state: { readonly size: number; readonly stamp: string }): boolean {
    const before = this.#before.get(path);
    if (before === undefined || before.racy || before.stamp !== state.stamp || before.size !== state.size) {
      this.#probed.set(path, state);
      return false;
    }
    this.#now.set(path, before);
    return true;
  }

  /** For a file that could not be read: it is tried again when it changes. */
  probed(path: string): EntryState {
    const { size = 0, stamp = "" } = this.#probed.get(path) ?? {};
    return { size, stamp, racy: false, content: null, reason: null };
  }

  put(path: string, state: EntryState): void {
    this.#now.set(path, state);
  }

  /** Inside the caller's transaction. */
  write(): { readonly id: number; readonly rewritten: boolean; readonly summary: TreeSummary } {
    const id = this.#own();
    const upsert = this.#database.prepare(
      "INSERT OR REPLACE INTO entries (tree, path, size, stamp, racy, content, reason) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    const remove = this.#database.prepare("DELETE FROM entries WHERE tree = ? AND path = ?");
    const counts = { added: 0, changed: 0, removed: 0, binaries: 0, links: 0, files: 0 };
    let moved = false;
    for (const [path, now] of this.#now) {
      if (now.content !== null) counts.files += 1;
      if (now.reason === BINARY) counts.binaries += 1;
      if (now.reason === LINK) counts.links += 1;
      const before = this.#before.get(path);
      if (before === now || (before !== undefined && isSame(before, now))) continue;
      upsert.run(id, path, now.size, now.stamp, now.racy ? 1 : 0, now.content, now.reason);
      if (before?.content === now.content && before.reason === now.reason) continue;
      moved = true;
      if (now.content !== null && before?.content != null) counts.changed += 1;
      else if (now.content !== null) counts.added += 1;
      else if (before?.content != null) counts.removed += 1;
    }
    for (const [path, before] of this.#before) {
      if (this.#now.has(path)) continue;
      remove.run(id, path);
      moved = true;
      if (before.content !== null) counts.removed += 1;
    }
    const generation = this.#stamp(id, moved);
    return { id, rewritten: moved, summary: { generation, ...counts, gaps: gapsOf(this.#database, id) } };
  }

  /** The tree's number; the tree is new when it was never indexed before. */
  #own(): number {
    this.#database
      .prepare(
        "INSERT INTO trees (overlay, root, generation, synced_at) VALUES (?, ?, 0, 0) ON CONFLICT (overlay) DO NOTHING",
      )
      .run(this.#overlay, this.#root);
    return Number(this.#database.prepare("SELECT id FROM trees WHERE overlay = ?").get(this.#overlay)?.["id"]);
  }

  /**
   * A generation is never used again, not even by an index that was removed and rebuilt: it continues from the highest
   * and from the clock, whichever is further.
   */
  #stamp(id: number, moved: boolean): number {
    const row = this.#database
      .prepare("SELECT generation, (SELECT MAX(generation) FROM trees) AS highest FROM trees WHERE id = ?")
      .get(id);
    const [current, highest, now] = [Number(row?.["generation"]), Number(row?.["highest"]), Date.now()];
    const generation = moved || current === 0 ? Math.max(highest + 1, now) : current;
    this.#database
      .prepare("UPDATE trees SET root = ?, generation = ?, synced_at = ? WHERE id = ?")
      .run(this.#root, generation, now, id);
    return generation;
  }
}

function entriesOf(database: DatabaseSync, overlay: string): ReadonlyMap<string, EntryState> {
  const statement = database.prepare(
    `SELECT path, size, stamp, racy, content, reason FROM entries
      WHERE tree = (SELECT id FROM trees WHERE overlay = ?)`,
  );
  statement.setReturnArrays(true);
  const entries = new Map<string, EntryState>();
  for (const row of statement.all(overlay)) {
    const [path, size, stamp, racy, content, reason] = row as unknown as StoredEntry;
    entries.set(path, { size, stamp, racy: racy === 1, content, reason });
  }
  return entries;
}

/** Inside the caller's transaction. Returns whether a tree was removed. */
export function forgetTrees(
  database: DatabaseSync,
  unwanted: (tree: { readonly id: number; readonly overlay: string; readonly root: string }) => boolean,
): boolean {
  const trees = database.prepare("SELECT id, overlay, root FROM trees").all();
  const gone = trees.filter((row) =>
    unwanted({ id: Number(row["id"]), overlay: String(row["overlay"]), root: String(row["root"]) }),
  );
  for (const { id = null } of gone) {
    database.prepare("DELETE FROM entries WHERE tree = ?").run(id);
    database.prepare("DELETE FROM trees WHERE id = ?").run(id);
  }
  return gone.length > 0;
}

type StoredEntry = [
  path: string,
  size: number,
  stamp: string,
  racy: number,
  content: number | null,
  reason: string | null,
];

/** Files that are not, or not completely, in a tree's index and should be reported. */
export function gapsOf(database: DatabaseSync, tree: number): readonly EntryGap[] {
  return database
    .prepare(
      `SELECT path, reason FROM entries WHERE tree = ? AND reason IS NOT NULL AND reason NOT IN (?, ?)
       UNION ALL
       SELECT path, incomplete FROM contents JOIN entries ON content = contents.id
        WHERE incomplete IS NOT NULL AND tree = ?
       ORDER BY path`,
    )
    .all(tree, BINARY, LINK, tree)
    .map(({ path, reason }) => ({ path: String(path), reason: String(reason) }));
}

function isSame(a: EntryState, b: EntryState): boolean {
  return (
    a.content === b.content && a.reason === b.reason && a.stamp === b.stamp && a.size === b.size && a.racy === b.racy
  );
}
