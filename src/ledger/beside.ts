import type { EventType } from "../domain/events.ts";
import { monotonicIds, type PlanId } from "../domain/ids.ts";
import { appendAudit, SYSTEM_CHAIN } from "../store/audit.ts";
import { databaseTime } from "../store/breakers.ts";
import type { Tx } from "../store/store.ts";
import { appendEvent } from "./events.ts";

const ids = monotonicIds();

/**
 * Tells of something that happened beside a plan's transitions, in the transaction in which it happens. The audit entry is in the system's
 * chain: a plan's own has exactly one for each of its versions.
 */
export async function tellBeside(
  tx: Tx,
  happened: {
    readonly type: EventType;
    readonly user: string;
    readonly planId: PlanId | undefined;
    readonly details: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const { type, user, planId, details } = happened;
  const at = await databaseTime(tx);
  await appendEvent(tx, { id: ids(), type, at, planId, details });
  const told = { ...(planId === undefined ? {} : { plan_id: planId }), ...details };
  await appendAudit(tx, { id: ids(), chain: SYSTEM_CHAIN, type, at, user, details: told });
}
