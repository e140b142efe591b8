/**
 * The durable intent of an apply, undo or redo: written before the first file moves, sealed together with the plan's
 * new state, and kept until everything it did is known to be on disk. A journal without outcome belongs to its owner,
 * who holds the kernel lock of every resource in it, or was left by an owner that died.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { HashedEntryInput } from "../domain/plan/change-entry.ts";
import type { ChangesetId, InvocationId, PlanId } from "../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../domain/values/json.ts";
import type { Reader, Tx } from "../store/port.ts";
import type { Direction, Landing } from "./landing.ts";

export type JournalKind = "apply" | "undo" | "redo";

/** The record of a step of a plan that works in place, written once its files are where they belong. */
export interface LandingStep {
  readonly attempt: number;
  readonly key: string;
  readonly epoch: number;
  readonly result: JsonValue;
  readonly changeset: ChangesetId;
  readonly invocation: InvocationId;
  readonly durationMs: number;
  readonly resultSize: number;
  readonly entries: readonly HashedEntryInput[];
}

/** The change by which a review leaves a part of the plan out; it becomes part of the record with the seal. */
export interface JournalReview {
  readonly changeset: ChangesetId;
  readonly entries: readonly HashedEntryInput[];
  /** The decision that is recorded for it. */
  readonly chosen: JsonObject;
}

export type Journal = JournalFacts &
  ({ readonly kind: JournalKind } | { readonly kind: "step"; readonly step: LandingStep });

interface JournalFacts {
  readonly id: string;
  readonly planId: PlanId;
  readonly host: string;
  /** Tells one run of the machine from the next. */
  readonly boot: string;
  readonly holder: string;
  /**
   * Undefined while its first owner is at work; after a failure it is written before the first step in that direction,
   * then fixed.
   */
  readonly direction: Direction | undefined;
  readonly outcome: "done" | "undone" | undefined;
  /** Steps whose changes are undone once this is done. */
  readonly undoneSteps: readonly string[];
  readonly landings: readonly Landing[];
  /** Undefined when the whole plan is applied. */
  readonly review: JournalReview | undefined;
  /** The paths at which a person's change was found and left alone. */
  readonly kept: readonly string[];
  readonly createdAt: number;
  readonly sealedAt: number | undefined;
}

interface JournalRow {
  readonly id: string;
  readonly plan_id: PlanId;
  readonly kind: Journal["kind"];
  readonly step: string | null;
  readonly host: string;
  readonly boot: string;
  readonly holder: string;
  readonly direction: Direction | null;
  readonly outcome: "done" | "undone" | null;
  readonly undone_steps: string;
  readonly landings: string;
  readonly kept: string;
  readonly review: string | null;
  readonly created_at: number;
  readonly sealed_at: number | null;
}

/** One unsealed journal for each plan: the index makes a second one impossible. */
export async function insertJournal(
  tx: Tx,
  journal: Pick<JournalFacts, "id" | "planId" | "holder" | "undoneSteps" | "landings"> & {
    readonly kind: Journal["kind"];
    readonly step?: LandingStep;
    readonly review?: JournalReview | undefined;
  },
): Promise<Journal> {
  const row = await tx.get<JournalRow>(
    `INSERT INTO journals (sequence, id, plan_id, kind, step, host, boot, holder, undone_steps, landings, review, kept,
       created_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', now_ms() FROM journals RETURNING *`,
    journal.id,
    journal.planId,
    journal.kind,
    journal.step === undefined ? null : JSON.stringify(journal.step),
    hostname(),
    bootId(),
    journal.holder,
    JSON.stringify(journal.undoneSteps),
    JSON.stringify(journal.landings),
    journal.review === undefined ? null : JSON.stringify(journal.review),
  );
  if (row === undefined) throw new Error("a journal was inserted and not returned");
  return readJournal(row);
}

/** The direction is decided once. A second caller gets the first decision. */
export async function decideDirection(tx: Tx, id: string, direction: Direction): Promise<Direction> {
  await tx.run(
    "UPDATE journals SET direction = ? WHERE id = ? AND direction IS NULL AND outcome IS NULL",
    direction,
    id,
  );
  const row = await tx.get<{ direction: Direction | null }>("SELECT direction FROM journals WHERE id = ?", id);
  return row?.direction ?? direction;
}

/** False when it has an outcome already. */
export async function sealJournal(
  tx: Tx,
  id: string,
  outcome: "done" | "undone",
  kept: readonly string[],
): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE journals SET outcome = ?, kept = ?, sealed_at = now_ms() WHERE id = ? AND outcome IS NULL",
    outcome,
    JSON.stringify(kept),
    id,
  );
  return changed === 1;
}

/** Our own files are gone from the resources. */
export async function markTidied(tx: Tx, id: string): Promise<void> {
  await tx.run("UPDATE journals SET tidied_at = now_ms() WHERE id = ? AND tidied_at IS NULL", id);
}

/** Everything it did is known to be on disk: recovery need not read it again. */
export async function finishJournal(tx: Tx, id: string): Promise<void> {
  await tx.run("UPDATE journals SET finished_at = now_ms() WHERE id = ? AND finished_at IS NULL", id);
}

/** By then the kernel has written the files by itself, so that a sync costs next to nothing. */
const WRITTEN_OUT_MS = 60_000;

/**
 * Journals of this machine that recovery has to attend to: not sealed, not tidied up after, or old enough to be
 * finished.
 */
export async function journalsToAttend(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM journals WHERE finished_at IS NULL AND host = ?
        AND (outcome IS NULL OR tidied_at IS NULL OR boot <> ? OR sealed_at < now_ms() - ?) ORDER BY sequence`,
    hostname(),
    bootId(),
    WRITTEN_OUT_MS,
  );
  return rows.map(({ id }) => id);
}

export async function findJournal(reader: Reader, id: string): Promise<Journal | undefined> {
  const row = await reader.get<JournalRow>("SELECT * FROM journals WHERE id = ?", id);
  return row === undefined ? undefined : readJournal(row);
}

/** The journal of the plan's apply. */
export async function findAppliedJournal(reader: Reader, planId: PlanId): Promise<Journal | undefined> {
  const row = await reader.get<JournalRow>(
    "SELECT * FROM journals WHERE plan_id = ? AND kind = 'apply' AND outcome = 'done' ORDER BY sequence DESC LIMIT 1",
    planId,
  );
  return row === undefined ? undefined : readJournal(row);
}

/** The steps that are undone at present. */
export async function findUndoneSteps(reader: Reader, planId: PlanId): Promise<string[]> {
  const row = await reader.get<{ undone_steps: string }>(
    "SELECT undone_steps FROM journals WHERE plan_id = ? AND outcome = 'done' ORDER BY sequence DESC LIMIT 1",
    planId,
  );
  return row === undefined ? [] : (JSON.parse(row.undone_steps) as string[]);
}

/**
 * The landings of a plan, in their order: the place of each among the landings of all plans, and the steps undone after
 * it.
 */
export async function landingHistory(
  reader: Reader,
  planId: PlanId,
): Promise<{ readonly sequence: number; readonly undoneSteps: ReadonlySet<string> }[]> {
  const rows = await reader.all<{ sequence: number; undone_steps: string }>(
    "SELECT sequence, undone_steps FROM journals WHERE plan_id = ? AND outcome = 'done' ORDER BY sequence",
    planId,
  );
  return rows.map(({ sequence, undone_steps: steps }) => ({
    sequence,
    undoneSteps: new Set(JSON.parse(steps) as string[]),
  }));
}

/** The landings of the steps of an attempt that worked in place, in their order. */
export async function stepLandings(
  reader: Reader,
  plan: { readonly id: PlanId; readonly attempt: number },
): Promise<Landing[]> {
  const rows = await reader.all<JournalRow>(
    "SELECT * FROM journals WHERE plan_id = ? AND step IS NOT NULL AND outcome = 'done' ORDER BY sequence",
    plan.id,
  );
  return rows
    .map(readJournal)
    .flatMap((journal) => (journal.kind === "step" && journal.step.attempt === plan.attempt ? journal.landings : []));
}

/** Whether a landing of this plan is being carried out right now, or was stopped half way. */
export async function isLanding(reader: Reader, planId: PlanId): Promise<boolean> {
  const row = await reader.get("SELECT 1 AS one FROM journals WHERE plan_id = ? AND outcome IS NULL", planId);
  return row !== undefined;
}

function readJournal(row: JournalRow): Journal {
  return {
    ...(row.kind === "step"
      ? { kind: row.kind, step: JSON.parse(row.step ?? "null") as LandingStep }
      : { kind: row.kind }),
    id: row.id,
    planId: row.plan_id,
    host: row.host,
    boot: row.boot,
    holder: row.holder,
    direction: row.direction ?? undefined,
    outcome: row.outcome ?? undefined,
    undoneSteps: JSON.parse(row.undone_steps) as string[],
    landings: JSON.parse(row.landings) as Landing[],
    review: row.review === null ? undefined : (JSON.parse(row.review) as JournalReview),
    kept: JSON.parse(row.kept) as string[],
    createdAt: row.created_at,
    sealedAt: row.sealed_at ?? undefined,
  };
}

export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // On other systems a power loss cannot be told from a crash; files moved aside are then found, or taken from the
    // store.
    return "unknown";
  }
}
