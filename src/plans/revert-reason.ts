/** Why a person sent a plan back after one of its attempts, as the event of that move has it. */
import type { Plan } from "../domain/plan/plan.ts";
import { findEvents } from "../ledger/event-log.ts";
import type { Reader } from "../store/port.ts";

export async function revertReason(reader: Reader, plan: Plan, attempt: number): Promise<string | undefined> {
  const moves = [
    ...(await findEvents(reader, plan.id, "plan.phase_changed")),
    ...(await findEvents(reader, plan.id, "plan.state_changed")),
  ];
  const back = moves.find(({ details }) => details["operation"] === "revertPlan" && details["attempt"] === attempt + 1);
  const reason = back?.details["reason"];
  return typeof reason === "string" ? reason : undefined;
}
