/** The same races between threads (also on one memory store, shared by its url) and between processes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { PlanOperation } from "../domain/plan/transitions.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { ActorGroup, soon, type ActorHome } from "../testing/actor-group.ts";
import { OPERATIONS } from "../testing/expected-moves.ts";
import { ACTION_NAME, actionInput, leasePhase, planAt } from "../testing/fixtures.ts";
import { losses, winners } from "../testing/outcome.ts";
import type { LeaseToken } from "../testing/plan-actor.ts";
import { history, planRows } from "../testing/plan-rows.ts";
import { RACES } from "../testing/race-table.ts";
import { TemporaryStore, wherePostgresRuns, type StoreKind } from "../testing/temporary-store.ts";
import { sized } from "../testing/size.ts";

const ROUNDS = sized({ normal: 3, full: 30 });
const ACTORS = 4;

describe.each([
  ["threads", "memory"],
  ["threads", "file"],
  ["processes", "file"],
  ...wherePostgresRuns(["processes", "postgres"] as const),
] as const satisfies readonly (readonly [ActorHome, StoreKind])[])("%s on a %s store", (home, kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let actors: ActorGroup;
  let service: PlanLifecycleService;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind);
    store = temporary.store;
    actors = await ActorGroup.start(home, store.url, ACTORS);
    service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
  });
  afterAll(async () => {
    await actors[Symbol.asyncDispose]();
    await temporary[Symbol.asyncDispose]();
  });

  test("createAction: one winner for each name, also when only the case differs", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const spellings = [`race/one-${round}`, `RACE/one-${round}`, `Race/ONE-${round}`, `race/One-${round}`];
      const startAt = soon();
      const replies = await actors.run(
        spellings.map((name) => ({ kind: "create-actions", names: [name, name, name], startAt })),
      );
      const outcomes = replies.flat();
      expect(winners(outcomes)).toHaveLength(1);
      expect(losses(outcomes)).toHaveLength(11);
      for (const error of losses(outcomes)) {
        expect(error).toMatchObject({ name: "ConflictError", code: "already_exists", exit: 4 });
      }
      expect((await service.getAction(`race/one-${round}`)).name).toBe(winners(outcomes)[0]);
    }
  });

  test("createAction: of different names none is lost", async () => {
    const startAt = soon();
    const names = (actor: number): string[] => Array.from({ length: 60 }, (_, index) => `many/a${actor}-${index}`);
    const replies = await actors.run(
      Array.from({ length: ACTORS }, (_, actor) => ({ kind: "create-actions", names: names(actor), startAt })),
    );
    expect(losses(replies.flat())).toEqual([]);
    const stored = (await service.listActions({ namespace: "many" })).map((action) => action.name);
    expect([...stored].sort()).toEqual(
      Array.from({ length: ACTORS }, (_, actor) => names(actor))
        .flat()
        .sort(),
    );
  });

  test("useAction: every plan is there once, under its own id", async () => {
    const replies = await actors.run({ kind: "make-plans", count: 50, startAt: soon() });
    const ids = winners(replies.flat());
    expect(ids).toHaveLength(ACTORS * 50);
    const { plans } = await service.listPlans({ action: ACTION_NAME, limit: 1_000 });
    expect(new Set(plans.map((plan) => plan.id))).toEqual(new Set(ids));
  });

  test.each(RACES)("$operation from $from (under the lease: $underLease)", async ({ from, operation, underLease }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, lease } = await planAt(service, from);
      lease?.stop();
      const before = await service.getPlan(id);
      const held: LeaseToken | undefined = underLease && lease !== undefined ? token(lease) : undefined;
      const replies = await actors.run({ kind: "move", operation, planId: id, lease: held, times: 2, startAt: soon() });
      const outcomes = replies.flat();
      expect(winners(outcomes)).toHaveLength(1);
      for (const error of losses(outcomes)) {
        expect(["ConflictError", "StaleLeaseError"]).toContain(error.name);
        expect(error.exit).toBe(4);
      }
      const rows = await planRows(store, id);
      expect(rows.audit).toHaveLength(before.version + 1);
      expect(rows.events).toHaveLength(before.version + 1);
      expect(history(rows).at(-1)).toMatchObject({ operation, from });
    }
  });

  test("a plan that one of them applied is never started again by another", async () => {
    const { id } = await service.useAction({ action: ACTION_NAME });
    await applyByTheFirst(id);
    expect(await service.getPlan(id)).toMatchObject({ state: "applied", version: 9 });
    const before = await planRows(store, id);
    for (const operation of OPERATIONS) {
      const phase = leasePhase(operation);
      const lease = phase === undefined ? undefined : { planId: id, phase, epoch: 3 };
      const replies = await actors.run({ kind: "move", operation, planId: id, lease, times: 1, startAt: 0 });
      for (const outcome of replies.flat()) {
        expect(outcome.ok ? operation : outcome.error.name).toMatch(/^(ConflictError|StaleLeaseError)$/);
      }
    }
    expect(await planRows(store, id)).toEqual(before);
  });

  test("after all of that the audit log verifies", async () => {
    expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
  });

  /** Only the first actor works; each step of the plan's life is a command of its own. */
  async function applyByTheFirst(id: PlanId): Promise<void> {
    let lease: LeaseToken | undefined;
    const life: PlanOperation[] = ["startStrategize", "completeStrategize", "executePlan", "startExecute"];
    life.push("completeExecute", "applyPlan", "startApply", "completeApply");
    for (const operation of life) {
      const held = operation.startsWith("complete") ? lease : undefined;
      const [replies] = await actors.run([{ kind: "move", operation, planId: id, lease: held, times: 1, startAt: 0 }]);
      const [value] = winners(replies ?? []);
      if (operation.startsWith("start")) lease = value as LeaseToken;
    }
  }
});

function token(lease: LeaseToken): LeaseToken {
  return { planId: lease.planId, phase: lease.phase, epoch: lease.epoch };
}
