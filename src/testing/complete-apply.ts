/**
 * Completes an apply without a landing, for tests of the state machine. In production `sealLanding` makes this
 * transition, in the transaction of the journal's outcome, so that no plan is called applied whose changes are not in
 * its resources.
 */
import type { Plan } from "../domain/plan/plan.ts";
import type { Lease } from "../ledger/leases.ts";
import { recordSourceOf, transition } from "../plans/transition.ts";

export async function completeApply(lease: Lease<"apply">): Promise<Plan> {
  const { store, planId } = lease;
  const { plan } = await store.transaction(async (tx) => {
    // The service of a test has the clock of its store, and the user of the plan's entries before.
    const { now = 0, user } =
      (await tx.get<{ now: number; user: string }>(
        "SELECT now_ms() AS now, user_name AS user FROM audit_entries WHERE chain = ? ORDER BY position DESC LIMIT 1",
        planId,
      )) ?? {};
    const recordSource = recordSourceOf({ store, clock: () => now, ...(user === undefined ? {} : { user }) });
    return transition(tx, recordSource, { planId, operation: "completeApply", lease: { kind: "end", held: lease } });
  });
  lease.stop();
  return plan;
}
