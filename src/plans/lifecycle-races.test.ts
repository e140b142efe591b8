/** Many callers at once in one process: one wins, the others are told so, nothing is lost. */
import { describe, expect, test } from "vitest";
import { nameKey, parseOwnName } from "../domain/names/qualified-name.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import { ACTION_NAME, actionInput, perform, planAt } from "../testing/fixtures.ts";
import { losses, outcomeOf, winners } from "../testing/outcome.ts";
import { history, planRows } from "../testing/plan-rows.ts";
import { RACES } from "../testing/race-table.ts";
import { RACE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";

const CALLERS = 40;

describe.each(RACE_KINDS)("on a %s store", (kind) => {
  test("of many creators of one action exactly one wins", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const services = [1, 2, 3].map(() => new PlanLifecycleService({ store: temporary.store }));
    const outcomes = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => {
        const input = { ...actionInput(index % 2 === 0 ? "Team/Deploy" : "team/DEPLOY"), description: `by ${index}` };
        return outcomeOf((services[index % 3] ?? services[0])!.createAction(input));
      }),
    );
    const [winner, ...others] = winners(outcomes);
    expect(others).toEqual([]);
    expect(losses(outcomes)).toHaveLength(CALLERS - 1);
    for (const error of losses(outcomes)) {
      expect(error).toMatchObject({ name: "ConflictError", code: "already_exists", exit: 4 });
    }
    const stored = await services[0]!.listActions();
    expect(stored).toEqual([{ ...winner, plans: 0 }]);
    const events = await temporary.store.read((reader) => reader.all("SELECT * FROM events"));
    expect(events).toHaveLength(1);
  });

  test("of many creators of different actions none is lost", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    const names = Array.from({ length: 300 }, (_, index) => `local/action-${index}`);
    await Promise.all(names.map((name) => service.createAction(actionInput(name))));
    const stored = (await service.listActions()).map((action) => action.name);
    expect([...stored].sort()).toEqual([...names].sort());
    expect((await verifyAudit(temporary.store, { at: Date.now() })).problem).toBeUndefined();
  });

  test("names that differ only in letter case are the same name for every process", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput("Shop/Fix-It"));
    await expect(service.createAction(actionInput("shop/fix-it"))).rejects.toMatchObject({ code: "already_exists" });
    expect((await service.getAction("SHOP/FIX-IT")).name).toBe("Shop/Fix-It");
    expect(nameKey(parseOwnName("Shop/Fix-It"))).toBe(nameKey(parseOwnName("sHOP/fIX-iT")));
    const plan = await service.useAction({ action: "SHOP/fix-it" });
    expect(plan.action).toBe("Shop/Fix-It");
  });

  test("of many uses of an action that is not reusable one gets the plan", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction({ ...actionInput(), reusable: false });
    const outcomes = await Promise.all(
      Array.from({ length: CALLERS }, () => outcomeOf(service.useAction({ action: ACTION_NAME }))),
    );
    expect(winners(outcomes)).toHaveLength(1);
    for (const error of losses(outcomes)) expect(error).toMatchObject({ name: "ConflictError", exit: 4 });
    expect((await service.listPlans()).plans).toHaveLength(1);
  });

  test("archiving and using race: each plan was made before the action was archived, or refused", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput());
    const uses = Array.from({ length: CALLERS }, (_, index) =>
      index === CALLERS / 2
        ? service.archiveAction(ACTION_NAME).then(() => undefined)
        : service.useAction({ action: ACTION_NAME }).then((plan) => plan.id),
    );
    const outcomes = await Promise.all(uses.map((use) => outcomeOf(use)));
    const made = winners(outcomes).filter((id) => id !== undefined);
    for (const error of losses(outcomes)) expect(error).toMatchObject({ code: "conflict", exit: 4 });
    expect(losses(outcomes).length).toBeGreaterThan(0);
    const { plans } = await service.listPlans({ limit: 1000 });
    expect(plans.map((plan) => plan.id).sort()).toEqual([...made].sort());
    const types = await temporary.store.read((reader) =>
      reader.all<{ type: string }>("SELECT type FROM events ORDER BY sequence"),
    );
    expect(types.at(-1)?.type).toBe("action.archived");
  });

  test("deleting a project and using it race: no active plan is left without its project", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    const projects = new ProjectService({ store: temporary.store });
    await service.createAction(actionInput());
    await projects.createProject({ name: "shop" });
    // Whichever process is first, there is a plan to cancel.
    await service.useAction({ action: ACTION_NAME, projects: ["shop"] });
    const outcomes = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        index % 10 === 5
          ? outcomeOf(projects.deleteProject("shop", { force: true }))
          : outcomeOf(service.useAction({ action: ACTION_NAME, projects: ["shop"] })),
      ),
    );
    const { counts } = await service.listPlans();
    expect([...counts.keys()]).toEqual(["cancelled"]);
    for (const error of losses(outcomes)) expect(error.code).toBe("not_found");
    expect((await verifyAudit(temporary.store, { at: Date.now() })).problem).toBeUndefined();
  });

  describe("of many callers of one transition exactly one wins", () => {
    test.each(RACES)(
      "$operation from $from (under the lease: $underLease)",
      async ({ from, operation, underLease }) => {
        await using temporary = await TemporaryStore.open(kind);
        const service = new PlanLifecycleService({ store: temporary.store });
        await service.createAction(actionInput());
        const { id, lease } = await planAt(service, from);
        const { version } = await service.getPlan(id);
        const move = { operation, planId: id, lease: underLease ? lease : undefined };
        const outcomes = await Promise.all(Array.from({ length: CALLERS }, () => outcomeOf(perform(service, move))));
        expect(winners(outcomes)).toHaveLength(1);
        for (const error of losses(outcomes)) {
          expect(["ConflictError", "StaleLeaseError"]).toContain(error.name);
          expect(error.exit).toBe(4);
        }
        const rows = await planRows(temporary.store, id);
        expect(rows.audit).toHaveLength(version + 1);
        expect(rows.events).toHaveLength(version + 1);
        expect(history(rows).at(-1)).toMatchObject({ operation, from, version: version + 1 });
        expect(rows.failures.length).toBe(/fail|constrain/.test(operation) ? 1 : rows.failures.length);
        lease?.stop();
      },
    );
  });

  test("different transitions at once: the winners are a way through the lifecycle", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput());
    const { id, lease } = await planAt(service, "execute/processing");
    const operations = ["completeExecute", "failExecute", "cancelPlan", "revertPlan", "startExecute"] as const;
    const outcomes = await Promise.all(
      operations.flatMap((operation) =>
        Array.from({ length: 8 }, () => outcomeOf(perform(service, { operation, planId: id, lease }))),
      ),
    );
    const rows = await planRows(temporary.store, id);
    expect(rows.audit).toHaveLength(5 + winners(outcomes).length);
    expect(history(rows).map(({ status }, index, all) => all[index + 1]?.from ?? status)).toEqual(
      history(rows).map(({ status }) => status),
    );
  });

  const PLANS = kind === "postgres" ? 30 : 200;
  test(`${PLANS} plans moved at once through their whole life: none is lost, none is mixed up`, async () => {
    await using temporary = await TemporaryStore.open(kind);
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput());
    const plans = await Promise.all(Array.from({ length: PLANS }, () => planAt(service, "apply/applied")));
    expect(new Set(plans.map(({ id }) => id)).size).toBe(PLANS);
    const { counts } = await service.listPlans();
    expect([...counts]).toEqual([["applied", PLANS]]);
    const verified = await verifyAudit(temporary.store, { at: Date.now() });
    expect(verified).toMatchObject({ problem: undefined, chains: 1 + PLANS, entries: 1 + PLANS * 9 });
  });
});
