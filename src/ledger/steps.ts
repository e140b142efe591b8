/**
 * Durable steps: the result of a step is recorded under its key before the caller sees it, and a step that has a record
 * is never run again in the same attempt at the plan, whichever process asks and after any crash. A stale lease records
 * nothing. A step that throws has no record and may be tried again. A rollback supersedes records: they stay, with the
 * time of it, and no longer count.
 */
import { isDeepStrictEqual } from "node:util";
import { ValidationError } from "../domain/errors/errors.ts";
import type { JsonValue } from "../domain/values/json.ts";
import type { DecisionId, PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { textProblem } from "../domain/text/text.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Reader, Tx } from "../store/port.ts";
import { staleLeaseError, type Lease } from "./leases.ts";
import { stepKey, stepRecordOf, type StepKey, type StepRecord } from "./records.ts";

/** A result that can be recorded. */
export type StepResult = JsonValue | undefined | void;

interface LeaseSteps {
  /**
   * Keys that had a record when the lease was taken, or got one under it: no other process can add any while it is
   * held.
   */
  readonly recorded: Promise<Set<string>>;
  readonly running: Map<string, Promise<unknown>>;
}

/** Writes rows in the transaction of the step's own record, so that neither is there without the other. */
export type Together<T> = (tx: Tx, result: T) => Promise<void>;

const stepsOfLease = new WeakMap<Lease, LeaseSteps>();

/**
 * Runs `fn` once for `key` and returns its result; asked again, also by a later owner, returns the recorded result. A
 * plain text is the key of a record that only its own program reads.
 *
 * ```ts
 * const answer = await runStep(lease, "ask-model", async () => callModel());
 * ```
 */
export async function runStep<T extends StepResult>(
  lease: Lease,
  wanted: StepKey | string,
  fn: () => Promise<T> | T,
  together?: Together<T>,
): Promise<T> {
  const step = typeof wanted === "string" ? stepKey("other", wanted) : wanted;
  const { key } = step;
  const problem = key === "" ? "is empty" : textProblem(key, 200);
  if (problem !== undefined) throw new ValidationError(`The step key ${problem}.`, [{ path: "key", message: problem }]);
  const steps = stepsOf(lease);
  const running = steps.running.get(key);
  if (running !== undefined) return running as Promise<T>;
  const work = recall(lease, steps, step, { fn, together });
  steps.running.set(key, work);
  try {
    return await work;
  } finally {
    steps.running.delete(key);
  }
}

function stepsOf(lease: Lease): LeaseSteps {
  let steps = stepsOfLease.get(lease);
  if (steps === undefined) {
    steps = { recorded: recordedKeys(lease), running: new Map() };
    stepsOfLease.set(lease, steps);
    // The callers that wait now get the failure; a later one gets a new try.
    steps.recorded.catch(() => stepsOfLease.delete(lease));
  }
  return steps;
}

async function recall<T extends StepResult>(
  lease: Lease,
  steps: LeaseSteps,
  step: StepKey,
  work: { readonly fn: () => Promise<T> | T; readonly together: Together<T> | undefined },
): Promise<T> {
  const recorded = await steps.recorded;
  if (recorded.has(step.key)) return (await recordedStep<T>(lease, step))?.result as T;
  // The lease is known to be lost: the result could not be recorded.
  lease.signal.throwIfAborted();
  const result = await work.fn();
  await recordStep(lease, step, result, work.together);
  recorded.add(step.key);
  return result;
}

/** Inserts the record only under a lease that is held at this moment: the fence and the write are one statement. */
async function recordStep<T extends StepResult>(
  lease: Lease,
  { kind, key }: StepKey,
  result: T,
  together: Together<T> | undefined,
): Promise<void> {
  const text = serialized(key, result);
  await lease.store.transaction(async (tx) => {
    const inserted = await tx.run(
      `INSERT INTO steps (plan_id, phase, attempt, key, kind, epoch, result, at)
       SELECT plan_id, phase, ?, ?, ?, epoch, ?, now_ms() FROM leases
        WHERE plan_id = ? AND phase = ? AND epoch = ? AND expires_at > now_ms() FENCED`,
      lease.plan.attempt,
      key,
      kind,
      text,
      lease.planId,
      lease.phase,
      lease.epoch,
    );
    if (inserted !== 1) throw staleLeaseError(lease);
    await together?.(tx, result);
  });
}

/**
 * Records a step together with its effect, in the caller's transaction. Not fenced by a lease: the caller holds the
 * kernel locks of the plan's resources, so that no other process works on them.
 */
export async function insertStep(
  tx: Tx,
  step: {
    readonly planId: PlanId;
    readonly phase: Phase;
    readonly attempt: number;
    readonly kind: StepKey["kind"];
    readonly key: string;
    readonly epoch: number;
    readonly result: JsonValue;
  },
): Promise<void> {
  await tx.run(
    "INSERT INTO steps (plan_id, phase, attempt, key, kind, epoch, result, at) VALUES (?, ?, ?, ?, ?, ?, ?, now_ms())",
    step.planId,
    step.phase,
    step.attempt,
    step.key,
    step.kind,
    step.epoch,
    serialized(step.key, step.result),
  );
}

/** Whether the step has a record, without reading it. */
export async function isRecorded(lease: Lease, { key }: StepKey): Promise<boolean> {
  return (await stepsOf(lease).recorded).has(key);
}

/** The recorded result, for a caller that does not run the step; undefined when it has no record. */
export async function recordedStep<T extends StepResult>(
  lease: Lease,
  { key }: StepKey,
): Promise<{ readonly result: T } | undefined> {
  const row = await lease.store.read((reader) =>
    reader.get<{ result: string | null }>(
      `SELECT result FROM steps WHERE plan_id = ? AND phase = ? AND attempt = ? AND key = ? AND superseded_at IS NULL`,
      lease.planId,
      lease.phase,
      lease.plan.attempt,
      key,
    ),
  );
  if (row === undefined) return undefined;
  return { result: (row.result === null ? undefined : JSON.parse(row.result)) as T };
}

async function recordedKeys(lease: Lease): Promise<Set<string>> {
  const rows = await lease.store.read((reader) =>
    reader.all<{ key: string }>(
      "SELECT key FROM steps WHERE plan_id = ? AND phase = ? AND attempt = ? AND superseded_at IS NULL",
      lease.planId,
      lease.phase,
      lease.plan.attempt,
    ),
  );
  return new Set(rows.map((row) => row.key));
}

/** The records of an attempt that count and have a position in the program, in any order. */
export async function findStepRecords(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
  phase: Phase = "execute",
): Promise<StepRecord[]> {
  const rows = await reader.all<{ kind: StepRecord["kind"]; key: string; result: string }>(
    `SELECT kind, key, result FROM steps
      WHERE plan_id = ? AND phase = ? AND attempt = ? AND superseded_at IS NULL AND kind <> 'other'`,
    plan.id,
    phase,
    plan.attempt,
  );
  return rows.map(stepRecordOf);
}

/** The recorded answer that stands for the decision, also one that counts no more. */
export async function findAnswer(
  reader: Reader,
  planId: PlanId,
  decision: DecisionId,
): Promise<Extract<StepRecord, { kind: "answer" }> | undefined> {
  const rows = await reader.all<{ kind: "answer"; key: string; result: string }>(
    "SELECT kind, key, result FROM steps WHERE plan_id = ? AND kind = 'answer' AND result LIKE ?",
    planId,
    `%${decision}%`,
  );
  const records = rows.map((row) => stepRecordOf(row) as Extract<StepRecord, { kind: "answer" }>);
  return records.find((record) => record.decision === decision);
}

/** The records of one kind of an attempt's execution that count, in any order. */
export async function findStepsOfKind<K extends StepRecord["kind"]>(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
  kind: K,
): Promise<Extract<StepRecord, { kind: K }>[]> {
  const rows = await reader.all<{ kind: K; key: string; result: string }>(
    `SELECT kind, key, result FROM steps
      WHERE plan_id = ? AND phase = 'execute' AND attempt = ? AND superseded_at IS NULL AND kind = ?`,
    plan.id,
    plan.attempt,
    kind,
  );
  return rows.map((row) => stepRecordOf(row) as Extract<StepRecord, { kind: K }>);
}

/** The records of an attempt's execution, and of applying its result, that count and are not among the kept ones. */
export async function stepsOutside(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
  kept: ReadonlySet<string>,
): Promise<{ readonly phase: Phase; readonly key: string }[]> {
  const rows = await reader.all<{ phase: Phase; key: string }>(
    `SELECT phase, key FROM steps
      WHERE plan_id = ? AND attempt = ? AND phase <> 'strategize' AND superseded_at IS NULL ORDER BY phase, key`,
    plan.id,
    plan.attempt,
  );
  return rows.filter(({ phase, key }) => !(phase === "execute" && kept.has(key)));
}

/**
 * Marks these records as superseded: they stay, but do not count, so each of these steps can be run and recorded again.
 */
export async function supersedeSteps(tx: Tx, plan: Plan, kept: ReadonlySet<string>): Promise<void> {
  for (const { phase, key } of await stepsOutside(tx, plan, kept)) {
    await tx.run(
      `UPDATE steps SET superseded_at = now_ms()
        WHERE plan_id = ? AND phase = ? AND attempt = ? AND key = ? AND superseded_at IS NULL`,
      plan.id,
      phase,
      plan.attempt,
      key,
    );
  }
}

/** Refuses a result that would come back different from the one that was returned the first time. */
function serialized(key: string, result: StepResult): string | null {
  if (result === undefined) return null;
  const refuse = (): never => {
    const message = `The step "${key}" returned something that JSON does not keep as it is; return plain data.`;
    throw new ValidationError(message, [{ path: key, message }]);
  };
  const simple =
    result === null || typeof result === "boolean" || (typeof result === "string" && result.isWellFormed());
  if (simple) return JSON.stringify(result);
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch {
    refuse();
  }
  if (text === undefined || !isDeepStrictEqual(JSON.parse(text), result)) return refuse();
  return text;
}
