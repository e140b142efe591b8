import assert from "node:assert/strict";
import { After, Given, Then, When } from "@cucumber/cucumber";
import { ConflictError } from "../../src/domain/errors/errors.ts";
import { PlanLifecycleService } from "../../src/plans/plan-lifecycle-service.ts";
import { actionInput } from "../../src/testing/fixtures.ts";
import { TemporaryStore, type StoreKind } from "../../src/testing/temporary-store.ts";
import { UnsafePlanLifecycleService } from "../unsafe/unsafe-plan-lifecycle-service.ts";

/** The service behind one small interface, so that the same calls run on the product and on the double. */
interface ServiceUnderTest {
  readonly createAction: (name: string) => Promise<void>;
  readonly makePlan: () => Promise<string>;
  readonly start: (id: string) => Promise<void>;
}

interface Lifecycle {
  temporary?: TemporaryStore;
  service: ServiceUnderTest;
  planId: string;
  won: number;
  conflicts: number;
}

async function real(world: Lifecycle, kind: StoreKind): Promise<void> {
  world.temporary = await TemporaryStore.open(kind);
  const service = new PlanLifecycleService({ store: world.temporary.store });
  world.service = {
    createAction: async (name) => void (await service.createAction(actionInput(name))),
    makePlan: async () => (await service.useAction({ action: "local/fix" })).id,
    start: async (id) => {
      const plan = await service.getPlan(id);
      const lease = await service.startStrategize(plan.id);
      lease.stop();
    },
  };
}

Given("an in-memory plan lifecycle service", async function (this: Lifecycle) {
  await real(this, "memory");
});

Given("a file-backed plan lifecycle service", async function (this: Lifecycle) {
  await real(this, "file");
});

Given("an unsafe plan lifecycle service", function (this: Lifecycle) {
  const service = new UnsafePlanLifecycleService();
  this.service = {
    createAction: (name) => service.createAction(name),
    makePlan: () => service.useAction(),
    start: (id) => service.startStrategize(id),
  };
});

Given("a plan of the action {string}", async function (this: Lifecycle, action: string) {
  await this.service.createAction(action);
  this.planId = await this.service.makePlan();
});

async function race(world: Lifecycle, callers: number, call: () => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(Array.from({ length: callers }, call));
  world.won = outcomes.filter(({ status }) => status === "fulfilled").length;
  world.conflicts = outcomes.filter((one) => one.status === "rejected" && one.reason instanceof ConflictError).length;
  assert.equal(world.won + world.conflicts, callers, "everybody is told that they won, or that there was a conflict");
}

When(
  "{int} callers create the action {string} at the same time",
  async function (this: Lifecycle, callers: number, name: string) {
    await race(this, callers, () => this.service.createAction(name));
  },
);

When("{int} callers start to strategize it at the same time", async function (this: Lifecycle, callers: number) {
  await race(this, callers, () => this.service.start(this.planId));
});

Then(/^exactly one caller is told that they (?:created|started) it$/, function (this: Lifecycle) {
  assert.equal(this.won, 1);
});

Then(/^several callers are told that they (?:created|started) it$/, function (this: Lifecycle) {
  assert.ok(this.won > 1, "the check did not see the race it is made for");
});

After({ tags: "@tdd_issue_1281" }, async function (this: Lifecycle) {
  await this.temporary?.[Symbol.asyncDispose]();
});
