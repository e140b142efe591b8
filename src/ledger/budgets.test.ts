/** The cost of models: no two reservations together pass a cap, and one that was not settled counts in full. */
import { describe, expect, test } from "vitest";
import { BudgetError, StaleLeaseError } from "../domain/errors/errors.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Lease } from "./leases.ts";
import type { Store } from "../store/port.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ACTION_NAME, actionInput, planAt } from "../testing/fixtures.ts";
import { RACE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { makeCandidates } from "../plans/candidates.ts";
import { daySpending, groupSpending, planSpending } from "./budget-report.ts";
import { allowedBudget, ownBudget, setOwnBudget } from "./own-budget.ts";
import { groupScopeOf } from "./candidate-records.ts";
import { Budget, type Caps } from "./budgets.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { findProfile } from "../domain/profile/automation-profile.ts";
import { insertProfile } from "../store/tables/profiles.ts";
import { nextStep } from "../domain/errors/next-step.ts";

const MODEL = { provider: "openai", model: "gpt-4o" };
const NONE: Caps = { perPlan: undefined, perDay: undefined };
const plan = (amount: number) => ({ ...NONE, perPlan: { amount, raise: { text: "raise <dollars>" } } });
const day = (amount: number) => ({ ...NONE, perDay: { amount, raise: { text: "raise <dollars>" } } });

async function leased(store: Store, clock?: FakeClock): Promise<{ service: PlanLifecycleService; lease: Lease }> {
  const service = new PlanLifecycleService({ store, ...(clock === undefined ? {} : { clock: clock.now }) });
  await service.createAction(actionInput());
  const { lease } = await planAt(service, "execute/processing");
  if (lease === undefined) throw new Error("no lease");
  return { service, lease };
}

async function refused(promise: Promise<unknown>): Promise<BudgetError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof BudgetError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

async function eventsOf(store: Store): Promise<string[]> {
  const rows = await store.read((reader) =>
    reader.all<{ type: string }>("SELECT type FROM events WHERE type LIKE 'budget.%' ORDER BY sequence"),
  );
  return rows.map(({ type }) => type);
}

describe.each(RACE_KINDS)("in a store of kind %s", (kind) => {
  test("of 50 at once exactly the 10 that fit are granted, and one event tells of the refusals", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const budget = new Budget({ store, caps: day(1_000) });
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => budget.reserve(MODEL, 100)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await eventsOf(store)).toEqual(["budget.exceeded"]);
    expect(await store.read((reader) => daySpending(reader, NONE))).toMatchObject({
      calls: 10,
      reserved: 1_000,
      spent: 0,
    });
  });
});

test("settling and releasing give back what was not used", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const budget = new Budget({ store, caps: day(1_000) });
  const first = await budget.reserve(MODEL, 600);
  const error = await refused(budget.reserve(MODEL, 401));
  expect(error).toMatchObject({ code: "budget_exceeded", detail: { budget: "day", reserved_usd: 0.0006 } });
  await budget.settle(first, 100);
  const second = await budget.reserve(MODEL, 900);
  await refused(budget.reserve(MODEL, 1));
  await budget.release(second);
  await budget.settle(await budget.reserve(MODEL, 900), 900);
  await expect(budget.settle(first, 100)).rejects.toThrow("ended before");
  const spending = await store.read((reader) => daySpending(reader, day(1_000)));
  expect(spending).toMatchObject({ calls: 2, spent: 1_000, reserved: 0, assumed: 0, unpriced: 0 });
});

test("zero is a cap: what is free passes, what is not does not", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const budget = new Budget({ store: temporary.store, caps: day(0) });
  await budget.settle(await budget.reserve(MODEL, 0), 0);
  await refused(budget.reserve(MODEL, 1));
  expect(await eventsOf(temporary.store)).toEqual(["budget.exceeded"]);
});

test("what has no known price is refused under a cap, and counted without one", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const unknown = { unknown: [{ text: "set a price" }] };
  const error = await refused(new Budget({ store, caps: day(1_000) }).reserve(MODEL, unknown));
  expect(error).toMatchObject({ code: "price_unknown", next: [{ text: "set a price" }, { text: "raise none" }] });
  const free = new Budget({ store, caps: NONE });
  await free.settle(await free.reserve(MODEL, unknown), undefined);
  await free.settle(await free.reserve(MODEL, unknown), 70);
  const spending = await store.read((reader) => daySpending(reader, NONE));
  expect(spending).toMatchObject({ calls: 2, spent: 70, unpriced: 1 });
  // A cost that was learned afterwards counts against a cap that is set later.
  await refused(new Budget({ store, caps: day(100) }).reserve(MODEL, 31));
});

test("a plan's own budget tightens the configured one and never loosens it", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const { lease } = await leased(store);
  const { planId } = lease;
  const set = (cap: number | undefined) => store.transaction((tx) => setOwnBudget(tx, { planId, cap, user: "ann" }));
  await set(300);
  const own = await refused(new Budget({ store, caps: plan(500), lease }).reserve(MODEL, 301));
  expect(own.next).toEqual([
    nextStep("plan.budget", { plan: planId, dollars: "<dollars>" }),
    nextStep("plan.execute", { plan: planId }),
  ]);
  await set(900);
  const configured = await refused(new Budget({ store, caps: plan(500), lease }).reserve(MODEL, 501));
  expect(configured.next).toEqual([{ text: "raise <dollars>" }, nextStep("plan.execute", { plan: planId })]);
  await set(undefined);
  await set(undefined);
  expect(await store.read((reader) => ownBudget(reader, planId))).toBeUndefined();
  const both = { ...plan(1_000), perDay: { amount: 100, raise: { text: "raise the day's" } } };
  const ofDay = await refused(new Budget({ store, caps: both, lease }).reserve(MODEL, 101));
  expect(ofDay.next).toEqual([
    { text: "raise the day's" },
    { text: "or wait until 00:00 UTC" },
    nextStep("plan.execute", { plan: planId }),
  ]);
  // Refused by the day, nothing is held of the plan's.
  const { reserved } = await store.read((reader) => planSpending(reader, planId, both));
  expect(reserved).toBe(0);
  const told = await eventsOf(store);
  expect(told.filter((type) => type === "budget.changed")).toHaveLength(3);
  expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
});

test("a plan's own budget never lifts it above the cap of its profile, whichever caller sets it", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  const supervised = findProfile("supervised");
  if (supervised === undefined) throw new Error("no such profile");
  const profile = { ...supervised, name: "local/thrifty" as QualifiedName, budget: { maxCostUsd: 2 } };
  await store.transaction((tx) => insertProfile(tx, { profile, extends: undefined }, 0));
  await service.createAction(actionInput());
  const { id: planId } = await service.useAction({
    action: "local/fix",
    automationProfile: "local/thrifty",
    budget: 5_000_000,
  });
  const own = () => store.read((reader) => ownBudget(reader, planId));
  const set = (cap: number | undefined, configured?: number) =>
    store.transaction((tx) => setOwnBudget(tx, { planId, cap, user: "ann", configured: configuredAt(configured) }));
  expect(await own()).toBe(2_000_000);
  for (const cap of [2_000_001, undefined]) {
    await expect(set(cap)).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("at most $2") });
  }
  await expect(set(600, 500)).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("configured") });
  expect(await own()).toBe(2_000_000);
  await set(2_000_000, 3_000_000);
  await set(1);
  expect(await own()).toBe(1);
});

test.each([
  [5, { profile: 3 }, 3],
  [undefined, { profile: 3 }, 3],
  [2, { profile: 3 }, 2],
  [5, { configured: 4 }, 4],
  [5, { profile: 3, configured: 4 }, 3],
  [5, { profile: 4, configured: 3 }, 3],
  [undefined, { configured: 4 }, undefined],
  [undefined, {}, undefined],
  [5, {}, 5],
])(
  "a budget of %s within %j is lowered to %s",
  (wanted, { profile, configured }: { profile?: number; configured?: number }, allowed) => {
    const limits = {
      profile: { name: "local/p", budget: { maxCostUsd: profile === undefined ? undefined : profile / 1_000_000 } },
      configured: configuredAt(configured),
    };
    expect(allowedBudget(wanted, limits as never, "lower")).toBe(allowed);
  },
);

function configuredAt(amount: number | undefined) {
  return amount === undefined ? undefined : { amount, raise: { text: "raise" } };
}

test("no cost is below nothing or above what was reserved, and what was counted here is told apart", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const budget = new Budget({ store, caps: day(1_000) });
  const read = () => store.read((reader) => daySpending(reader, day(1_000)));
  await budget.settle(await budget.reserve(MODEL, 100), -1_000_000);
  expect(await read()).toMatchObject({ spent: 0, estimated: 0 });
  await budget.settle(await budget.reserve(MODEL, 100), 1_000_000);
  expect(await read()).toMatchObject({ spent: 100, estimated: 0 });
  await budget.settle(await budget.reserve(MODEL, 100), 30, { estimated: true });
  expect(await read()).toMatchObject({ calls: 3, spent: 130, estimated: 30, assumed: 0, reserved: 0 });
  const sum = await store.read((reader) => reader.get<{ spent: number }>("SELECT spent FROM spending"));
  expect(sum?.spent).toBe(130);
  await refused(budget.reserve(MODEL, 871));
  await budget.reserve(MODEL, 870);
});

test("a warning is given once for each cap, when nine tenths are spent", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const spend = async (cap: number, cost: number) => {
    const budget = new Budget({ store, caps: day(cap) });
    return budget.settle(await budget.reserve(MODEL, cost), cost);
  };
  expect(await spend(1_000, 899)).toEqual([]);
  expect(await spend(1_000, 1)).toEqual([{ scope: "day", spent: 900, cap: 1_000 }]);
  expect(await spend(1_000, 1)).toEqual([]);
  expect(await spend(1_001, 1)).toEqual([{ scope: "day", spent: 902, cap: 1_001 }]);
  expect(await eventsOf(store)).toEqual(["budget.warning", "budget.warning"]);
});

test("a day begins at 00:00 UTC; what was reserved before belongs to the day before", async () => {
  const clock = new FakeClock(Date.parse("2026-11-16T23:59:59.999Z"));
  await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
  const { store } = temporary;
  const budget = new Budget({ store, caps: day(100) });
  const late = await budget.reserve(MODEL, 100);
  await refused(budget.reserve(MODEL, 1));
  clock.advance(1);
  await budget.reserve(MODEL, 60);
  await budget.settle(late, 10);
  const today = await store.read((reader) => daySpending(reader, day(100)));
  expect(today).toMatchObject({ date: "2026-11-17", calls: 1, spent: 0, reserved: 60 });
  await refused(budget.reserve(MODEL, 41));
  await budget.reserve(MODEL, 40);
});

describe("what a dead owner reserved", () => {
  test("stays reserved in full, is shown as assumed, and is corrected by an owner that was only slow", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const { store } = temporary;
    const { service, lease } = await leased(store, clock);
    const { planId } = lease;
    const caps = plan(1_000);
    const slow = new Budget({ store, caps, lease });
    const held = await slow.reserve(MODEL, 600);
    const read = () => store.read((reader) => planSpending(reader, planId, caps));
    expect(await read()).toMatchObject({ reserved: 600, assumed: 0 });
    clock.advance(lease.ttlMs);
    expect(await read()).toMatchObject({ reserved: 0, assumed: 600 });
    await expect(slow.reserve(MODEL, 1)).rejects.toBeInstanceOf(StaleLeaseError);
    const next = await service.startExecute(planId);
    expect(await read()).toMatchObject({ reserved: 0, assumed: 600 });
    await refused(new Budget({ store, caps, lease: next }).reserve(MODEL, 401));
    await slow.settle(held, 50);
    expect(await read()).toMatchObject({ reserved: 0, assumed: 0, spent: 50 });
    await new Budget({ store, caps, lease: next }).reserve(MODEL, 950);
    next.stop();
    lease.stop();
  });

  test("outside of plans is assumed once no call can take so long", async () => {
    const clock = new FakeClock(Date.parse("2026-11-16T01:00:00Z"));
    await using temporary = await TemporaryStore.open("memory", { clock: clock.now });
    const { store } = temporary;
    await new Budget({ store, caps: NONE }).reserve(MODEL, 600);
    const read = () => store.read((reader) => daySpending(reader, NONE));
    expect(await read()).toMatchObject({ reserved: 600, assumed: 0 });
    clock.advance(3 * 3_600_000);
    expect(await read()).toMatchObject({ reserved: 0, assumed: 600 });
  });
});

test("20 calls at once of three candidates and their judge never pass the cap of the group", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const { group, plans } = await makeCandidates(
    { store },
    { inputs: [1, 2, 3].map(() => ({ action: ACTION_NAME })), cap: 500, judge: undefined, rule: undefined },
  );
  const budgets: Budget[] = [];
  for (const { id } of plans) {
    const lease = await service.startStrategize(id);
    budgets.push(new Budget({ store, caps: NONE, lease }));
  }
  const scope = await store.read((reader) => groupScopeOf(reader, plans[0]?.id ?? ("" as PlanId)));
  budgets.push(new Budget({ store, caps: NONE, group: scope }));
  const calls = Array.from(
    { length: 20 },
    (_, index) => budgets[index % 4]?.reserve(MODEL, 100) ?? Promise.reject(new Error("no budget")),
  );
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  const refusals = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as BudgetError] : []));
  expect(refusals.every(({ code, detail }) => code === "budget_exceeded" && detail["budget"] === "group")).toBe(true);
  const sent = await store.read((reader) => groupSpending(reader, { id: group.id, cap: scope?.cap }));
  expect(sent).toMatchObject({ calls: 5, reserved: 500 });
});
