/**
 * The results of validations, kept for ever. A run is one pass over one state of the files; a result is written once,
 * in one statement that asks whether the lease is still held, and is never changed. So a run that was interrupted
 * continues behind its results, and a run on other files is another one. (A durable step under its own key would be a
 * second record of the same thing.)
 */
import { monotonicIds, type AttachmentId, type IdGenerator } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import type { ValidatedPlace, ValidationResult, ValidationRun } from "../domain/validation/validation-result.ts";
import type { ValidationMode } from "../domain/validation/validation.ts";
import { maskedText } from "../platform/masking.ts";
import type { Reader } from "../store/port.ts";
import { appendEvent } from "./event-log.ts";
import { staleLeaseError, type Lease } from "./leases.ts";

/** The run on these files: the latest one when it is about the same, else a new one. */
export async function openValidationRun(
  lease: Lease,
  wanted: { readonly where: ValidatedPlace; readonly tree: string },
): Promise<ValidationRun> {
  const { plan } = lease;
  const { where, tree } = wanted;
  return lease.store.transaction(async (tx) => {
    const latest = await latestRun(tx, plan);
    if (latest?.where === where && latest.tree === tree) return latest;
    const number = (latest?.number ?? 0) + 1;
    const row = await tx.get<{ started_at: number }>(
      `INSERT INTO validation_runs (plan_id, attempt, number, place, tree, epoch, started_at)
       SELECT plan_id, ?, ?, ?, ?, epoch, now_ms() FROM leases
        WHERE plan_id = ? AND phase = ? AND epoch = ? AND expires_at > now_ms() FENCED
       RETURNING started_at`,
      plan.attempt,
      number,
      where,
      tree,
      lease.planId,
      lease.phase,
      lease.epoch,
    );
    if (row === undefined) throw staleLeaseError(lease);
    return { number, where, tree, startedAt: row.started_at };
  });
}

/** Writes the result and its event under a lease that is held at this moment. */
export async function recordValidation(
  lease: Lease,
  run: ValidationRun,
  position: number,
  result: ValidationResult,
  ids: IdGenerator = monotonicIds(),
): Promise<void> {
  await lease.store.transaction(async (tx) => {
    const row = await tx.get<{ at: number }>(
      `INSERT INTO validation_results (plan_id, attempt, run, alias, attachment_id, position, validation_name, mode, passed,
         message, output, output_cut, changed_files, duration_ms, epoch, at)
       SELECT plan_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, epoch, now_ms() FROM leases
        WHERE plan_id = ? AND phase = ? AND epoch = ? AND expires_at > now_ms() FENCED
       RETURNING at`,
      lease.plan.attempt,
      run.number,
      result.resource,
      result.attachment,
      position,
      result.validation,
      result.mode,
      Number(result.passed),
      maskedText(result.message),
      maskedText(result.output),
      Number(result.outputCut),
      JSON.stringify(result.changedFiles),
      result.durationMs,
      lease.planId,
      lease.phase,
      lease.epoch,
    );
    if (row === undefined) throw staleLeaseError(lease);
    await appendEvent(tx, {
      id: ids(),
      type: result.passed ? "validation.passed" : "validation.failed",
      at: row.at,
      planId: lease.planId,
      details: {
        validation: result.validation,
        resource: result.resource,
        mode: result.mode,
        where: run.where,
        attempt: lease.plan.attempt,
        run: run.number,
        message: result.message,
      },
    });
  });
}

export interface ValidationRunResults {
  readonly run: ValidationRun;
  /** In the order in which they were to be run. */
  readonly results: readonly ValidationResult[];
}

/** The results so far of the latest run of the plan's current attempt; undefined when there was none. */
export async function latestValidations(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
): Promise<ValidationRunResults | undefined> {
  const run = await latestRun(reader, plan);
  return run === undefined ? undefined : { run, results: await resultsOf(reader, plan, run.number) };
}

/** All results of one run of the plan's current attempt. */
export async function resultsOf(
  reader: Reader,
  plan: Pick<Plan, "id" | "attempt">,
  run: number,
): Promise<ValidationResult[]> {
  const rows = await reader.all<ResultRow>(
    "SELECT * FROM validation_results WHERE plan_id = ? AND attempt = ? AND run = ? ORDER BY position, alias, attachment_id",
    plan.id,
    plan.attempt,
    run,
  );
  return rows.map(readResult);
}

async function latestRun(reader: Reader, plan: Pick<Plan, "id" | "attempt">): Promise<ValidationRun | undefined> {
  const row = await reader.get<{ number: number; place: ValidatedPlace; tree: string; started_at: number }>(
    `SELECT number, place, tree, started_at FROM validation_runs WHERE plan_id = ? AND attempt = ?
      ORDER BY number DESC LIMIT 1`,
    plan.id,
    plan.attempt,
  );
  if (row === undefined) return undefined;
  return { number: row.number, where: row.place, tree: row.tree, startedAt: row.started_at };
}

interface ResultRow {
  readonly alias: string;
  readonly attachment_id: string;
  readonly validation_name: string;
  readonly mode: string;
  readonly passed: number;
  readonly message: string;
  readonly output: string;
  readonly output_cut: number;
  readonly changed_files: string;
  readonly duration_ms: number;
}

function readResult(row: ResultRow): ValidationResult {
  return {
    attachment: row.attachment_id as AttachmentId,
    resource: row.alias,
    validation: row.validation_name as QualifiedName,
    mode: row.mode as ValidationMode,
    passed: row.passed === 1,
    message: row.message,
    output: row.output,
    outputCut: row.output_cut === 1,
    changedFiles: JSON.parse(row.changed_files) as string[],
    durationMs: row.duration_ms,
  };
}
