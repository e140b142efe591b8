/**
 * The audit log is append-only. Each entry's hash covers the entry before it in the same chain: one chain for each
 * plan, one for everything else ("system"), so that concurrent plans do not queue on one row. Seals form a chain of
 * their own; each covers the heads of all chains that grew since the one before, so that a whole chain cannot vanish
 * unseen. A user who keeps a seal's hash elsewhere can prove later that nothing before it was changed.
 */
import { createHash } from "node:crypto";
import { maskedFacts } from "../../platform/masking.ts";
import type { Reader, Tx } from "../port.ts";

export const SYSTEM_CHAIN = "system";
const FIRST_HASH = "0".repeat(64);

/**
 * A seal is written with every 256th entry (and by `audit verify`): its cost is spread over the entries it covers.
 * Where units overlap, a seal in the unit of a plan would conflict with those of all others: see audit-sealer.ts.
 */
export const SEAL_EVERY = 256;

export interface AuditRecord {
  readonly id: string;
  /** A plan's id, or SYSTEM_CHAIN. */
  readonly chain: string;
  readonly type: string;
  readonly at: number;
  readonly user: string;
  /** The plan's version and status after what this entry tells; absent for the system chain. */
  readonly plan?: { readonly version: number; readonly status: string } | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditRow {
  readonly sequence: number;
  readonly id: string;
  readonly chain: string;
  readonly position: number;
  /** The plan that the entry is about; not covered by the hash, but by what it is derived from (see `planOfEntry`). */
  readonly plan_id: string | null;
  readonly type: string;
  readonly plan_version: number | null;
  readonly status: string | null;
  readonly user_name: string;
  readonly at: number;
  readonly details: string;
  readonly previous_hash: string;
  readonly hash: string;
}

export interface SealRow {
  readonly number: number;
  readonly at: number;
  readonly previous_hash: string;
  readonly hash: string;
}

export interface SealHead {
  readonly chain: string;
  readonly length: number;
  readonly hash: string;
}

/**
 * Appends to the chain. The head row is taken first, in one statement that finds or makes it, so that positions have no
 * gap and no twin, and units that overlap wait for each other here and not later, when one of them would have to begin
 * again.
 */
export async function appendAudit(tx: Tx, record: AuditRecord): Promise<void> {
  const head = await tx.get<{ length: number; head_hash: string }>(
    `INSERT INTO audit_chains (chain, length, head_hash, sealed_length) VALUES (?, 1, ?, 0)
     ON CONFLICT (chain) DO UPDATE SET length = audit_chains.length + 1 RETURNING length, head_hash`,
    record.chain,
    FIRST_HASH,
  );
  const entry = {
    id: record.id,
    chain: record.chain,
    position: head?.length ?? 1,
    type: record.type,
    plan_version: record.plan?.version ?? null,
    status: record.plan?.status ?? null,
    user_name: record.user,
    at: record.at,
    details: JSON.stringify(maskedFacts(record.details)),
    previous_hash: head?.head_hash ?? FIRST_HASH,
  };
  const planId = planOfEntry(entry);
  const hash = entryHash(entry);
  const inserted = await tx.get<{ sequence: number }>(
    `INSERT INTO audit_entries
       (id, chain, position, plan_id, type, plan_version, status, user_name, at, details, previous_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING sequence`,
    entry.id,
    entry.chain,
    entry.position,
    planId,
    entry.type,
    entry.plan_version,
    entry.status,
    entry.user_name,
    entry.at,
    entry.details,
    entry.previous_hash,
    hash,
  );
  await tx.run("UPDATE audit_chains SET head_hash = ? WHERE chain = ?", hash, entry.chain);
  if (tx.unitsOverlap || (inserted?.sequence ?? 0) % SEAL_EVERY !== 0) return;
  await markSealed(tx, (await sealAudit(tx, record.at)).heads);
}

export interface Sealing {
  /** The newest seal; undefined while the log is empty. */
  readonly seal: SealRow | undefined;
  /** The chains that it covers, if it is a new one. */
  readonly heads: readonly SealHead[];
}

/**
 * Seals every chain that grew since the last seal. It only reads the heads, so that it stops no unit that appends; a
 * chain that is not marked afterwards is sealed once more by the next seal, which does no harm.
 */
export async function sealAudit(tx: Tx, at: number): Promise<Sealing> {
  const last = await newestSeal(tx);
  const heads = await tx.all<SealHead>(
    "SELECT chain, length, head_hash AS hash FROM audit_chains WHERE length > sealed_length ORDER BY chain",
  );
  if (heads.length === 0) return { seal: last, heads };
  const seal = { number: (last?.number ?? 0) + 1, at, previous_hash: last?.hash ?? FIRST_HASH };
  const hash = sealHash(seal, heads);
  await tx.run(
    "INSERT INTO audit_seals (number, at, previous_hash, hash) VALUES (?, ?, ?, ?)",
    seal.number,
    seal.at,
    seal.previous_hash,
    hash,
  );
  for (const head of heads) {
    await tx.run(
      "INSERT INTO audit_seal_heads (seal, chain, length, hash) VALUES (?, ?, ?, ?)",
      seal.number,
      head.chain,
      head.length,
      head.hash,
    );
  }
  return { seal: { ...seal, hash }, heads };
}

/** Remembers how far these chains are sealed, so that the next seal need not look at them. */
export async function markSealed(tx: Tx, heads: readonly SealHead[]): Promise<void> {
  for (const { chain, length } of heads) {
    await tx.run(
      "UPDATE audit_chains SET sealed_length = ? WHERE chain = ? AND sealed_length < ?",
      length,
      chain,
      length,
    );
  }
}

/** How many entries no seal covers yet. */
export async function unsealedEntries(reader: Reader): Promise<number> {
  const row = await reader.get<{ entries: number }>(
    "SELECT COALESCE(SUM(length - sealed_length), 0) AS entries FROM audit_chains WHERE length > sealed_length",
  );
  return row?.entries ?? 0;
}

export function newestSeal(reader: Reader): Promise<SealRow | undefined> {
  return reader.get<SealRow>("SELECT number, at, previous_hash, hash FROM audit_seals ORDER BY number DESC LIMIT 1");
}

/**
 * The plan that an entry is about: its chain's, or the one that the details of an entry of the system's chain name.
 * Both are covered by the entry's hash, so the column that repeats it can be checked.
 */
export function planOfEntry({ chain, details }: Pick<AuditRow, "chain" | "details">): string | null {
  if (chain !== SYSTEM_CHAIN) return chain;
  const { plan_id: planId } = JSON.parse(details) as { readonly plan_id?: unknown };
  return typeof planId === "string" ? planId : null;
}

/** The newest entries, newest first; of one plan also those of the system's chain that are about it. */
export function listAudit(reader: Reader, limit: number, planId?: string): Promise<AuditRow[]> {
  return planId === undefined
    ? reader.all<AuditRow>("SELECT * FROM audit_entries ORDER BY sequence DESC LIMIT ?", limit)
    : reader.all<AuditRow>(
        "SELECT * FROM audit_entries WHERE plan_id = ? ORDER BY sequence DESC LIMIT ?",
        planId,
        limit,
      );
}

/** Who made the move that brought the plan to where it is. */
export async function lastMover(reader: Reader, planId: string, version: number): Promise<string> {
  const row = await reader.get<{ user_name: string }>(
    "SELECT user_name FROM audit_entries WHERE chain = ? AND position = ?",
    planId,
    version,
  );
  return row?.user_name ?? "unknown";
}

export function entryHash(entry: Omit<AuditRow, "sequence" | "plan_id" | "hash">): string {
  const covered = [
    entry.previous_hash,
    entry.chain,
    entry.position,
    entry.id,
    entry.type,
    entry.plan_version,
    entry.status,
    entry.user_name,
    entry.at,
    entry.details,
  ];
  return createHash("sha256").update(JSON.stringify(covered)).digest("hex");
}

export function sealHash(seal: Omit<SealRow, "hash">, heads: readonly SealHead[]): string {
  const covered = [seal.previous_hash, seal.number, seal.at, heads.map((head) => [head.chain, head.length, head.hash])];
  return createHash("sha256").update(JSON.stringify(covered)).digest("hex");
}

export { FIRST_HASH };

/** When the newest entry was written; undefined when there is none. */
export async function newestAuditAt(reader: Reader): Promise<number | undefined> {
  const row = await reader.get<{ at: number }>("SELECT MAX(at) AS at FROM audit_entries HAVING COUNT(*) > 0");
  return row?.at;
}
