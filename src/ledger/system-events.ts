/**
 * Events that are not a transition of a plan: a budget that was changed, a call that a guard refused, an answer of a
 * person. The event and its audit entry are written in the transaction of what happens. The audit entry is in the
 * system's chain, because a plan's own chain has exactly one entry for each of the plan's versions.
 */
import { monotonicIds, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import type { EventType } from "../domain/plan/events.ts";
import { appendAudit, SYSTEM_CHAIN } from "../store/tables/audit.ts";
import { databaseTime } from "../store/tables/breakers.ts";
import type { Tx } from "../store/port.ts";
import { appendEvent } from "./event-log.ts";

export interface SystemEvent {
  readonly type: EventType;
  readonly user: string;
  readonly planId: PlanId | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

export async function recordSystemEvent(tx: Tx, event: SystemEvent, ids: IdGenerator = monotonicIds()): Promise<void> {
  const { type, user, planId, details } = event;
  const at = await databaseTime(tx);
  await appendEvent(tx, { id: ids(), type, at, planId, details });
  const covered = { ...(planId === undefined ? {} : { plan_id: planId }), ...details };
  await appendAudit(tx, { id: ids(), chain: SYSTEM_CHAIN, type, at, user, details: covered });
}
