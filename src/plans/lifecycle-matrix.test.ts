/**
 * Every operation on a plan at every status, through the service: it does what the lifecycle says, or nothing at all.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConflictError, StaleLeaseError } from "../domain/errors/errors.ts";
import { Lease } from "../ledger/leases.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { statusKey, type PlanOperation, type Phase, type StatusKey } from "../domain/plan/transitions.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { expectedTarget, OPERATIONS } from "../testing/expected-moves.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, leasePhase, needsLease, perform, planAt, STATUSES } from "../testing/fixtures.ts";
import { history, planRows, type PlanRows } from "../testing/plan-rows.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";

const TTL_MS = 60_000;
const FINAL = ["applied", "cancelled"];

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let store: Store;
  let service: PlanLifecycleService;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind, { clock: clock.now });
    store = temporary.store;
    service = new PlanLifecycleService({ store, clock: clock.now });
    await service.createAction(actionInput());
  });
  afterAll(async () => {
    await temporary[Symbol.asyncDispose]();
  });

  describe.each(STATUSES)("from %s", (from) => {
    test.each(OPERATIONS)("%s", async (operation) => {
      const { id, lease } = await planAt(service, from, { ttlMs: TTL_MS });
      const takeover = from.endsWith("/processing") && /^(start|rollback)/.test(operation);
      const to = expectedTarget(from, operation);
      const before = await planRows(store, id);
      clock.advance(10);
      if (takeover) {
        // While the owner is alive there is nothing to take over.
        await refused(id, operation, lease, before, from);
        clock.advance(TTL_MS);
      }
      const held = holderLease(operation, from, lease, id);
      if (to === undefined) return refused(id, operation, held, before, from);

      await perform(service, { operation, planId: id, lease: held, ttlMs: TTL_MS });
      const plan = await service.getPlan(id);
      const rows = await planRows(store, id);
      expect(statusKey(plan)).toBe(to);
      expect(plan.version).toBe(before.audit.length + 1);
      expect(rows.events).toHaveLength(plan.version);
      expect(rows.audit).toHaveLength(plan.version);
      expect(history(rows).at(-1)).toMatchObject({
        version: plan.version,
        operation,
        from,
        status: to,
        type: expectedType(from, to),
      });
      expect(rows.events.at(-1)).toMatchObject({ type: expectedType(from, to), at: clock.now() });
      expectLease(before, rows, operation);
      if (to.endsWith("/processing")) await service.cancelPlan(id);
    });
  });

  test("constrainApply: from apply/queued by id or lease of the phase only, from apply/processing by the holder only", async () => {
    const running = await planAt(service, "apply/processing", { ttlMs: TTL_MS });
    const before = await planRows(store, running.id);
    await refused(running.id, "constrainApply", undefined, before, "apply/processing");
    await perform(service, { operation: "constrainApply", planId: running.id, lease: running.lease });
    expect(statusKey(await service.getPlan(running.id))).toBe("apply/constrained");
  });

  test("after all of that the audit log verifies", async () => {
    expect((await verifyAudit(store, { at: clock.now() })).problem).toBeUndefined();
  });

  /**
   * The lease that belongs to the operation: the holder's own where there is one, else one that was never or is no
   * longer held.
   */
  function holderLease(
    operation: PlanOperation,
    from: StatusKey,
    lease: Lease | undefined,
    id: PlanId,
  ): Lease | undefined {
    const phase = leasePhase(operation);
    if (phase === undefined) return undefined;
    if (operation === "constrainApply" && from !== "apply/processing") return undefined;
    if (lease?.phase === phase) return lease;
    return imagined(id, phase, lease);
  }

  function imagined(planId: PlanId, phase: Phase, like: Lease | undefined): Lease {
    const facts = { planId, phase, holder: "no process", epoch: like?.epoch ?? 1, expiresAt: 0 };
    const plan = like?.plan;
    if (plan === undefined && like !== undefined) throw new Error("a lease without its plan");
    const lease = new Lease({ store, plan: plan ?? NO_PLAN, phase, facts, ttlMs: TTL_MS });
    lease.stop();
    return lease;
  }

  async function refused(
    id: PlanId,
    operation: PlanOperation,
    lease: Lease | undefined,
    before: PlanRows,
    from: StatusKey,
  ): Promise<void> {
    const call = perform(service, { operation, planId: id, lease: needsLease(operation) ? lease : undefined });
    const error = await call.then(
      () => expect.fail(`${operation} was let through`),
      (reason: unknown) => reason,
    );
    expect(error instanceof ConflictError || error instanceof StaleLeaseError).toBe(true);
    if (error instanceof ConflictError) {
      expect(error.meaning.exit).toBe(4);
      if (error.code === "invalid_transition") expect(error.actual).toBe(from);
      if (FINAL.some((state) => from.endsWith(state))) expect(error.kept).toContain("final");
    }
    expect(await planRows(store, id)).toEqual(before);
  }
});

/** A plan's place in a lease that was never taken: nothing looks at it. */
const NO_PLAN = await (async () => {
  await using temporary = await TemporaryStore.open("memory");
  const service = new PlanLifecycleService({ store: temporary.store });
  await service.createAction(actionInput());
  return await service.useAction({ action: "local/fix" });
})();

function expectedType(from: StatusKey, to: StatusKey): string {
  const [phaseBefore] = from.split("/");
  const [phase, state] = to.split("/");
  if (state === "applied" || state === "cancelled" || state === "errored") return `plan.${state}`;
  return phase === phaseBefore ? "plan.state_changed" : "plan.phase_changed";
}

/**
 * Starting takes the next epoch; ending gives the lease up; cancel, revert and rollback raise the epoch so that no
 * process holds it.
 */
function expectLease(before: PlanRows, after: PlanRows, operation: PlanOperation): void {
  const epochBefore = Number(before.lease[0]?.["epoch"] ?? 0);
  const lease = after.lease[0];
  if (operation.startsWith("start")) {
    expect(lease).toMatchObject({ epoch: epochBefore + 1 });
  } else if (["cancelPlan", "revertPlan", "rollbackPlan"].includes(operation)) {
    if (lease !== undefined) expect(lease).toMatchObject({ epoch: epochBefore + 1, expires_at: 0 });
  } else {
    expect(lease).toMatchObject({ epoch: epochBefore, expires_at: 0 });
  }
}
