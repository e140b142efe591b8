/**
 * Checks the whole audit log: every entry's hash and its link to the one before, every chain against its head, every
 * seal and the heads it covers, and every plan's row against its last entry. Reads page by page, so that a log of
 * millions of entries needs no memory to speak of.
 */
import {
  entryHash,
  FIRST_HASH,
  newestSeal,
  planOfEntry,
  sealHash,
  SYSTEM_CHAIN,
  type AuditRow,
  type SealHead,
  type SealRow,
} from "./audit.ts";
import { sealLog } from "./audit-sealer.ts";
import type { Store } from "../port.ts";

export interface AuditVerification {
  readonly entries: number;
  readonly chains: number;
  readonly seals: number;
  /** The newest seal's hash: keep it elsewhere and hand it to `expect` later. */
  readonly head: string | undefined;
  /** How many entries are younger than the expected head, which therefore says nothing about them. */
  readonly sinceExpected: number | undefined;
  readonly problem: AuditProblem | undefined;
}

export interface AuditProblem {
  readonly kind: "entry" | "chain" | "seal" | "plan" | "expected_head";
  readonly chain?: string;
  readonly position?: number;
  readonly entryId?: string;
  readonly seal?: number;
  readonly message: string;
}

const PAGE = 1_000;

export async function verifyAudit(
  store: Store,
  options: { expect?: string | undefined; at: number },
): Promise<AuditVerification> {
  const entries = await checkEntries(store);
  const problem =
    entries.problem ??
    (await checkPlans(store)) ??
    (await checkSeals(store)) ??
    (await checkExpected(store, options.expect));
  // Only a log that verifies is sealed: a seal over a broken one would vouch for it.
  const head =
    problem === undefined ? await sealLog(store, options.at) : await store.read((reader) => newestSeal(reader));
  const covered = options.expect === undefined ? undefined : await coveredBy(store, options.expect);
  const sinceExpected = covered === undefined ? undefined : entries.count - covered;
  const { count, chains } = entries;
  return { entries: count, chains, seals: head?.number ?? 0, head: head?.hash, sinceExpected, problem };
}

interface EntryCheck {
  readonly count: number;
  readonly chains: number;
  readonly problem: AuditProblem | undefined;
}

async function checkEntries(store: Store): Promise<EntryCheck> {
  let count = 0;
  let chains = 0;
  let last: AuditRow | undefined;
  for (;;) {
    const after = last;
    // A chain's entries and its head row are read in one snapshot, so that a plan that moves meanwhile gives no false
    // alarm.
    const { rows, heads } = await store.read(async (reader) => {
      const rows = await reader.all<AuditRow>(
        "SELECT * FROM audit_entries WHERE chain > ? OR (chain = ? AND position > ?) ORDER BY chain, position LIMIT ?",
        after?.chain ?? "",
        after?.chain ?? "",
        after?.position ?? 0,
        PAGE,
      );
      const upTo = rows.length < PAGE ? "\u{10FFFF}" : (rows.at(-1)?.chain ?? "");
      const heads = await reader.all<{ chain: string; length: number; head_hash: string }>(
        "SELECT chain, length, head_hash FROM audit_chains WHERE chain >= ? AND chain < ? ORDER BY chain",
        after?.chain ?? "",
        upTo,
      );
      return { rows, heads: new Map(heads.map((head) => [head.chain, head])) };
    });
    for (const row of [...rows, undefined]) {
      if (row?.chain !== last?.chain && last !== undefined && (row !== undefined || rows.length < PAGE)) {
        const head = heads.get(last.chain);
        const problem = headProblem(last, head);
        if (problem !== undefined) return { count, chains, problem };
        heads.delete(last.chain);
      }
      if (row === undefined) break;
      const problem = entryProblem(row, last?.chain === row.chain ? last : undefined);
      if (problem !== undefined) return { count, chains, problem };
      if (row.position === 1) chains += 1;
      count += 1;
      last = row;
    }
    const orphan = [...heads.keys()][0];
    if (orphan !== undefined) return { count, chains, problem: missingEntry(orphan, 1) };
    if (rows.length < PAGE) return { count, chains, problem: undefined };
  }
}

function entryProblem(row: AuditRow, before: AuditRow | undefined): AuditProblem | undefined {
  const expectedPosition = (before?.position ?? 0) + 1;
  if (row.position !== expectedPosition) return missingEntry(row.chain, expectedPosition);
  const where = { kind: "entry", chain: row.chain, position: row.position, entryId: row.id } as const;
  if (row.previous_hash !== (before?.hash ?? FIRST_HASH)) {
    return { ...where, message: `Entry ${row.position} of ${label(row.chain)} does not follow the one before it.` };
  }
  if (row.hash !== entryHash(row) || row.plan_id !== planOfEntry(row)) {
    return { ...where, message: `Entry ${row.position} of ${label(row.chain)} was changed after it was written.` };
  }
  return undefined;
}

function headProblem(
  last: AuditRow,
  head: { length: number; head_hash: string } | undefined,
): AuditProblem | undefined {
  if (head !== undefined && head.length > last.position) return missingEntry(last.chain, last.position + 1);
  if (head?.head_hash === last.hash) return undefined;
  return {
    kind: "chain",
    chain: last.chain,
    position: last.position,
    message: `The end of ${label(last.chain)} does not match its recorded head.`,
  };
}

function missingEntry(chain: string, position: number): AuditProblem {
  return { kind: "entry", chain, position, message: `Entry ${position} of ${label(chain)} is missing.` };
}

/** Each transition raises a plan's version by one and writes one entry: a cut tail or an edited plan row shows here. */
async function checkPlans(store: Store): Promise<AuditProblem | undefined> {
  const broken = await store.read((reader) =>
    reader.get<{ id: string; version: number; phase: string; state: string; length: number | null }>(
      `SELECT plans.id, plans.version, plans.phase, plans.state, audit_chains.length
         FROM plans
         LEFT JOIN audit_chains ON audit_chains.chain = plans.id
         LEFT JOIN audit_entries ON audit_entries.chain = plans.id AND audit_entries.position = audit_chains.length
        WHERE audit_chains.length IS NULL
           OR audit_entries.plan_version <> plans.version
           OR audit_chains.length <> plans.version
           OR audit_entries.status <> plans.phase || '/' || plans.state
        LIMIT 1`,
    ),
  );
  if (broken === undefined) {
    const orphan = await store.read((reader) =>
      reader.get<{ chain: string }>(
        `SELECT chain FROM audit_chains
          WHERE chain <> ? AND NOT EXISTS (SELECT 1 FROM plans WHERE plans.id = audit_chains.chain) LIMIT 1`,
        SYSTEM_CHAIN,
      ),
    );
    if (orphan === undefined) return undefined;
    return { kind: "plan", chain: orphan.chain, message: `The plan ${orphan.chain} is gone, but its entries are not.` };
  }
  return {
    kind: "plan",
    chain: broken.id,
    ...(broken.length === null ? {} : { position: broken.length }),
    message: `The plan ${broken.id} is at version ${broken.version} (${broken.phase}/${broken.state}), which its ${broken.length ?? 0} entries do not tell.`,
  };
}

async function checkSeals(store: Store): Promise<AuditProblem | undefined> {
  let last: SealRow | undefined;
  for (;;) {
    const next = await store.read(async (reader) => {
      const seal = await reader.get<SealRow>(
        "SELECT number, at, previous_hash, hash FROM audit_seals WHERE number > ? ORDER BY number LIMIT 1",
        last?.number ?? 0,
      );
      if (seal === undefined) return undefined;
      const heads = await reader.all<SealHead & { actual: string | null }>(
        `SELECT heads.chain, heads.length, heads.hash, audit_entries.hash AS actual
           FROM audit_seal_heads AS heads
           LEFT JOIN audit_entries ON audit_entries.chain = heads.chain AND audit_entries.position = heads.length
          WHERE heads.seal = ? ORDER BY heads.chain`,
        seal.number,
      );
      return { seal, heads };
    });
    if (next === undefined) return missingSeal(store);
    const { seal, heads } = next;
    const unmatched = heads.find((head) => head.actual !== head.hash);
    if (unmatched !== undefined) {
      return {
        kind: "seal",
        seal: seal.number,
        chain: unmatched.chain,
        position: unmatched.length,
        message: `Seal ${seal.number} covers entry ${unmatched.length} of ${label(unmatched.chain)}, which no longer exists.`,
      };
    }
    if (
      seal.number !== (last?.number ?? 0) + 1 ||
      seal.previous_hash !== (last?.hash ?? FIRST_HASH) ||
      seal.hash !== sealHash(seal, heads)
    ) {
      return { kind: "seal", seal: seal.number, message: `Seal ${seal.number} was changed after it was written.` };
    }
    last = seal;
  }
}

/** Chains remember how far they were sealed: seals that vanished from the end show there. */
async function missingSeal(store: Store): Promise<AuditProblem | undefined> {
  const row = await store.read((reader) =>
    reader.get<{ chain: string; sealed_length: number }>(
      `SELECT chain, sealed_length FROM audit_chains
        WHERE sealed_length <> COALESCE((SELECT MAX(length) FROM audit_seal_heads AS heads
                                          WHERE heads.chain = audit_chains.chain), 0) LIMIT 1`,
    ),
  );
  if (row === undefined) return undefined;
  const message = `The seal over entry ${row.sealed_length} of ${label(row.chain)} is missing.`;
  return { kind: "seal", chain: row.chain, position: row.sealed_length, message };
}

async function checkExpected(store: Store, expected: string | undefined): Promise<AuditProblem | undefined> {
  if (expected === undefined) return undefined;
  const found = await store.read((reader) =>
    reader.get("SELECT number FROM audit_seals WHERE hash = ?", expected.toLowerCase()),
  );
  if (found !== undefined) return undefined;
  return {
    kind: "expected_head",
    message: `No seal of this log has the expected hash ${expected}: its history was cut or replaced.`,
  };
}

/** How many entries the seal with this hash, and the seals before it, cover. */
async function coveredBy(store: Store, head: string): Promise<number> {
  const row = await store.read((reader) =>
    reader.get<{ covered: number | null }>(
      `SELECT SUM(length) AS covered FROM (
         SELECT MAX(length) AS length FROM audit_seal_heads
          WHERE seal <= (SELECT number FROM audit_seals WHERE hash = ?) GROUP BY chain) AS covered_chains`,
      head.toLowerCase(),
    ),
  );
  return row?.covered ?? 0;
}

function label(chain: string): string {
  return chain === SYSTEM_CHAIN ? "the system chain" : `plan ${chain}`;
}
