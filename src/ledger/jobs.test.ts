/** The queue of plans: who gets a job, in which order, and what becomes of one whose worker is gone. */
import { describe, expect, test } from "vitest";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { Store } from "../store/port.ts";
import { insertProject } from "../store/tables/projects.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { thisProcess } from "./lease-owner.ts";
import { runStep } from "./steps.ts";
import {
  cancelJobs,
  dropJob,
  enqueueJob,
  findJobs,
  MOST_ATTEMPTS,
  retryJob,
  storeQueue,
  wakeJob,
  type ClaimedJob,
  type Job,
  type JobQueue,
} from "./jobs.ts";
import { beatWorker, removeWorker, workingSlots } from "./plan-workers.ts";

const OPTIONS = { includeDirty: false, verify: true, applyAnyway: false, approve: false };
const NO_LIMIT = { perProject: 100 };

class Queue implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly #temporary: TemporaryStore;
  readonly service: PlanLifecycleService;
  readonly queue: JobQueue;

  private constructor(temporary: TemporaryStore, clock: FakeClock) {
    this.clock = clock;
    this.#temporary = temporary;
    this.service = new PlanLifecycleService({ store: temporary.store });
    this.queue = storeQueue(temporary.store, { claimTtlMs: 1_000 });
  }

  static async open(): Promise<Queue> {
    const clock = new FakeClock();
    const queue = new Queue(await TemporaryStore.open("memory", { clock: clock.now }), clock);
    await queue.service.createAction(actionInput());
    return queue;
  }

  get store(): Store {
    return this.#temporary.store;
  }

  async project(name: string): Promise<void> {
    const key = `local/${name}` as QualifiedName;
    await this.store.transaction((tx) => insertProject(tx, { name: key, description: "" }, 0));
  }

  plan(...projects: string[]): Promise<Plan> {
    return this.service.useAction({ action: "local/fix", projects });
  }

  async enqueue(plan: Plan, more: Partial<Job> = {}): Promise<string> {
    const wanted = { kind: "run", priority: 0, options: OPTIONS, agreedVersion: undefined, askedBy: "ann" } as const;
    return this.store.transaction((tx) => enqueueJob(tx, { ...wanted, ...more, plan }));
  }

  async claim(): Promise<ClaimedJob> {
    const job = await this.queue.claim(NO_LIMIT);
    if (job === undefined) throw new Error("no job was claimed");
    return job;
  }

  async jobs(planId?: PlanId): Promise<string[]> {
    return (await this.store.read((reader) => findJobs(reader, planId))).map(({ state }) => state);
  }

  /** As if the claims were those of another process. */
  async claimedBy(owner: { host?: string; pid?: number }): Promise<void> {
    const { host, boot, process } = thisProcess();
    const [space] = process.split(" ");
    const other = owner.pid === undefined ? process : `${space} ${owner.pid} -`;
    await this.store.transaction(async (tx) => {
      await tx.run("UPDATE jobs SET host = ?, boot = ?, process = ?", owner.host ?? host, boot, other);
      await tx.run("UPDATE leases SET host = ?, boot = ?, process = ?", owner.host ?? host, boot, other);
      await tx.run("UPDATE plan_workers SET host = ?, boot = ?, process = ?", owner.host ?? host, boot, other);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#temporary[Symbol.asyncDispose]();
  }
}

/** No process has this number. */
const DEAD = { pid: 2 ** 30 };

describe("a claim", () => {
  test("is got by one of many workers", async () => {
    await using world = await Queue.open();
    await world.enqueue(await world.plan());
    expect(await world.queue.isDue()).toBe(true);
    const got = await Promise.all(Array.from({ length: 8 }, () => world.queue.claim(NO_LIMIT)));
    expect(got.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await world.queue.isDue()).toBe(false);
    expect(await world.queue.isPending()).toBe(true);
  });

  test("brings what was queued, and counts the try", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    const id = await world.enqueue(plan, { kind: "execute", agreedVersion: 3, priority: 5 });
    expect(await world.claim()).toMatchObject({
      id,
      planId: plan.id,
      kind: "execute",
      state: "active",
      priority: 5,
      options: OPTIONS,
      agreedVersion: 3,
      askedBy: "ann",
      attempts: 1,
      error: undefined,
    });
  });

  test("goes by priority, then by turns between projects, then in order", async () => {
    await using world = await Queue.open();
    for (const name of ["a", "b"]) await world.project(name);
    const first = [];
    for (let n = 0; n < 100; n += 1) {
      const plan = await world.plan("a");
      await world.enqueue(plan);
      first.push(plan);
    }
    const [late, urgent] = [await world.plan("b"), await world.plan("a")];
    await world.enqueue(late);
    await world.enqueue(urgent, { priority: 10 });
    const order: (PlanId | undefined)[] = [];
    for (let n = 0; n < 4; n += 1) {
      const job = await world.claim();
      order.push(job.planId);
      await world.queue.settle(job, { state: "done" });
    }
    expect(order).toEqual([urgent.id, late.id, first[0]?.id, first[1]?.id]);
  });

  test("leaves a project alone that has its share", async () => {
    await using world = await Queue.open();
    for (const name of ["a", "b"]) await world.project(name);
    for (const project of ["a", "a", "b"]) await world.enqueue(await world.plan(project));
    const claimed = [];
    for (let n = 0; n < 3; n += 1) claimed.push(await world.queue.claim({ perProject: 1 }));
    expect(claimed.map((job) => job !== undefined)).toEqual([true, true, false]);
  });

  test("is not held any more once the plan is cancelled", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    await world.enqueue(plan);
    const job = await world.claim();
    expect(await world.queue.renew([job.claim])).toEqual(new Set([job.claim]));
    expect(await world.queue.held([])).toEqual(new Set());
    await world.service.cancelPlan(plan.id);
    expect(await world.queue.held([job.claim])).toEqual(new Set());
    expect(await world.queue.settle(job, { state: "waiting" })).toBe(false);
    expect(await world.jobs()).toEqual(["cancelled"]);
  });
});

describe("a plan", () => {
  test("has one queued job, with the higher priority and the last choices", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    const id = await world.enqueue(plan, { priority: 10 });
    expect(await world.enqueue(plan, { kind: "execute", options: { ...OPTIONS, verify: false } })).toBe(id);
    await world.enqueue(plan, { kind: "execute", priority: 20, options: { ...OPTIONS, verify: false } });
    const jobs = await world.store.read((reader) => findJobs(reader, plan.id));
    expect(jobs).toMatchObject([{ priority: 20, kind: "execute", options: { verify: false } }]);
  });

  test("may be queued while it is worked on, and is claimed again only after that", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    await world.enqueue(plan);
    const job = await world.claim();
    await world.enqueue(plan);
    expect(await world.jobs()).toEqual(["active", "queued"]);
    expect(await world.queue.claim(NO_LIMIT)).toBeUndefined();
    await world.queue.settle(job, { state: "back" });
    expect(await world.jobs()).toEqual(["queued", "done"]);
    expect((await world.claim()).planId).toBe(plan.id);
  });

  test("that cannot be made is not queued either", async () => {
    await using world = await Queue.open();
    const made = world.service.useAction({
      action: "local/fix",
      alongside: async (tx, plan) => {
        await enqueueJob(tx, {
          plan,
          kind: "run",
          priority: 0,
          options: OPTIONS,
          agreedVersion: undefined,
          askedBy: "x",
        });
        throw new Error("changed my mind");
      },
    });
    await expect(made).rejects.toThrow("changed my mind");
    expect(await world.jobs()).toEqual([]);
  });

  test("that waits is queued again by what it waited for, and no other plan is", async () => {
    await using world = await Queue.open();
    const [plan, other] = [await world.plan(), await world.plan()];
    await world.enqueue(plan);
    await world.queue.settle(await world.claim(), { state: "waiting" });
    for (const { id } of [plan, plan, other]) await world.store.transaction((tx) => wakeJob(tx, id));
    expect(await world.jobs()).toEqual(["queued"]);
  });
});

describe("a job that could not be worked on", () => {
  test("comes again after a longer and longer pause, and is left to a person in the end", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    await world.enqueue(plan);
    const pauses: number[] = [];
    for (let n = 1; n < MOST_ATTEMPTS; n += 1) {
      await world.queue.settle(await world.claim(), { state: "again", error: "the disk is full" });
      expect(await world.queue.claim(NO_LIMIT)).toBeUndefined();
      const [job] = await world.store.read((reader) => findJobs(reader));
      pauses.push((job?.notBefore ?? 0) - world.clock.now());
      world.clock.advance(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds * 1_000));
    await world.queue.settle(await world.claim(), { state: "again", error: "the disk is full" });
    const [dead] = await world.store.read((reader) => findJobs(reader));
    expect(dead).toMatchObject({ state: "dead", attempts: MOST_ATTEMPTS, error: "the disk is full" });
    expect(await world.store.transaction((tx) => retryJob(tx, plan.id))).toBe(true);
    expect((await world.claim()).attempts).toBe(1);
  });

  test("does not count a try that its worker gave back", async () => {
    await using world = await Queue.open();
    await world.enqueue(await world.plan());
    await world.queue.settle(await world.claim(), { state: "back" });
    expect((await world.claim()).attempts).toBe(1);
  });

  test("can be tried again when the plan failed, and dropped while it is queued", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    expect(await world.store.transaction((tx) => retryJob(tx, plan.id))).toBe(false);
    expect(await world.store.transaction((tx) => dropJob(tx, plan.id))).toBe(false);
    await world.enqueue(plan);
    await world.queue.settle(await world.claim(), { state: "failed", error: "a test fails" });
    expect(await world.store.transaction((tx) => retryJob(tx, plan.id))).toBe(true);
    expect(await world.store.transaction((tx) => dropJob(tx, plan.id))).toBe(true);
    expect(await world.jobs()).toEqual(["cancelled"]);
    expect(await world.store.transaction((tx) => cancelJobs(tx, plan.id))).toBe(0);
  });
});

describe("a sweep", () => {
  test("gives back the job of a dead worker at once", async () => {
    await using world = await Queue.open();
    await world.enqueue(await world.plan());
    const job = await world.claim();
    expect(await world.queue.sweep()).toBe(0);
    await world.claimedBy(DEAD);
    expect(await world.queue.sweep()).toBe(1);
    expect((await world.claim()).attempts).toBe(2);
    expect(await world.queue.settle(job, { state: "done" })).toBe(false);
  });

  test("waits for the claim of a worker that may be alive, and for the plan's lease", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    await world.enqueue(plan);
    await world.claim();
    const lease = await world.service.startStrategize(plan.id, { ttlMs: 5_000 });
    lease.stop();
    await world.claimedBy({ host: "another-machine" });
    expect(await world.queue.sweep()).toBe(0);
    world.clock.advance(1_000);
    expect(await world.queue.sweep()).toBe(0);
    world.clock.advance(4_000);
    expect(await world.queue.sweep()).toBe(1);
  });

  test("counts the tries from the beginning once a step was recorded", async () => {
    await using world = await Queue.open();
    const plan = await world.plan();
    await world.enqueue(plan);
    await world.claim();
    await using lease = await world.service.startStrategize(plan.id);
    await runStep(lease, "one", () => Promise.resolve({ kind: "test" }));
    await world.claimedBy(DEAD);
    expect(await world.queue.sweep()).toBe(1);
    expect((await world.claim()).attempts).toBe(1);
  });

  test("leaves a job to a person that ended too many workers", async () => {
    await using world = await Queue.open();
    await world.enqueue(await world.plan());
    for (let n = 0; n < MOST_ATTEMPTS; n += 1) {
      await world.claim();
      await world.claimedBy(DEAD);
      expect(await world.queue.sweep()).toBe(1);
      world.clock.advance(300_000);
    }
    const [job] = await world.store.read((reader) => findJobs(reader));
    expect(job).toMatchObject({
      state: "dead",
      error: "10 workers in a row ended before they had recorded a step of it.",
    });
  });
});

test("workers are counted as long as they are heard of and alive", async () => {
  await using world = await Queue.open();
  const beat = (id: string, slots: number) => world.store.transaction((tx) => beatWorker(tx, { id, slots }));
  const slots = () => world.store.read(workingSlots);
  expect(await slots()).toBe(0);
  await beat("one", 2);
  await beat("two", 3);
  await beat("two", 3);
  expect(await slots()).toBe(5);
  await world.store.transaction((tx) => removeWorker(tx, "one"));
  expect(await slots()).toBe(3);
  world.clock.advance(20_000);
  expect(await slots()).toBe(0);
  await beat("two", 3);
  await world.claimedBy(DEAD);
  expect(await slots()).toBe(0);
  await beat("three", 1);
  expect(await slots()).toBe(1);
});
