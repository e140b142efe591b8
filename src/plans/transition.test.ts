/** A move, its event and its audit entry are one: where one of them cannot be written, none is. */
import { expect, test } from "vitest";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { planRows } from "../testing/plan-rows.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";

test.each(["events", "audit_entries", "audit_chains"])(
  "a plan stays where it is when nothing can be written into %s",
  async (table) => {
    await using temporary = await TemporaryStore.open("memory");
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const { id } = await service.useAction({ action: ACTION_NAME });
    const before = await planRows(store, id);
    const verb = table === "audit_chains" ? "UPDATE" : "INSERT";
    await store.transaction((tx) =>
      tx.run(`CREATE TRIGGER full BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, 'no room'); END`),
    );
    await expect(service.cancelPlan(id)).rejects.toThrow("no room");
    await expect(service.startStrategize(id)).rejects.toThrow("no room");
    expect(await planRows(store, id)).toEqual(before);
    await store.transaction((tx) => tx.run("DROP TRIGGER full"));
    await service.cancelPlan(id);
    expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
  },
);
