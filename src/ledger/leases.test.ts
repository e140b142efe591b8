/**
 * A lease's own behavior in time: renewal, loss, and what its signal tells. The rules of ownership are tested with the
 * plans.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Lease } from "./leases.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { StaleLeaseError, StoreError } from "../domain/errors/errors.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, planAt } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { findLease } from "./leases.ts";

async function prepared(store: Store, clock?: FakeClock): Promise<{ service: PlanLifecycleService; id: PlanId }> {
  const service = new PlanLifecycleService({ store, ...(clock === undefined ? {} : { clock: clock.now }) });
  await service.createAction(actionInput());
  const { id } = await planAt(service, "execute/queued");
  return { service, id };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

test("findLease tells holder, phase, epoch, expiry and whether it lapsed; nothing when there was never one", async () => {
  const clock = new FakeClock();
  await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
  const { service, id } = await prepared(temporary.store, clock);
  const other = await service.useAction({ action: "local/fix" });
  const find = (planId: PlanId) => temporary.store.read((reader) => findLease(reader, planId));
  expect(await find(other.id)).toBeUndefined();
  const lease = await service.startExecute(id, { holder: "me", ttlMs: 1_000 });
  const facts = { planId: id, phase: "execute", holder: "me", epoch: lease.epoch };
  expect(await find(id)).toEqual({ ...facts, expiresAt: clock.now() + 1_000, lapsed: false });
  clock.advance(1_000);
  expect(await find(id)).toMatchObject({ ...facts, lapsed: true });
  lease.stop();
});

describe("its signal", () => {
  test("aborts when the lease lapsed unnoticed, at the next renewal", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const { service, id } = await prepared(temporary.store, clock);
    const lease = await service.startExecute(id, { ttlMs: 30 });
    expect(lease.signal.aborted).toBe(false);
    clock.advance(30);
    await until(() => lease.signal.aborted);
    expect(lease.signal.reason).toBeInstanceOf(StaleLeaseError);
  });

  test("survives a database that is busy for a while", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    let failures = 0;
    let broken = false;
    const store = alteredStore(temporary.store, {
      transaction: (unit) => {
        if (!broken) return temporary.store.transaction(unit);
        failures += 1;
        return Promise.reject(new StoreError("store_busy", "busy"));
      },
    });
    const { service, id } = await prepared(store, clock);
    const lease = await service.startExecute(id, { ttlMs: 300 });
    broken = true;
    await until(() => failures >= 2);
    broken = false;
    expect(lease.signal.aborted).toBe(false);
    clock.advance(250);
    await lease.renew();
    await service.completeExecute(lease);
  });

  test("aborts when the database did not answer for longer than the lease lasts: another process may have it by now", async () => {
    await using temporary = await TemporaryStore.open("memory");
    let broken = false;
    const store = alteredStore(temporary.store, {
      transaction: (unit) =>
        broken ? Promise.reject(new StoreError("store_busy", "busy")) : temporary.store.transaction(unit),
    });
    const { service, id } = await prepared(store);
    const lease = await service.startExecute(id, { ttlMs: 60 });
    broken = true;
    await sleep(400);
    lease.stop();
    expect(lease.signal.aborted).toBe(true);
  });

  test("aborts as well when the database hangs and every renewal waits: a lease lasts by the clock, not by answers", async () => {
    await using temporary = await TemporaryStore.open("memory");
    let hanging = false;
    const store = alteredStore(temporary.store, {
      transaction: (unit) => (hanging ? new Promise<never>(() => undefined) : temporary.store.transaction(unit)),
    });
    const { service, id } = await prepared(store);
    const lease = await service.startExecute(id, { ttlMs: 60 });
    hanging = true;
    await sleep(400);
    lease.stop();
    expect(lease.signal.aborted).toBe(true);
  });

  test("stays silent when the phase ended well, also when a renewal was under way meanwhile", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const waiting: (() => void)[] = [];
    let held = false;
    // A busy database: calls pile up and are let through together, in the order in which they came.
    const store = alteredStore(temporary.store, {
      transaction: async (unit) => {
        if (held) await new Promise<void>((resolve) => void waiting.push(resolve));
        return temporary.store.transaction(unit);
      },
    });
    const { service, id } = await prepared(store, clock);
    const lease = await service.startExecute(id, { ttlMs: 150 });
    held = true;
    const completing = service.completeExecute(lease);
    await until(() => waiting.length >= 2);
    held = false;
    for (const go of waiting) go();
    expect(statusKey(await completing)).toBe("execute/complete");
    await sleep(20);
    expect(lease.signal.aborted).toBe(false);
  });

  test("stays silent when the owner gave the lease up", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const { service, id } = await prepared(temporary.store, clock);
    const lease = await service.startExecute(id, { ttlMs: 15 });
    await lease.release();
    await sleep(30);
    expect(lease.signal.aborted).toBe(false);
  });
});

test("a release that the database refused for another reason is reported", async () => {
  await using temporary = await TemporaryStore.open("memory");
  let broken = false;
  const store = alteredStore(temporary.store, {
    transaction: (unit) =>
      broken ? Promise.reject(new StoreError("store_full", "full")) : temporary.store.transaction(unit),
  });
  const { service, id } = await prepared(store);
  const lease = await service.startExecute(id);
  broken = true;
  await expect(lease.release()).rejects.toBeInstanceOf(StoreError);
});

test("a lease of years is not renewed every millisecond", async () => {
  const clock = new FakeClock();
  await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
  let renewals = 0;
  const store = alteredStore(temporary.store, {
    transaction: (unit) => {
      renewals += 1;
      return temporary.store.transaction(unit);
    },
  });
  const { service, id } = await prepared(temporary.store, clock);
  const facts = { planId: id, phase: "execute", holder: "me", epoch: 1, expiresAt: 0 } as const;
  const plan = await service.getPlan(id);
  const lease = new Lease({ store, plan, phase: "execute", facts, ttlMs: 10 * 365 * 24 * 3_600_000 });
  await sleep(50);
  lease.stop();
  expect(renewals).toBe(0);
});
