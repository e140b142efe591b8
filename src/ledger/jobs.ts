/**
 * The queue of plans that are carried out in the background, in the table `jobs`. A job is a pointer to a plan: who
 * works on the plan is decided by the plan's lease, never by its job, so a job that comes twice, late or out of order
 * has no effect of its own. `enqueueJob`, `wakeJob` and `cancelJobs` run in the transaction of what they belong to;
 * the other side, which plan workers use, is the port `JobQueue`.
 *
 * A claim is one conditional statement and ends in three ways: its worker settles it, its worker is known to be dead,
 * or it was not renewed in time. An abandoned claim is given back only once no process holds the plan's lease: until
 * then its plan may still be worked on.
 */
import type { IdGenerator, PlanId } from "../domain/names/ids.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import { nameKey } from "../domain/names/qualified-name.ts";
import type { JobState } from "../domain/plan/job-states.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { storable } from "../domain/text/text.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { isDead, thisProcess } from "./lease-owner.ts";
import { findLease } from "./leases.ts";

/** `run`: as `agents run` does, up to where its profile stops. `execute`: not further than its result. */
export const JOB_KINDS = ["run", "execute"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A person waits for the one, and a schedule or a script asked for the other. */
export const PRIORITIES = { interactive: 10, background: 0 } as const;

/** How the plan is carried out, as its user said when it was queued. */
export interface JobOptions {
  readonly includeDirty: boolean;
  readonly verify: boolean;
  readonly applyAnyway: boolean;
  /** The user said yes beforehand to everything that is asked. */
  readonly approve: boolean;
}

export interface Job {
  readonly id: string;
  readonly planId: PlanId;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly priority: number;
  readonly options: JobOptions;
  /** The version of the plan whose strategy the user has seen and agreed to. */
  readonly agreedVersion: number | undefined;
  readonly askedBy: string;
  readonly createdAt: number;
  readonly notBefore: number;
  /** How often a worker has begun with it. */
  readonly attempts: number;
  readonly error: string | undefined;
}

/** A job that this process has claimed. */
export interface ClaimedJob extends Job {
  readonly claim: string;
}

/** How a claim ends. `again`: the plan could not be worked on now. `back`: this worker stops. */
export type JobEnd =
  | { readonly state: "waiting" | "done" }
  | { readonly state: "failed"; readonly error: string }
  | { readonly state: "again"; readonly error: string }
  | { readonly state: "back" };

/** The limits of claims, over all workers of the store. */
interface ClaimLimits {
  /** So many plans of one project at once. */
  readonly perProject: number;
}

/** The workers' side of a queue. */
export interface JobQueue {
  /** Whether a claim could succeed now; cheap enough to poll. */
  isDue(): Promise<boolean>;
  /** Whether anything is queued or being worked on. */
  isPending(): Promise<boolean>;
  claim(limits: ClaimLimits): Promise<ClaimedJob | undefined>;
  /** Moves the expiry of the claims; those that are still held. A cancelled one is not. */
  renew(claims: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of the claims that are still held; cheap enough to poll. */
  held(claims: readonly string[]): Promise<ReadonlySet<string>>;
  /** False when the claim is not held any more: then another worker has the job, or it was cancelled. */
  settle(job: ClaimedJob, end: JobEnd): Promise<boolean>;
  /** Gives abandoned jobs back; how many. */
  sweep(): Promise<number>;
}

/** A job that was begun so often without coming to an end is left to a person. */
export const MOST_ATTEMPTS = 10;

const CLAIM_TTL_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

/** How many steps of the job's plan are recorded. */
const RECORDED = "(SELECT COUNT(*) FROM steps WHERE steps.plan_id = jobs.plan_id)";

interface JobRow {
  readonly id: string;
  readonly plan_id: PlanId;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly priority: number;
  readonly options: string;
  readonly agreed_version: number | null;
  readonly asked_by: string;
  readonly created_at: number;
  readonly not_before: number;
  readonly attempts: number;
  readonly claim: string | null;
  readonly error: string | null;
}

export interface NewJob extends Pick<Job, "kind" | "priority" | "options" | "agreedVersion" | "askedBy"> {
  readonly plan: Pick<Plan, "id" | "projects">;
}

/**
 * Queues the plan, in the transaction that makes it runnable. A plan that is queued already keeps its one job, which
 * takes what was said last and the higher of the two priorities.
 */
export async function enqueueJob(tx: Tx, wanted: NewJob, ids: IdGenerator = monotonicIds()): Promise<string> {
  const { plan, kind, priority, options, agreedVersion = null, askedBy } = wanted;
  await tx.run("DELETE FROM jobs WHERE plan_id = ? AND state NOT IN ('queued', 'active')", plan.id);
  const project = plan.projects[0]?.project;
  const row = await tx.get<{ id: string }>(
    `INSERT INTO jobs (id, sequence, plan_id, kind, state, priority, project_key, options, agreed_version, asked_by,
       created_at, not_before, attempts, served)
     SELECT ?, COALESCE(MAX(sequence), 0) + 1, ?, ?, 'queued', ?, ?, ?, ?, ?, now_ms(), now_ms(), 0, 0 FROM jobs WHERE 1 = 1
     ON CONFLICT (plan_id) WHERE state = 'queued' DO UPDATE SET
       kind = excluded.kind, options = excluded.options, agreed_version = excluded.agreed_version,
       asked_by = excluded.asked_by, not_before = excluded.not_before, attempts = 0,
       priority = CASE WHEN jobs.priority > excluded.priority THEN jobs.priority ELSE excluded.priority END
     RETURNING id`,
    ids(),
    plan.id,
    kind,
    priority,
    project === undefined ? "" : nameKey(project),
    JSON.stringify(options),
    agreedVersion,
    askedBy,
  );
  if (row === undefined) throw new Error(`the plan ${plan.id} was not queued`);
  return row.id;
}

/** A person has said what the plan waited for: it is queued again. Nothing happens to plans outside of the queue. */
export async function wakeJob(tx: Tx, planId: PlanId): Promise<void> {
  await tx.run(
    `UPDATE jobs SET state = 'queued', attempts = 0, not_before = now_ms(), ended_at = NULL
      WHERE plan_id = ? AND state = 'waiting'
        AND NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.plan_id = jobs.plan_id AND other.state = 'queued')`,
    planId,
  );
}

/** Takes the plan out of the queue, in the transaction that cancels it; a worker's claim on it is not held any more. */
export async function cancelJobs(tx: Tx, planId: PlanId): Promise<number> {
  return tx.run(
    `UPDATE jobs SET state = 'cancelled', claim = NULL, ended_at = now_ms()
      WHERE plan_id = ? AND state IN ('queued', 'active', 'waiting', 'dead')`,
    planId,
  );
}

/** The same for a job that no worker has begun with; the plan stays as it is. False when none is queued or dead. */
export async function dropJob(tx: Tx, planId: PlanId): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE jobs SET state = 'cancelled', ended_at = now_ms() WHERE plan_id = ? AND state IN ('queued', 'dead')",
    planId,
  );
  return changed > 0;
}

/** Queues a job again that came to an end without a result; false when the plan has none. */
export async function retryJob(tx: Tx, planId: PlanId): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE jobs SET state = 'queued', attempts = 0, not_before = now_ms(), error = NULL, ended_at = NULL
      WHERE id = (SELECT id FROM jobs WHERE plan_id = ? AND state IN ('queued', 'dead', 'failed', 'cancelled')
                   ORDER BY CASE WHEN state = 'queued' THEN 0 ELSE 1 END, sequence DESC LIMIT 1)`,
    planId,
  );
  return changed === 1;
}

/** All jobs, or those of the plan: being worked on first, then in the order in which workers would begin with them. */
export async function findJobs(reader: Reader, planId?: PlanId): Promise<Job[]> {
  const rows = await reader.all<JobRow>(
    `SELECT * FROM jobs ${planId === undefined ? "" : "WHERE plan_id = ?"}
      ORDER BY CASE state WHEN 'active' THEN 0 WHEN 'queued' THEN 1 ELSE 2 END, priority DESC, sequence`,
    ...(planId === undefined ? [] : [planId]),
  );
  return rows.map(readJob);
}

/** The plans that are queued or that a plan worker carries out. */
export async function plansInQueue(reader: Reader): Promise<ReadonlySet<string>> {
  const rows = await reader.all<{ plan_id: string }>("SELECT plan_id FROM jobs WHERE state IN ('queued', 'active')");
  return new Set(rows.map((row) => row.plan_id));
}

/** The queue in the store itself. `ids` names the claims. */
export function storeQueue(
  store: Store,
  { claimTtlMs = CLAIM_TTL_MS, ids = monotonicIds() }: { claimTtlMs?: number; ids?: IdGenerator } = {},
): JobQueue {
  return {
    isDue: () => store.read(isDue),
    isPending: () => store.read(isPending),
    claim: (limits) => store.transaction((tx) => claimJob(tx, { limits, claim: ids(), ttlMs: claimTtlMs })),
    renew: (claims) =>
      store.transaction(async (tx) => {
        for (const claim of claims)
          await tx.run("UPDATE jobs SET claimed_until = now_ms() + ? WHERE claim = ?", claimTtlMs, claim);
        return heldClaims(tx, claims);
      }),
    held: (claims) => store.read((reader) => heldClaims(reader, claims)),
    settle: (job, end) => store.transaction((tx) => settleJob(tx, job, end)),
    sweep: () => sweepJobs(store),
  };
}

async function isDue(reader: Reader): Promise<boolean> {
  return (await reader.get("SELECT 1 FROM jobs WHERE state = 'queued' AND not_before <= now_ms()")) !== undefined;
}

async function isPending(reader: Reader): Promise<boolean> {
  return (await reader.get("SELECT 1 FROM jobs WHERE state IN ('queued', 'active')")) !== undefined;
}

/**
 * One conditional statement claims a job; of any number of workers one gets it. The higher priority comes first; among
 * equals the project that fewer workers work for, then the one that was served longest ago: however many plans of a
 * project wait, another project's plan is next but one.
 */
async function claimJob(
  tx: Tx,
  { limits, claim, ttlMs }: { limits: ClaimLimits; claim: string; ttlMs: number },
): Promise<ClaimedJob | undefined> {
  const self = thisProcess();
  const row = await tx.get<JobRow>(
    `UPDATE jobs SET state = 'active', attempts = attempts + 1, claim = ?, claimed_until = now_ms() + ?, host = ?,
       boot = ?, process = ?, recorded = ${RECORDED}, served = (SELECT MAX(served) + 1 FROM jobs)
     WHERE id = (
       SELECT job.id FROM jobs AS job
        WHERE job.state = 'queued' AND job.not_before <= now_ms()
          AND NOT EXISTS (SELECT 1 FROM jobs AS other WHERE other.plan_id = job.plan_id AND other.state = 'active')
          AND (SELECT COUNT(*) FROM jobs AS busy
                WHERE busy.state = 'active' AND busy.project_key = job.project_key) < ?
        ORDER BY job.priority DESC,
          (SELECT COUNT(*) FROM jobs AS busy WHERE busy.state = 'active' AND busy.project_key = job.project_key),
          (SELECT MAX(peer.served) FROM jobs AS peer WHERE peer.project_key = job.project_key),
          job.sequence
        LIMIT 1)
     RETURNING *`,
    claim,
    ttlMs,
    self.host,
    self.boot,
    self.process,
    limits.perProject,
  );
  return row === undefined ? undefined : { ...readJob(row), claim };
}

async function heldClaims(reader: Reader, claims: readonly string[]): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const rows = await reader.all<{ claim: string }>(
    `SELECT claim FROM jobs WHERE claim IN (${claims.map(() => "?").join(", ")})`,
    ...claims,
  );
  return new Set(rows.map(({ claim }) => claim));
}

/** Only for the claim that is still held: a worker that was paused cannot end the work of the next one. */
async function settleJob(tx: Tx, { id, claim, attempts }: ClaimedJob, end: JobEnd): Promise<boolean> {
  if (end.state === "back") return requeue(tx, { id, claim, attempts: attempts - 1, pauseMs: 0 });
  if (end.state === "again") {
    const { error } = end;
    if (attempts < MOST_ATTEMPTS) return requeue(tx, { id, claim, attempts, pauseMs: pauseAfter(attempts), error });
    return endJob(tx, { claim, state: "dead", error });
  }
  return endJob(tx, { claim, state: end.state, error: end.state === "failed" ? end.error : null });
}

/** 1 s, 2 s, 4 s …, at most five minutes. */
function pauseAfter(attempts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
}

async function endJob(
  tx: Tx,
  { claim, state, error }: { claim: string; state: JobState; error: string | null },
): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE jobs SET state = ?, claim = NULL, error = ?, ended_at = now_ms() WHERE claim = ?",
    state,
    error === null ? null : storable(error),
    claim,
  );
  return changed === 1;
}

/** Back into the queue; a job that was queued for the plan in the meantime stands for both. */
async function requeue(
  tx: Tx,
  job: { id: string; claim: string; attempts: number; pauseMs: number; error?: string },
): Promise<boolean> {
  const replaced = await tx.run(
    `UPDATE jobs SET state = 'done', claim = NULL, ended_at = now_ms() WHERE claim = ?
        AND EXISTS (SELECT 1 FROM jobs AS other WHERE other.plan_id = jobs.plan_id AND other.state = 'queued')`,
    job.claim,
  );
  if (replaced === 1) return true;
  const changed = await tx.run(
    "UPDATE jobs SET state = 'queued', claim = NULL, attempts = ?, not_before = now_ms() + ?, error = ? WHERE claim = ?",
    job.attempts,
    job.pauseMs,
    job.error === undefined ? null : storable(job.error),
    job.claim,
  );
  return changed === 1;
}

interface ActiveRow extends JobRow {
  readonly claim: string;
  readonly host: string;
  readonly boot: string;
  readonly process: string;
  readonly lapsed: number;
  /** Steps that were recorded under the claim. */
  readonly progress: number;
}

/**
 * Gives back the jobs of workers that are dead, or that have not renewed their claims, once no process holds the
 * plan's lease. A plan that comes on while its workers die is not to blame; one that ends many before it has recorded
 * a step is left to a person.
 */
async function sweepJobs(store: Store): Promise<number> {
  const abandoned = await store.read(async (reader) => {
    const rows = await reader.all<ActiveRow>(
      `SELECT jobs.*, claimed_until <= now_ms() AS lapsed, ${RECORDED} - recorded AS progress
         FROM jobs WHERE state = 'active'`,
    );
    const found: ActiveRow[] = [];
    for (const row of rows) {
      if (row.lapsed === 0 && !isDead(row)) continue;
      const lease = await findLease(reader, row.plan_id);
      if (lease === undefined || lease.lapsed) found.push(row);
    }
    return found;
  });
  let given = 0;
  for (const { id, claim, attempts, progress } of abandoned) {
    const error = `${attempts} workers in a row ended before they had recorded a step of it.`;
    const dead = progress <= 0 && attempts >= MOST_ATTEMPTS;
    const tries = progress > 0 ? 0 : attempts;
    // One or two deaths are bad luck, and the takeover is at once; a plan that ends its workers gets rarer.
    const back = { id, claim, attempts: tries, pauseMs: tries <= 2 ? 0 : pauseAfter(tries - 2) };
    const done = await store.transaction((tx) =>
      dead ? endJob(tx, { claim, state: "dead", error }) : requeue(tx, back),
    );
    if (done) given += 1;
  }
  return given;
}

function readJob(row: JobRow): Job {
  return {
    id: row.id,
    planId: row.plan_id,
    kind: row.kind,
    state: row.state,
    priority: row.priority,
    options: JSON.parse(row.options) as JobOptions,
    agreedVersion: row.agreed_version ?? undefined,
    askedBy: row.asked_by,
    createdAt: row.created_at,
    notBefore: row.not_before,
    attempts: row.attempts,
    error: row.error ?? undefined,
  };
}
