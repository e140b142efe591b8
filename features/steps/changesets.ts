import assert from "node:assert/strict";
import { After, Given, Then, When } from "@cucumber/cucumber";
import * as fc from "fast-check";
import { ChangesetStore } from "../../src/ledger/changesets.ts";
import { openStore } from "../../src/store/sqlite/open-store.ts";
import { PlanError } from "../../src/domain/errors/errors.ts";
import { PlanExecutionContext } from "../../src/execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../../src/plans/plan-lifecycle-service.ts";
import type { Store } from "../../src/store/port.ts";
import { actionInput, created } from "../../src/testing/fixtures.ts";
import { scheduledStore } from "../../src/testing/scheduled-store.ts";
import { UnsafePlanExecutionContext } from "../unsafe/unsafe-plan-execution-context.ts";

/**
 * One execution context behind one small interface, so that the same orders of events run on the product and on the
 * double.
 */
interface ContextUnderTest {
  readonly start: () => Promise<string>;
  /** Records within the scope of the changeset, as far as the implementation knows scopes. */
  readonly recordIn: (id: string, path: string) => Promise<void>;
  readonly recordAnywhere: (path: string) => Promise<void>;
  readonly entries: (id: string) => Promise<string[]>;
}

interface Changes {
  store?: Store;
  make: (scheduler: fc.Scheduler) => Promise<ContextUnderTest>;
  misfiled: number;
  lost: number;
  outcome: "refused" | "previous" | "other";
}

Given("a plan execution context", async function (this: Changes) {
  this.store = await openStore("memory:");
  const service = new PlanLifecycleService({ store: this.store });
  await service.createAction(actionInput());
  const { store } = this;
  this.make = async (scheduler) => {
    const plan = await service.useAction({ action: "local/fix" });
    const context = new PlanExecutionContext({ store: scheduledStore(store, scheduler), plan });
    const handles = new Map<string, Awaited<ReturnType<typeof context.startChangeset>>>();
    return {
      start: async () => {
        const handle = await context.startChangeset();
        handles.set(handle.id, handle);
        return handle.id;
      },
      recordIn: async (id, path) => {
        const handle = handles.get(id);
        if (handle === undefined) throw new Error(`no changeset ${id}`);
        await context.run(handle, () => context.recordChange(created(path)));
      },
      recordAnywhere: async (path) => void (await context.recordChange(created(path))),
      entries: async (id) => {
        const handle = handles.get(id);
        const entries = handle === undefined ? [] : await new ChangesetStore(store).entries(handle.id);
        return entries.map((entry) => entry.path);
      },
    };
  };
});

Given("an unsafe plan execution context", function (this: Changes) {
  this.make = async (scheduler) => {
    const context = new UnsafePlanExecutionContext(() => scheduler.schedule(Promise.resolve()));
    return {
      start: () => context.startChangeset(),
      recordIn: (_, path) => context.recordChange(path),
      recordAnywhere: (path) => context.recordChange(path),
      entries: async (id) => context.entries.get(id) ?? [],
    };
  };
});

When(
  "{int} executions start a changeset each and record {int} changes each, in many different orders",
  async function (this: Changes, executions: number, changes: number) {
    this.misfiled = 0;
    this.lost = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const context = await this.make(scheduler);
        const execute = async (name: string): Promise<{ id: string; recorded: string[] }> => {
          const id = await context.start();
          const recorded: string[] = [];
          for (let index = 0; index < changes; index += 1) {
            await context.recordIn(id, `${name}/${index}`);
            recorded.push(`${name}/${index}`);
          }
          return { id, recorded };
        };
        const running = Promise.all(Array.from({ length: executions }, (_, index) => execute(`execution-${index}`)));
        await scheduler.waitFor(running);
        for (const { id, recorded } of await running) {
          const there = await context.entries(id);
          this.misfiled += there.filter((path) => !recorded.includes(path)).length;
          this.lost += recorded.filter((path) => !there.includes(path)).length;
        }
      }),
      { numRuns: 200 },
    );
  },
);

When(
  "a change is recorded outside any scope while the second changeset is being started",
  async function (this: Changes) {
    const outcomes = new Set<Changes["outcome"]>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const context = await this.make(scheduler);
        const first = await scheduler.waitFor(context.start());
        const second = context.start();
        const recording = context.recordAnywhere("late").then(
          () => "recorded" as const,
          (error: unknown) => (error instanceof PlanError ? ("refused" as const) : ("failed" as const)),
        );
        await scheduler.waitFor(Promise.all([second, recording]));
        const inFirst = await context.entries(first);
        const outcome = inFirst.includes("late") ? "previous" : (await recording) === "refused" ? "refused" : "other";
        outcomes.add(outcome);
      }),
      { numRuns: 50 },
    );
    const [only] = outcomes;
    this.outcome = outcomes.size === 1 && only !== undefined ? only : "other";
  },
);

Then("changes are each in the right changeset", function (this: Changes) {
  assert.deepEqual({ misfiled: this.misfiled, lost: this.lost }, { misfiled: 0, lost: 0 });
});

Then("changes are sometimes in another changeset", function (this: Changes) {
  assert.ok(this.misfiled > 0, "the check did not see the race it is made for");
});

Then("the change is refused with PlanError", function (this: Changes) {
  assert.equal(this.outcome, "refused");
});

Then("the change is put into the previous one", function (this: Changes) {
  assert.equal(this.outcome, "previous");
});

After({ tags: "@tdd_issue_7120" }, async function (this: Changes) {
  await this.store?.close();
});
