/** Leases when the clock steps and when owners die: held by one owner at most, and not blocked for a day. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ConflictError, StaleLeaseError } from "../domain/errors/errors.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, planAt } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { assertHeld, findLease } from "./leases.ts";
import { thisProcess } from "./lease-owner.ts";

const DAY_MS = 86_400_000;

class World implements AsyncDisposable {
  readonly clock: FakeClock;
  readonly temporary: TemporaryStore;
  readonly service: PlanLifecycleService;
  readonly id: PlanId;

  private constructor(clock: FakeClock, temporary: TemporaryStore, service: PlanLifecycleService, id: PlanId) {
    this.clock = clock;
    this.temporary = temporary;
    this.service = service;
    this.id = id;
  }

  static async make(): Promise<World> {
    const clock = new FakeClock();
    const temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const service = new PlanLifecycleService({ store: temporary.store, clock: clock.now });
    await service.createAction(actionInput());
    const { id } = await planAt(service, "execute/queued");
    return new World(clock, temporary, service, id);
  }

  async lapsed(): Promise<boolean | undefined> {
    return (await this.temporary.store.read((reader) => findLease(reader, this.id)))?.lapsed;
  }

  /** As if another process had taken the lease. */
  async give(column: "host" | "boot" | "process", value: string): Promise<void> {
    await this.temporary.store.transaction((tx) => tx.run(`UPDATE leases SET ${column} = ?`, value));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.temporary[Symbol.asyncDispose]();
  }
}

/** The words in which a process that has ended described itself. */
async function deadProcess(): Promise<string> {
  const child = spawn("true", { stdio: "ignore" });
  await once(child, "exit");
  return `${thisProcess().process.split(" ")[0]} ${child.pid} 1`;
}

test("the lease of a dead owner on this host is taken over at once, and the dead one's epoch writes nothing", async () => {
  await using world = await World.make();
  const first = await world.service.startExecute(world.id);
  first.stop();
  await expect(world.service.startExecute(world.id)).rejects.toThrow(ConflictError);
  await world.give("process", await deadProcess());
  expect(await world.lapsed()).toBe(true);
  const second = await world.service.startExecute(world.id);
  expect(second.epoch).toBe(first.epoch + 1);
  await expect(world.temporary.store.transaction((tx) => assertHeld(tx, first))).rejects.toThrow(StaleLeaseError);
  await world.temporary.store.transaction((tx) => assertHeld(tx, second));
  second.stop();
});

test("a rollback takes the lease of a dead owner away too", async () => {
  await using world = await World.make();
  const lease = await world.service.startExecute(world.id);
  lease.stop();
  await expect(world.service.rollbackPlan(world.id, "start")).rejects.toThrow(ConflictError);
  await world.give("process", await deadProcess());
  await world.service.rollbackPlan(world.id, "start");
  await expect(world.temporary.store.transaction((tx) => assertHeld(tx, lease))).rejects.toThrow(StaleLeaseError);
});

test("of an owner elsewhere nothing is known: it keeps its lease until that has lapsed", async () => {
  await using world = await World.make();
  (await world.service.startExecute(world.id, { ttlMs: 1_000 })).stop();
  await world.give("host", "elsewhere");
  await world.give("process", await deadProcess());
  world.clock.advance(999);
  await expect(world.service.startExecute(world.id)).rejects.toThrow(ConflictError);
  world.clock.advance(1);
  (await world.service.startExecute(world.id)).stop();
});

test("a clock that stepped back a day does not keep the lease of an owner elsewhere", async () => {
  await using world = await World.make();
  const first = await world.service.startExecute(world.id, { ttlMs: 1_000 });
  first.stop();
  await world.give("host", "elsewhere");
  world.clock.advance(-DAY_MS);
  const second = await world.service.startExecute(world.id);
  await expect(first.renew()).rejects.toThrow(StaleLeaseError);
  second.stop();
});

test("a live owner keeps its lease when the clock steps back, and the next renewal is by the new time", async () => {
  await using world = await World.make();
  const lease = await world.service.startExecute(world.id, { ttlMs: 60_000 });
  world.clock.advance(-DAY_MS);
  await expect(world.service.startExecute(world.id)).rejects.toThrow(ConflictError);
  await lease.renew();
  const found = await world.temporary.store.read((reader) => findLease(reader, world.id));
  expect(found).toMatchObject({ epoch: lease.epoch, expiresAt: world.clock.now() + 60_000, lapsed: false });
  lease.stop();
});

test("an owner that no longer renews keeps its lease for the lease's length after the clock stepped back, not for a day", async () => {
  await using world = await World.make();
  const first = await world.service.startExecute(world.id, { ttlMs: 300 });
  // Stopped: alive, but nothing renews.
  first.stop();
  world.clock.advance(-DAY_MS);
  while ((await world.lapsed()) === false) await sleep(20);
  const second = await world.service.startExecute(world.id);
  expect(second.epoch).toBe(first.epoch + 1);
  second.stop();
});

test("what is written under an earlier epoch is refused while a later one is held", async () => {
  await using world = await World.make();
  const first = await world.service.startExecute(world.id, { ttlMs: 1_000 });
  first.stop();
  world.clock.advance(1_000);
  const second = await world.service.startExecute(world.id);
  await expect(world.temporary.store.transaction((tx) => assertHeld(tx, first))).rejects.toThrow(StaleLeaseError);
  await expect(first.renew()).rejects.toThrow(StaleLeaseError);
  await world.temporary.store.transaction((tx) => assertHeld(tx, second));
  second.stop();
});
