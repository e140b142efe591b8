/**
 * Tool calls, in the table `tool_invocations`. A call begins in the transaction that opens its changeset and ends in
 * the one that closes it, so it costs no commit of its own, and its changes carry its id from the first one on.
 */
import type { ChosenCall, InvocationEnd, ToolInvocation } from "../domain/plan/decision.ts";
import { PlanError } from "../domain/errors/errors.ts";
import type { GuardName } from "../domain/profile/guards.ts";
import type { ChangesetId, DecisionId, InvocationId, PlanId } from "../domain/names/ids.ts";
import type { JsonValue } from "../domain/values/json.ts";
import { storable } from "../domain/text/text.ts";
import { maskedText } from "../platform/masking.ts";
import type { Reader, Tx } from "../store/port.ts";

/** A tool call as it begins: the tool, its input and its decision. */
export interface CallStart {
  readonly id: InvocationId;
  /** The decision that the call carries out. */
  readonly decision: DecisionId;
  readonly tool: string;
  /** Without secrets. */
  readonly params: JsonValue;
  /** Guards are asked about it; undefined for what no actor calls, such as the user's own hooks. */
  readonly guarded?:
    | {
        readonly step: string;
        readonly writes: boolean;
        /** The call is one of many of a step whose actor sees it fail and decides what to do next. */
        readonly within?: boolean;
      }
    | undefined;
}

/** How a tool call ended. */
export type CallEnd = InvocationEnd & Pick<CallStart, "id">;

/**
 * Begins the call only for a decision of the plan that counts: the check and the write are one statement. Parameters
 * that equal those of the decision are not written a second time (measured with 4 KiB of parameters: 40 µs for a call
 * on record instead of 65).
 */
export async function beginInvocation(
  tx: Tx,
  call: CallStart,
  place: { readonly planId: PlanId; readonly changesetId: ChangesetId; readonly epoch: number | undefined },
): Promise<void> {
  const { chosen, params } = chosenText(call);
  const begun = await tx.run(
    `INSERT INTO tool_invocations
       (sequence, id, plan_id, attempt, changeset_id, decision_id, tool, parameters, step, epoch, started_at)
     SELECT (SELECT COALESCE(MAX(sequence), 0) + 1 FROM tool_invocations), ?, plan_id, attempt, ?, id, ?, CASE WHEN chosen = ? THEN NULL ELSE ? END, ?, ?, now_ms() FROM decisions
      WHERE id = ? AND plan_id = ? AND superseded_at IS NULL`,
    call.id,
    place.changesetId,
    toolText(call),
    chosen,
    params,
    call.guarded?.step ?? null,
    place.epoch ?? null,
    call.decision,
    place.planId,
  );
  if (begun === 1) return;
  throw new PlanError(`The plan ${place.planId} has no decision ${call.decision} that a tool could be called for.`, {
    detail: { decision_id: call.decision },
  });
}

/** The call as a decision has it that chose just this, and its parameters alone. */
export function chosenText({ tool, params }: Pick<CallStart, "tool" | "params">): {
  readonly chosen: string;
  readonly params: string;
} {
  return { chosen: JSON.stringify({ tool, params }), params: JSON.stringify(params) };
}

/** The tool's name as it is stored: a model may have made it up. */
export function toolText({ tool }: Pick<CallStart, "tool">): string {
  return storable(tool, 200);
}

/** Says which guard refused the call that just ended. */
export async function markRefused(tx: Tx, id: InvocationId, guard: GuardName): Promise<void> {
  await tx.run("UPDATE tool_invocations SET refused_by = ? WHERE id = ?", guard, id);
}

export async function endInvocation(tx: Tx, id: InvocationId, end: InvocationEnd): Promise<void> {
  await tx.run(
    `UPDATE tool_invocations SET outcome = ?, duration_ms = ?, error = ?, result_size = ?
      WHERE id = ? AND outcome IS NULL`,
    end.outcome,
    Math.round(end.durationMs),
    end.outcome === "failed" ? storable(maskedText(end.error), 4_096) : null,
    end.outcome === "ok" ? end.resultSize : null,
    id,
  );
}

/** Marks tool calls as superseded: they stay, but do not count. */
export async function supersedeInvocations(tx: Tx, ids: readonly InvocationId[]): Promise<void> {
  for (const id of ids)
    await tx.run("UPDATE tool_invocations SET superseded_at = now_ms() WHERE id = ? AND superseded_at IS NULL", id);
}

/**
 * The changesets of calls of a tool for a decision that an earlier owner of the plan began, and that did not fail: they
 * were carried out, or may have been.
 */
export async function begunBefore(
  reader: Reader,
  call: Pick<CallStart, "decision" | "tool">,
  epoch: number,
): Promise<ChangesetId[]> {
  const rows = await reader.all<{ changeset_id: ChangesetId }>(
    `SELECT changeset_id FROM tool_invocations
      WHERE decision_id = ? AND tool = ? AND epoch < ? AND refused_by IS NULL AND superseded_at IS NULL
        AND (outcome IS NULL OR outcome = 'ok')`,
    call.decision,
    toolText(call),
    epoch,
  );
  return rows.map((row) => row.changeset_id);
}

interface InvocationRow {
  readonly id: InvocationId;
  readonly changeset_id: ChangesetId;
  readonly decision_id: DecisionId;
  readonly tool: string;
  readonly parameters: string | null;
  readonly chosen: string;
  readonly epoch: number | null;
  readonly started_at: number;
  readonly duration_ms: number | null;
  readonly outcome: "ok" | "failed" | null;
  readonly error: string | null;
  readonly result_size: number | null;
  readonly superseded_at: number | null;
  readonly refused_by: GuardName | null;
}

/** The tool calls of an attempt in the order in which they began, also those that no longer count. */
export async function findInvocations(reader: Reader, planId: PlanId, attempt: number): Promise<ToolInvocation[]> {
  const rows = await reader.all<InvocationRow>(
    `SELECT tool_invocations.*, decisions.chosen FROM tool_invocations
       JOIN decisions ON decisions.id = tool_invocations.decision_id
      WHERE tool_invocations.plan_id = ? AND tool_invocations.attempt = ? ORDER BY tool_invocations.sequence`,
    planId,
    attempt,
  );
  return rows.map(readInvocation);
}

function readInvocation(row: InvocationRow): ToolInvocation {
  return {
    id: row.id,
    changesetId: row.changeset_id,
    decisionId: row.decision_id,
    tool: row.tool,
    params:
      row.parameters === null
        ? (JSON.parse(row.chosen) as ChosenCall).params
        : (JSON.parse(row.parameters) as JsonValue),
    epoch: row.epoch ?? undefined,
    startedAt: row.started_at,
    end: readEnd(row),
    supersededAt: row.superseded_at ?? undefined,
    refusedBy: row.refused_by ?? undefined,
  };
}

function readEnd(row: InvocationRow): InvocationEnd | undefined {
  const durationMs = row.duration_ms ?? 0;
  switch (row.outcome) {
    case "ok":
      return { outcome: "ok", durationMs, resultSize: row.result_size ?? 0 };
    case "failed":
      return { outcome: "failed", durationMs, error: row.error ?? "" };
    case null:
      return undefined;
  }
}
