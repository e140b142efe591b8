/**
 * Ownership of a plan's running phase. A lease has an epoch that goes up with each owner; every write made under it
 * names the epoch and is refused in the same statement once another epoch began or the expiry has passed by the
 * database's clock. So an owner that was paused and wakes up late can write nothing.
 *
 * Two things end a lease before its expiry, because that instant may be a day away after the clock stepped back: its
 * owner is known to be dead, or the expiry is further away than the lease is long. Either only lets another process
 * raise the epoch earlier; the fence is the same.
 */
import { ConflictError, StaleLeaseError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { currentTick, isDead, isSameBoot, thisProcess } from "./lease-owner.ts";

/** How long a lease lasts unless it is renewed, in milliseconds. */
export const LEASE_TTL_MS = 30_000;

/** A timer set for longer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface LeaseFacts {
  readonly planId: PlanId;
  readonly phase: Phase;
  readonly holder: string;
  readonly epoch: number;
  readonly expiresAt: number;
}

interface LeaseRow {
  readonly phase: Phase;
  readonly holder: string;
  readonly epoch: number;
  readonly expires_at: number;
  readonly ttl_ms: number | null;
  readonly host: string | null;
  readonly boot: string | null;
  readonly process: string | null;
  readonly renewed_tick: number | null;
  readonly now: number;
}

/**
 * One conditional statement takes a free or lapsed lease and raises its epoch; of any number of contenders one wins.
 */
export async function acquireLease(
  tx: Tx,
  wanted: { planId: PlanId; phase: Phase; holder: string; ttlMs: number },
): Promise<LeaseFacts> {
  const { planId, phase, holder, ttlMs } = wanted;
  await endAbandoned(tx, planId);
  const self = thisProcess();
  const row = await tx.get<Pick<LeaseRow, "epoch" | "expires_at">>(
    `INSERT INTO leases (plan_id, phase, holder, epoch, expires_at, ttl_ms, host, boot, process, renewed_tick)
     VALUES (?, ?, ?, 1, now_ms() + ?, ?, ?, ?, ?, ?)
     ON CONFLICT (plan_id) DO UPDATE SET
       phase = excluded.phase, holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at,
       ttl_ms = excluded.ttl_ms, host = excluded.host, boot = excluded.boot, process = excluded.process,
       renewed_tick = excluded.renewed_tick
     WHERE leases.expires_at <= now_ms()
     RETURNING epoch, expires_at`,
    planId,
    phase,
    holder,
    ttlMs,
    ttlMs,
    self.host,
    self.boot,
    self.process,
    currentTick(),
  );
  if (row !== undefined) return { planId, phase, holder, epoch: row.epoch, expiresAt: row.expires_at };
  throw leaseHeldError(planId, await findLease(tx, planId));
}

function leaseHeldError(planId: PlanId, owner: LeaseFacts | undefined): ConflictError {
  return new ConflictError(
    `The plan ${planId} is being worked on by ${owner?.holder ?? "another process"}.`,
    { expected: "a free or lapsed lease", actual: { holder: owner?.holder, expires_at: owner?.expiresAt } },
    { kept: "The running work continues untouched.", next: [nextStep("plan.status", { plan: planId })] },
  );
}

/** Moves the expiry of a lease that is still held; a lapsed one stays lapsed. */
async function renewLease(tx: Tx, lease: Pick<LeaseFacts, "planId" | "epoch">, ttlMs: number): Promise<void> {
  const changed = await tx.run(
    `UPDATE leases SET expires_at = now_ms() + ?, ttl_ms = ?, renewed_tick = ?
      WHERE plan_id = ? AND epoch = ? AND expires_at > now_ms()`,
    ttlMs,
    ttlMs,
    currentTick(),
    lease.planId,
    lease.epoch,
  );
  if (changed !== 1) throw staleLeaseError(lease);
}

/** Gives the lease up if it is still held: the phase ended, or its owner stops. */
export async function endLease(tx: Tx, lease: Pick<LeaseFacts, "planId" | "epoch">): Promise<void> {
  const changed = await tx.run(
    "UPDATE leases SET expires_at = 0 WHERE plan_id = ? AND epoch = ? AND expires_at > now_ms()",
    lease.planId,
    lease.epoch,
  );
  if (changed !== 1) throw staleLeaseError(lease);
}

/** Takes the lease away from its holder, whose writes are refused from now on. */
export async function revokeLease(tx: Tx, planId: PlanId): Promise<void> {
  await tx.run("UPDATE leases SET epoch = epoch + 1, expires_at = 0 WHERE plan_id = ?", planId);
}

/** The same, but only from a holder that let it lapse: one conditional statement, refused while the lease is held. */
export async function revokeLapsedLease(tx: Tx, planId: PlanId): Promise<void> {
  await endAbandoned(tx, planId);
  const changed = await tx.run(
    "UPDATE leases SET epoch = epoch + 1, expires_at = 0 WHERE plan_id = ? AND expires_at <= now_ms()",
    planId,
  );
  if (changed === 1) return;
  const owner = await findLease(tx, planId);
  if (owner !== undefined) throw leaseHeldError(planId, owner);
}

/** Throws when the lease is not held at this moment; called in the transaction of a write under it. */
export async function assertHeld(tx: Tx, lease: Pick<LeaseFacts, "planId" | "epoch">): Promise<void> {
  const held = await tx.get(
    "SELECT 1 FROM leases WHERE plan_id = ? AND epoch = ? AND expires_at > now_ms() FENCED",
    lease.planId,
    lease.epoch,
  );
  if (held === undefined) throw staleLeaseError(lease);
}

export async function findLease(
  reader: Reader,
  planId: PlanId,
): Promise<(LeaseFacts & { lapsed: boolean }) | undefined> {
  const row = await findRow(reader, planId);
  if (row === undefined) return undefined;
  const { phase, holder, epoch, expires_at: expiresAt, now } = row;
  return { planId, phase, holder, epoch, expiresAt, lapsed: expiresAt <= now || isAbandoned(row) };
}

/** Placeholders in one statement. */
const PAGE = 500;

/** Those of the plans that a process works on now, in one statement for a page of them. */
export async function heldPlans(reader: Reader, ids: readonly PlanId[]): Promise<ReadonlySet<PlanId>> {
  const held = new Set<PlanId>();
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const rows = await reader.all<LeaseRow & { plan_id: PlanId }>(
      `SELECT leases.*, now_ms() AS now FROM leases
        WHERE expires_at > now_ms() AND plan_id IN (${page.map(() => "?").join(", ")})`,
      ...page,
    );
    for (const row of rows) if (!isAbandoned(row)) held.add(row.plan_id);
  }
  return held;
}

function findRow(reader: Reader, planId: PlanId): Promise<LeaseRow | undefined> {
  return reader.get<LeaseRow>("SELECT leases.*, now_ms() AS now FROM leases WHERE plan_id = ?", planId);
}

/** Lets a lease lapse under which no process can be working; only the epoch that was judged. */
async function endAbandoned(tx: Tx, planId: PlanId): Promise<void> {
  const row = await findRow(tx, planId);
  if (row === undefined || row.expires_at <= row.now || !isAbandoned(row)) return;
  await tx.run("UPDATE leases SET expires_at = 0 WHERE plan_id = ? AND epoch = ?", planId, row.epoch);
}

/**
 * The owner died, or the clock stepped back since the lease was renewed: an expiry is never further away than the lease
 * is long. How long ago the renewal was, the clock of this boot still tells; for an owner on another machine it is
 * unknown, and its lease has lapsed.
 */
function isAbandoned({ host, boot, process, ttl_ms: ttlMs, ...row }: LeaseRow): boolean {
  if (host === null || boot === null || process === null || ttlMs === null) return false;
  const owner = { host, boot, process };
  if (isDead(owner)) return true;
  if (row.expires_at <= row.now + ttlMs) return false;
  return !isSameBoot(owner, thisProcess()) || currentTick() - (row.renewed_tick ?? 0) >= ttlMs;
}

export function staleLeaseError(lease: Pick<LeaseFacts, "planId" | "epoch">): StaleLeaseError {
  return new StaleLeaseError(
    `The lease on plan ${lease.planId} (epoch ${lease.epoch}) is no longer held: it lapsed, or another process took over.`,
    { detail: { plan_id: lease.planId, epoch: lease.epoch }, next: [nextStep("plan.status", { plan: lease.planId })] },
  );
}

/**
 * A held lease. It renews itself at a third of its time; when that is refused, `signal` aborts, so that work under it
 * can stop. Leaving its scope (`await using`) gives it up, and the phase can be taken over at once.
 */
export class Lease<P extends Phase = Phase> {
  readonly planId: PlanId;
  readonly phase: P;
  readonly holder: string;
  readonly epoch: number;
  readonly ttlMs: number;
  readonly store: Store;
  /** The plan as it was when the lease was taken. */
  readonly plan: Plan;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #ended = false;
  #heldSince = performance.now();

  constructor(parts: { store: Store; plan: Plan; phase: P; facts: LeaseFacts; ttlMs: number }) {
    this.store = parts.store;
    this.plan = parts.plan;
    this.phase = parts.phase;
    this.planId = parts.facts.planId;
    this.holder = parts.facts.holder;
    this.epoch = parts.facts.epoch;
    this.ttlMs = parts.ttlMs;
    this.#timer = setInterval(() => void this.#keepAlive(), Math.min(parts.ttlMs / 3, LONGEST_TIMER_MS)).unref();
  }

  /** Aborts when the lease is known to be lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  async renew(): Promise<void> {
    await this.store.transaction((tx) => renewLease(tx, this, this.ttlMs));
  }

  /** Gives the lease up without ending the phase. Harmless when it is gone already. */
  async release(): Promise<void> {
    if (this.#ended) return;
    this.stop();
    try {
      await this.store.transaction((tx) => endLease(tx, this));
    } catch (error) {
      if (!(error instanceof StaleLeaseError)) throw error;
    }
  }

  /** Ends the renewal: the phase is over, or the lease is lost. */
  stop(): void {
    this.#ended = true;
    clearInterval(this.#timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  async #keepAlive(): Promise<void> {
    // A lease lasts by the clock, not by answers: it is over too when the database hangs and no renewal comes back.
    if (performance.now() - this.#heldSince >= this.ttlMs) return this.#lose(staleLeaseError(this));
    const asked = performance.now();
    try {
      await this.renew();
      this.#heldSince = asked;
    } catch (error) {
      // Any other failure (a busy database) is tried again at the next tick.
      // The phase ended, or the lease was given up, while the renewal was under way: nothing was lost.
      if (this.#ended) return;
      if (error instanceof StaleLeaseError) this.#lose(error);
    }
  }

  #lose(error: StaleLeaseError): void {
    this.stop();
    this.#lost.abort(error);
  }
}
