/**
 * Changesets, in the tables `changesets` and `change_entries`: an ordered set of change entries of one plan, opened and
 * closed under one lease epoch. An entry is appended to exactly the changeset that it names, or refused.
 */
import { NotFoundError, PlanError } from "../domain/errors/errors.ts";
import {
  parseChangeEntry,
  type ChangeEntry,
  type ChangeEntryInput,
  type ChangeOperation,
  type CheckedEntry,
  type FileImage,
  type FileImageInput,
  type HashedEntryInput,
} from "../domain/plan/change-entry.ts";
import { monotonicIds, type ChangesetId, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import { contentHash, readContents, stageContent, type StagedContent } from "../store/contents/contents.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { findPlanGuards, judge, recordRefusal } from "./guard-checks.ts";
import { beginInvocation, endInvocation, markRefused, type CallEnd, type CallStart } from "./invocations.ts";
import { assertHeld, staleLeaseError } from "./leases.ts";

/** An ordered set of change entries of one plan. Once closed it never grows. */
export interface Changeset {
  readonly id: ChangesetId;
  readonly planId: PlanId;
  /** The lease epoch it was opened under; absent when it was opened without one. */
  readonly epoch: number | undefined;
  readonly entryCount: number;
  readonly openedAt: number;
  readonly closedAt: number | undefined;
  /** Set by a rollback: it is kept, but counts no more. */
  readonly supersededAt: number | undefined;
}

/**
 * The durable side of changesets: every method is one unit of work, fenced by the epoch the changeset was opened under.
 */
export class ChangesetStore {
  readonly #store: Store;
  readonly #ids: IdGenerator;

  constructor(store: Store, ids: IdGenerator = monotonicIds()) {
    this.#store = store;
    this.#ids = ids;
  }

  /**
   * With `call`, a tool call begins in the same transaction, and what is recorded here is what that call does. A call
   * that a guard refuses is on record with that, and the error says so.
   */
  async start(planId: PlanId, epoch?: number, call?: CallStart): Promise<ChangesetId> {
    const id = this.#ids() as ChangesetId;
    const refused = await this.#store.transaction(async (tx) => {
      const found = await findPlanGuards(tx, planId);
      if (found === undefined) throw new NotFoundError("plan", planId);
      if (epoch !== undefined) await assertHeld(tx, { planId, epoch });
      await tx.run(
        `INSERT INTO changesets (sequence, id, plan_id, epoch, entry_count, opened_at)
         SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, 0, now_ms() FROM changesets WHERE plan_id = ?`,
        id,
        planId,
        epoch ?? null,
        planId,
      );
      if (call === undefined) return undefined;
      const { guarded } = call;
      const refusal = guarded === undefined ? undefined : await judge(tx, found, planId, { ...call, guarded });
      await beginInvocation(tx, call, { planId, changesetId: id, epoch });
      if (refusal === undefined) return undefined;
      await endInvocation(tx, call.id, { outcome: "failed", durationMs: 0, error: refusal.error.message });
      await markRefused(tx, call.id, refusal.guard);
      await tx.run("UPDATE changesets SET closed_at = now_ms() WHERE id = ?", id);
      await recordRefusal(tx, { planId, found, call, refusal });
      return refusal.error;
    });
    // Thrown only once the refusal is on record.
    if (refused !== undefined) throw refused;
    return id;
  }

  /** Appends the entry to exactly this changeset, or refuses it: closed, stale or unknown. */
  async record(id: ChangesetId, entry: ChangeEntryInput, epoch?: number): Promise<ChangeEntry> {
    const [recorded] = await this.recordAll(id, [entry], epoch);
    return recorded as ChangeEntry;
  }

  /** Appends the entries in this order, all or none of them, with one commit. */
  async recordAll(id: ChangesetId, entries: readonly ChangeEntryInput[], epoch?: number): Promise<ChangeEntry[]> {
    const prepared: { checked: CheckedEntry; staged: readonly StagedContent[] }[] = [];
    for (const entry of entries) {
      const { hashed, contents } = withHashes(entry);
      const checked = parseChangeEntry(hashed);
      // Without contents nothing is waited for: what is asked for before the changeset is closed is in.
      const staged = contents.size === 0 ? [] : await stagedContents(this.#store, contents);
      prepared.push({ checked, staged });
    }
    const append = async (tx: Tx, { checked, staged }: (typeof prepared)[number]): Promise<ChangeEntry> => {
      const open = await takeSequence(tx, id);
      if (open === undefined) throw await notOpenError(tx, id);
      await assertOwn(tx, open, epoch);
      await insertEntry(tx, { id, sequence: open.entry_count, at: open.now }, checked);
      for (const content of staged) await content.commit(tx);
      return { ...checked, changesetId: id, sequence: open.entry_count, at: open.now };
    };
    return this.#store.transaction(async (tx) => {
      const recorded: ChangeEntry[] = [];
      for (const one of prepared) recorded.push(await append(tx, one));
      return recorded;
    });
  }

  /** With `end`, the tool call ends in the same transaction. */
  async close(id: ChangesetId, epoch?: number, end?: CallEnd): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const row = await tx.get<{ plan_id: PlanId; epoch: number | null }>(
        "UPDATE changesets SET closed_at = now_ms() WHERE id = ? AND closed_at IS NULL RETURNING plan_id, epoch",
        id,
      );
      if (row === undefined) throw await notOpenError(tx, id);
      await assertOwn(tx, row, epoch);
      if (end !== undefined) await endInvocation(tx, end.id, end);
    });
  }

  async get(id: ChangesetId): Promise<Changeset | undefined> {
    return this.#store.read((reader) => findChangeset(reader, id));
  }

  async list(planId: PlanId): Promise<Changeset[]> {
    return this.#store.read(async (reader) => {
      const rows = await reader.all<ChangesetRow>(
        "SELECT * FROM changesets WHERE plan_id = ? ORDER BY sequence",
        planId,
      );
      return rows.map(readChangeset);
    });
  }

  /** The bytes of a file, for entries that were recorded with their contents. */
  async content(hash: string): Promise<Uint8Array | undefined> {
    for await (const [, bytes] of this.contents([hash])) return bytes;
    return undefined;
  }

  /** The bytes of several, in any order; contents that were not recorded are left out. */
  contents(hashes: readonly string[]): AsyncGenerator<readonly [hash: string, bytes: Uint8Array]> {
    return readContents(this.#store, hashes);
  }

  async entries(id: ChangesetId): Promise<ChangeEntry[]> {
    return this.#store.read((reader) => findEntries(reader, id));
  }
}

export async function findChangeset(reader: Reader, id: ChangesetId): Promise<Changeset | undefined> {
  const row = await reader.get<ChangesetRow>("SELECT * FROM changesets WHERE id = ?", id);
  return row === undefined ? undefined : readChangeset(row);
}

export async function findEntries(reader: Reader, id: ChangesetId): Promise<ChangeEntry[]> {
  const rows = await reader.all<EntryRow>("SELECT * FROM change_entries WHERE changeset_id = ? ORDER BY sequence", id);
  return rows.map(readEntry);
}

/** How many entries each changeset of the plan has. */
export async function entryCounts(reader: Reader, planId: PlanId): Promise<ReadonlyMap<ChangesetId, number>> {
  const rows = await reader.all<{ id: ChangesetId; entry_count: number }>(
    "SELECT id, entry_count FROM changesets WHERE plan_id = ?",
    planId,
  );
  return new Map(rows.map((row) => [row.id, row.entry_count]));
}

/**
 * Marks the changesets as superseded: they stay, but do not count. The tool calls they belong to go by
 * `supersedeInvocations`.
 */
export async function supersedeChangesets(tx: Tx, changesets: readonly ChangesetId[]): Promise<void> {
  for (const id of changesets) {
    await tx.run("UPDATE changesets SET superseded_at = now_ms() WHERE id = ? AND superseded_at IS NULL", id);
  }
}

/**
 * A whole changeset at once, closed from the start, in the caller's transaction: for changes that were worked out
 * before they were made. Their contents are in the store already.
 */
export async function insertChangeset(
  tx: Tx,
  changeset: {
    readonly id: ChangesetId;
    readonly planId: PlanId;
    readonly epoch?: number;
    readonly entries: readonly HashedEntryInput[];
  },
): Promise<void> {
  const { id, planId, epoch } = changeset;
  const entries = changeset.entries.map(parseChangeEntry);
  await tx.run(
    `INSERT INTO changesets (sequence, id, plan_id, epoch, entry_count, opened_at, closed_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, now_ms(), now_ms() FROM changesets WHERE plan_id = ?`,
    id,
    planId,
    epoch ?? null,
    entries.length,
    planId,
  );
  const { now } = (await tx.get<{ now: number }>("SELECT now_ms() AS now")) ?? { now: 0 };
  for (const [index, entry] of entries.entries()) await insertEntry(tx, { id, sequence: index + 1, at: now }, entry);
}

/**
 * Closes an open changeset with all its entries at once, in the caller's transaction. Not fenced by the epoch it was
 * opened under: the caller holds the kernel locks of the plan's resources, so that no other process works on it. Their
 * contents are in the store already.
 */
export async function completeChangeset(tx: Tx, id: ChangesetId, given: readonly HashedEntryInput[]): Promise<void> {
  const entries = given.map(parseChangeEntry);
  const row = await tx.get<{ now: number }>(
    `UPDATE changesets SET entry_count = ?, closed_at = now_ms() WHERE id = ? AND closed_at IS NULL AND entry_count = 0
     RETURNING now_ms() AS now`,
    entries.length,
    id,
  );
  if (row === undefined) throw await notOpenError(tx, id);
  for (const [index, entry] of entries.entries())
    await insertEntry(tx, { id, sequence: index + 1, at: row.now }, entry);
}

async function insertEntry(
  tx: Tx,
  place: { readonly id: ChangesetId; readonly sequence: number; readonly at: number },
  entry: CheckedEntry,
): Promise<void> {
  await tx.run(
    `INSERT INTO change_entries (changeset_id, sequence, resource, path, from_path, operation, before_hash,
       before_mode, after_hash, after_mode, tool_invocation, decision, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    place.id,
    place.sequence,
    entry.resource,
    entry.path,
    entry.fromPath ?? null,
    entry.operation,
    entry.before?.hash ?? null,
    entry.before?.mode ?? null,
    entry.after?.hash ?? null,
    entry.after?.mode ?? null,
    entry.toolInvocation ?? null,
    entry.decision ?? null,
    place.at,
  );
}

/** Prepares the contents of an entry outside any transaction. */
export async function preparedEntry(
  store: Store,
  entry: ChangeEntryInput,
): Promise<{ readonly hashed: HashedEntryInput; readonly staged: readonly StagedContent[] }> {
  const { hashed, contents } = withHashes(entry);
  return { hashed, staged: await stagedContents(store, contents) };
}

async function stagedContents(store: Store, contents: ReadonlyMap<string, Uint8Array>): Promise<StagedContent[]> {
  const staged: StagedContent[] = [];
  for (const [hash, bytes] of contents) staged.push(await stageContent(store, bytes, hash));
  return staged;
}

/** The entry as it is recorded, and the contents it was given with, by their hashes. */
function withHashes({ before, after, ...rest }: ChangeEntryInput): {
  hashed: HashedEntryInput;
  contents: ReadonlyMap<string, Uint8Array>;
} {
  const contents = new Map<string, Uint8Array>();
  const hashOf = (image: FileImageInput | undefined): FileImage | undefined => {
    if (!isContent(image)) return image;
    const hash = contentHash(image.content);
    contents.set(hash, image.content);
    return { hash, mode: image.mode };
  };
  return { hashed: { ...rest, before: hashOf(before), after: hashOf(after) }, contents };
}

function isContent(image: FileImageInput | undefined): image is Extract<FileImageInput, { content: Uint8Array }> {
  return typeof image === "object" && image !== null && "content" in image && image.content instanceof Uint8Array;
}

interface ChangesetRow {
  readonly id: ChangesetId;
  readonly plan_id: PlanId;
  readonly epoch: number | null;
  readonly entry_count: number;
  readonly opened_at: number;
  readonly closed_at: number | null;
  readonly superseded_at: number | null;
}

interface EntryRow {
  readonly changeset_id: ChangesetId;
  readonly sequence: number;
  readonly resource: string;
  readonly path: string;
  readonly from_path: string | null;
  readonly operation: ChangeOperation;
  readonly before_hash: string | null;
  readonly before_mode: number | null;
  readonly after_hash: string | null;
  readonly after_mode: number | null;
  readonly tool_invocation: string | null;
  readonly decision: string | null;
  readonly at: number;
}

/**
 * Counts the changeset up if it is open and returns its new last sequence: the check and the number are one statement.
 */
function takeSequence(
  tx: Tx,
  id: ChangesetId,
): Promise<{ plan_id: PlanId; epoch: number | null; entry_count: number; now: number } | undefined> {
  return tx.get(
    `UPDATE changesets SET entry_count = entry_count + 1 WHERE id = ? AND closed_at IS NULL
     RETURNING plan_id, epoch, entry_count, now_ms() AS now`,
    id,
  );
}

/** The caller's epoch must be the changeset's own, and its lease still held. */
async function assertOwn(
  tx: Tx,
  row: Pick<ChangesetRow, "plan_id" | "epoch">,
  epoch: number | undefined,
): Promise<void> {
  if ((row.epoch ?? undefined) !== epoch) throw staleLeaseError({ planId: row.plan_id, epoch: epoch ?? 0 });
  if (epoch !== undefined) await assertHeld(tx, { planId: row.plan_id, epoch });
}

async function notOpenError(reader: Reader, id: ChangesetId): Promise<PlanError> {
  const known = await reader.get("SELECT 1 FROM changesets WHERE id = ?", id);
  return new PlanError(known === undefined ? `There is no changeset ${id}.` : `The changeset ${id} is closed.`, {
    detail: { changeset_id: id },
  });
}

function readChangeset(row: ChangesetRow): Changeset {
  return {
    id: row.id,
    planId: row.plan_id,
    epoch: row.epoch ?? undefined,
    entryCount: row.entry_count,
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    supersededAt: row.superseded_at ?? undefined,
  };
}

function readEntry(row: EntryRow): ChangeEntry {
  return {
    changesetId: row.changeset_id,
    sequence: row.sequence,
    resource: row.resource,
    path: row.path,
    fromPath: row.from_path ?? undefined,
    operation: row.operation,
    before: image(row.before_hash, row.before_mode),
    after: image(row.after_hash, row.after_mode),
    toolInvocation: row.tool_invocation ?? undefined,
    decision: row.decision ?? undefined,
    at: row.at,
  };
}

function image(hash: string | null, mode: number | null): FileImage | undefined {
  return hash === null || mode === null ? undefined : { hash, mode };
}
