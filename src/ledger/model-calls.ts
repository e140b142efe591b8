/**
 * Tokens and cost of each call of a model, in the table `model_calls`: written with the decision it led to, or alone
 * when it failed. A call belongs to a plan or to one run of a gateway.
 */
import type { DecisionId, PlanId } from "../domain/names/ids.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Reader, Tx } from "../store/port.ts";

export interface ModelCallFacts {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  /** Those of `inputTokens` that the provider read from its cache. */
  readonly cachedTokens: number;
  /** Those of `inputTokens` that the provider wrote to its cache. */
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Counted here, because the provider did not say. */
  readonly estimated: boolean;
  /** In millionths of a dollar; undefined when the price is not known. */
  readonly cost: number | undefined;
  readonly durationMs: number;
  readonly tries: number;
  /** How many secrets were masked in what was sent. */
  readonly masked: number;
  /** Why it failed; undefined for one that was answered. */
  readonly error: string | undefined;
}

export interface NewModelCall extends ModelCallFacts {
  readonly id: string;
  readonly planId: PlanId;
  readonly attempt: number;
  readonly phase: Phase;
  /** Under which its answer is recorded. */
  readonly stepKey: string;
  readonly decision: DecisionId | undefined;
}

export async function insertModelCall(tx: Tx, call: NewModelCall): Promise<void> {
  await tx.run(
    `INSERT INTO model_calls (sequence, id, plan_id, attempt, phase, step_key, decision_id, provider, model, input_tokens,
       cached_tokens, cache_write_tokens, output_tokens, estimated, cost, duration_ms, tries, masked, error, at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now_ms()
       FROM model_calls WHERE plan_id = ?`,
    call.id,
    call.planId,
    call.attempt,
    call.phase,
    call.stepKey,
    call.decision ?? null,
    call.provider,
    call.model,
    call.inputTokens,
    call.cachedTokens,
    call.cacheWriteTokens,
    call.outputTokens,
    call.estimated ? 1 : 0,
    call.cost ?? null,
    Math.round(call.durationMs),
    call.tries,
    call.masked,
    call.error ?? null,
    call.planId,
  );
}

/** A call of another program, which went through a gateway. */
export async function insertGatewayCall(
  tx: Tx,
  call: ModelCallFacts & { readonly id: string; readonly gatewayId: string },
): Promise<void> {
  await tx.run(
    `INSERT INTO model_calls (sequence, id, gateway_id, provider, model, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, estimated, cost, duration_ms, tries, masked, error, at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now_ms()
       FROM model_calls WHERE gateway_id = ?`,
    call.id,
    call.gatewayId,
    call.provider,
    call.model,
    call.inputTokens,
    call.cachedTokens,
    call.cacheWriteTokens,
    call.outputTokens,
    call.estimated ? 1 : 0,
    call.cost ?? null,
    Math.round(call.durationMs),
    call.tries,
    call.masked,
    call.error ?? null,
    call.gatewayId,
  );
}

interface ModelCallRow {
  readonly decision_id: DecisionId;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly estimated: number;
  readonly cost: number | null;
  readonly duration_ms: number;
  readonly tries: number;
  readonly masked: number;
  readonly error: string | null;
}

/** The calls that led to decisions of an attempt, by the decision. */
export async function modelCallsOf(
  reader: Reader,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<DecisionId, ModelCallFacts>> {
  const rows = await reader.all<ModelCallRow>(
    "SELECT * FROM model_calls WHERE plan_id = ? AND attempt = ? AND decision_id IS NOT NULL ORDER BY sequence",
    planId,
    attempt,
  );
  return new Map(rows.map((row) => [row.decision_id, readCall(row)]));
}

/**
 * The model calls of a plan over all attempts, including calls that failed or were rolled back, or of one run of a
 * gateway: all of them were paid for.
 */
export interface CallsUsage {
  readonly calls: number;
  readonly failedCalls: number;
  readonly inputTokens: number;
  /** Those of `inputTokens` that providers read from their caches. */
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Of the calls whose price is known. */
  readonly cost: number;
  /** How many calls have a price that is not known. */
  readonly unpriced: number;
}

export async function planUsage(reader: Reader, planId: PlanId): Promise<CallsUsage> {
  return usageWhere(reader, "plan_id = ?", planId);
}

export async function gatewayUsage(reader: Reader, gatewayId: string): Promise<CallsUsage> {
  return usageWhere(reader, "gateway_id = ?", gatewayId);
}

async function usageWhere(reader: Reader, which: string, value: string): Promise<CallsUsage> {
  const row = await reader.get<Record<keyof CallsUsage, number>>(
    `SELECT COUNT(*) AS "calls", COUNT(error) AS "failedCalls", COALESCE(SUM(input_tokens), 0) AS "inputTokens",
            COALESCE(SUM(cached_tokens), 0) AS "cachedTokens",
            COALESCE(SUM(cache_write_tokens), 0) AS "cacheWriteTokens",
            COALESCE(SUM(output_tokens), 0) AS "outputTokens", COALESCE(SUM(cost), 0) AS "cost",
            COUNT(*) - COUNT(cost) AS "unpriced"
       FROM model_calls WHERE ${which}`,
    value,
  );
  if (row !== undefined) return row;
  const none = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  return { calls: 0, failedCalls: 0, ...none, cost: 0, unpriced: 0 };
}

function readCall(row: ModelCallRow): ModelCallFacts {
  return {
    provider: row.provider,
    model: row.model,
    inputTokens: row.input_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    estimated: row.estimated === 1,
    cost: row.cost ?? undefined,
    durationMs: row.duration_ms,
    tries: row.tries,
    masked: row.masked,
    error: row.error ?? undefined,
  };
}
