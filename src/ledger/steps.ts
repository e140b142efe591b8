import { isDeepStrictEqual } from "node:util";
import { ValidationError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { textProblem } from "../domain/text.ts";
import type { Phase } from "../domain/transitions.ts";
import type { Reader, Tx } from "../store/store.ts";
import { staleLease, type Lease } from "./leases.ts";

/**
 * Durable steps: the result of a step is recorded under its key before anybody sees it, and a step that has a record is never
 * run again in the same attempt at the plan, whoever asks and after whatever crash. A stale lease records nothing. A step that
 * throws has no record and may be tried again.
 */
export type StepResult = JsonValue | undefined | void;

interface LeaseSteps {
  /** Keys that had a record when the lease was taken, or got one under it: nobody else can add any while it is held. */
  readonly recorded: Promise<Set<string>>;
  readonly running: Map<string, Promise<unknown>>;
}

/** What is recorded in the transaction of the step's own record, so that neither is there without the other. */
export type Together<T> = (tx: Tx, result: T) => Promise<void>;

const stepsOfLease = new WeakMap<Lease, LeaseSteps>();

/**
 * Runs `fn` once for `key` and returns its result; asked again, also by a later owner, returns the recorded result.
 *
 * ```ts
 * const answer = await runStep(lease, "ask-model", async () => callModel());
 * ```
 */
export async function runStep<T extends StepResult>(
  lease: Lease,
  key: string,
  fn: () => Promise<T> | T,
  together?: Together<T>,
): Promise<T> {
  const problem = key === "" ? "is empty" : textProblem(key, 200);
  if (problem !== undefined) throw new ValidationError(`The step key ${problem}.`, [{ path: "key", message: problem }]);
  const steps = stepsOf(lease);
  const running = steps.running.get(key);
  if (running !== undefined) return running as Promise<T>;
  const work = recall(lease, steps, key, { fn, together });
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
    // Whoever asks now hears of the failure; whoever asks later gets a new try.
    steps.recorded.catch(() => stepsOfLease.delete(lease));
  }
  return steps;
}

async function recall<T extends StepResult>(
  lease: Lease,
  steps: LeaseSteps,
  key: string,
  step: { readonly fn: () => Promise<T> | T; readonly together: Together<T> | undefined },
): Promise<T> {
  const recorded = await steps.recorded;
  if (recorded.has(key)) return (await recordedStep<T>(lease, key))?.result as T;
  // Known to be lost: what would come of it could not be recorded.
  lease.signal.throwIfAborted();
  const result = await step.fn();
  await recordStep(lease, key, result, step.together);
  recorded.add(key);
  return result;
}

/** Inserts the record only under a lease that is held at this moment: the fence and the write are one statement. */
async function recordStep<T extends StepResult>(
  lease: Lease,
  key: string,
  result: T,
  together: Together<T> | undefined,
): Promise<void> {
  const text = serialised(key, result);
  await lease.store.transaction(async (tx) => {
    const inserted = await tx.run(
      `INSERT INTO steps (plan_id, phase, attempt, key, epoch, result, at)
       SELECT plan_id, phase, ?, ?, epoch, ?, now_ms() FROM leases
        WHERE plan_id = ? AND phase = ? AND epoch = ? AND expires_at > now_ms()`,
      lease.plan.attempt,
      key,
      text,
      lease.planId,
      lease.phase,
      lease.epoch,
    );
    if (inserted !== 1) throw staleLease(lease);
    await together?.(tx, result);
  });
}

/**
 * Records a step together with its effect, in the caller's transaction. Not fenced by a lease: whoever calls this has made sure
 * otherwise that nobody else can be at it.
 */
export async function insertStep(
  tx: Tx,
  step: {
    readonly planId: PlanId;
    readonly phase: Phase;
    readonly attempt: number;
    readonly key: string;
    readonly epoch: number;
    readonly result: JsonValue;
  },
): Promise<void> {
  await tx.run(
    "INSERT INTO steps (plan_id, phase, attempt, key, epoch, result, at) VALUES (?, ?, ?, ?, ?, ?, now_ms())",
    step.planId,
    step.phase,
    step.attempt,
    step.key,
    step.epoch,
    serialised(step.key, step.result),
  );
}

/** What a step recorded, for whoever wants to know without running it; undefined when it has no record. */
export async function recordedStep<T extends StepResult>(
  lease: Lease,
  key: string,
): Promise<{ readonly result: T } | undefined> {
  const row = await lease.store.read((reader) =>
    reader.get<{ result: string | null }>(
      "SELECT result FROM steps WHERE plan_id = ? AND phase = ? AND attempt = ? AND key = ?",
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
      "SELECT key FROM steps WHERE plan_id = ? AND phase = ? AND attempt = ?",
      lease.planId,
      lease.phase,
      lease.plan.attempt,
    ),
  );
  return new Set(rows.map((row) => row.key));
}

/** In front of the keys of superseded records. No step can be asked for under such a key: the control character is refused. */
const SUPERSEDED = "superseded\u0001";

/** The records of an attempt's execution, and of applying what came of it, that count and are not among the kept ones. */
export async function stepsBeside(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
  kept: ReadonlySet<string>,
): Promise<{ readonly phase: Phase; readonly key: string }[]> {
  const rows = await reader.all<{ phase: Phase; key: string }>(
    "SELECT phase, key FROM steps WHERE plan_id = ? AND attempt = ? AND phase <> 'strategize' ORDER BY phase, key",
    plan.id,
    plan.attempt,
  );
  return rows.filter(({ phase, key }) => !key.startsWith(SUPERSEDED) && !(phase === "execute" && kept.has(key)));
}

/**
 * Takes these records out of what counts: they stay, under a key that no step has, so whoever looks for a step by its key does not
 * find them, and it can be run and recorded again.
 */
export async function supersedeSteps(tx: Tx, plan: Plan, kept: ReadonlySet<string>): Promise<void> {
  for (const { phase, key } of await stepsBeside(tx, plan, kept)) {
    await tx.run(
      "UPDATE steps SET key = ? WHERE plan_id = ? AND phase = ? AND attempt = ? AND key = ?",
      `${SUPERSEDED}${plan.version}\u0001${key}`,
      plan.id,
      phase,
      plan.attempt,
      key,
    );
  }
}

/** Refuses what would come back different from what was returned the first time. */
function serialised(key: string, result: StepResult): string | null {
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
