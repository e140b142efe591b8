/**
 * The record of an answer: the decision it stands for, exactly what the model was shown, the call with its cost, and
 * the end of its reservation. All of it is one part of the transaction that records the durable step.
 */
import type { About, Told } from "../../actors/loop/actor-effects.ts";
import type { DecisionId, IdGenerator } from "../../domain/names/ids.ts";
import { storable } from "../../domain/text/text.ts";
import type { Settlement } from "../../ledger/budgets.ts";
import { insertDecision } from "../../ledger/decisions.ts";
import type { Lease } from "../../ledger/leases.ts";
import { insertModelCall, type ModelCallFacts } from "../../ledger/model-calls.ts";
import type { StagedContent } from "../../store/contents/contents.ts";
import type { Tx } from "../../store/port.ts";

/** As much of what a model said as is shown as a reason; the whole is kept beside it. */
const RATIONALE_LIMIT = 4_000;

export interface AnswerRecord {
  readonly lease: Lease;
  readonly ids: IdGenerator;
  /** Of the durable step. */
  readonly stepKey: string;
  readonly decision: DecisionId;
  readonly about: About;
  readonly told: Told;
  readonly snapshot: StagedContent;
  readonly facts: ModelCallFacts;
  readonly settlement: Settlement | undefined;
}

export async function insertAnswer(tx: Tx, record: AnswerRecord): Promise<void> {
  const { lease, ids, stepKey, decision, about, told, snapshot, facts } = record;
  const { plan, phase } = lease;
  const { text, toolCalls } = told;
  await record.settlement?.commit(tx);
  await snapshot.commit(tx);
  const calls = toolCalls.map(({ tool, params, raw }) => ({ tool, params: params ?? raw }));
  await insertDecision(tx, () => decision, {
    planId: plan.id,
    attempt: plan.attempt,
    type: typeof about.type === "string" ? about.type : about.type(told),
    phase,
    step: undefined,
    question: storable(about.question),
    chosen: calls.length === 0 ? { text } : { calls },
    parent: about.parent,
    needs: [],
    thought: {
      ...(text.trim() === "" ? {} : { rationale: storable(text.trim(), RATIONALE_LIMIT), reasoning: text }),
      snapshot: snapshot.hash,
    },
  });
  const row = { id: ids(), planId: plan.id, attempt: plan.attempt, phase, stepKey };
  await insertModelCall(tx, { ...row, ...facts, decision });
}
