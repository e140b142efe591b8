/** An event exists exactly when what it tells happened: where it cannot be written, nothing happens. */
import { describe, expect, test } from "vitest";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/port.ts";
import { actionInput, planAt } from "../testing/fixtures.ts";
import { planRows } from "../testing/plan-rows.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";

async function refuse(store: Store, table: "events" | "audit_entries"): Promise<void> {
  await store.transaction((tx) =>
    tx.run(`CREATE TRIGGER refused BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no row for you'); END`),
  );
}

describe.each(["events", "audit_entries"] as const)("when no row can be added to %s", (table) => {
  test("a plan does not move, keeps its lease, and no new one is made", async () => {
    await using temporary = await TemporaryStore.open("memory");
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const queued = await planAt(service, "execute/queued");
    const { id, lease } = await planAt(service, "execute/processing");
    const before = [await planRows(store, queued.id), await planRows(store, id)];
    await refuse(store, table);
    await expect(service.startExecute(queued.id)).rejects.toThrow("no row for you");
    await expect(service.cancelPlan(queued.id)).rejects.toThrow("no row for you");
    const held = lease as Lease<"execute">;
    await expect(service.failExecute(held, { message: "x" })).rejects.toThrow("no row for you");
    await expect(service.createAction(actionInput("local/other"))).rejects.toThrow("no row for you");
    await expect(service.useAction({ action: "local/fix" })).rejects.toThrow("no row for you");
    expect([await planRows(store, queued.id), await planRows(store, id)]).toEqual(before);
    expect((await service.listPlans({})).plans).toHaveLength(2);
    expect(await service.listActions({})).toHaveLength(1);
    await store.transaction((tx) => tx.run("DROP TRIGGER refused"));
    expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
    held.stop();
  });
});
