import { describe, expect, test } from "vitest";
import { ActorService } from "./actor-service.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Store } from "../store/port.ts";
import type { ToolActorInput } from "../domain/actor/tool-actor.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { losses, outcomeOf, winners } from "../testing/outcome.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { ACTOR_ROLES } from "../domain/names/actor-roles.ts";
import { nextStep } from "../domain/errors/next-step.ts";

const ACTOR_NAME = "local/worker"; // the execution actor of the fixture action

function actorInput(name: string = ACTOR_NAME, more: Partial<ToolActorInput> = {}): ToolActorInput {
  const write = { tool: "write_file", params: { resource: "api", path: "{file}.txt", content: ["{who}", 1, null] } };
  const steps = [write, { id: "log", tool: "git-log", needs: ["step-1"] }];
  return { name, type: "tool", description: "Greets", steps, ...more };
}

async function history(store: Store): Promise<{ type: string; details: unknown }[]> {
  const rows = await store.read((reader) =>
    reader.all<{ type: string; details: string }>("SELECT type, details FROM events ORDER BY sequence"),
  );
  return rows.map(({ type, details }) => ({ type, details: JSON.parse(details) as unknown }));
}

async function rowCounts(store: Store): Promise<unknown> {
  return store.read((reader) =>
    reader.get(`SELECT (SELECT COUNT(*) FROM actors) AS actors, (SELECT COUNT(*) FROM actor_steps) AS steps,
                       (SELECT COUNT(*) FROM events) AS events, (SELECT COUNT(*) FROM audit_entries) AS audit`),
  );
}

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  test("an actor is added once in any letter case, found, listed, and removed with its event and audit entry", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open(kind, { clock: clock.now });
    const { store } = temporary;
    const actors = new ActorService({ store, clock: clock.now, user: "tester" });
    const added = await actors.addActor(actorInput("Team/Greeter"));
    expect(added).toMatchObject({ name: "Team/Greeter", type: "tool", version: 1, createdAt: clock.now() });
    const again = await outcomeOf(actors.addActor(actorInput("team/GREETER", { description: "Other" })));
    expect(losses([again])).toMatchObject([{ name: "ConflictError", code: "already_exists", exit: 4 }]);
    expect(await actors.getActor("TEAM/greeter")).toEqual({ ...added, usedBy: [], neededBy: [] });
    const other = await actors.addActor(actorInput());
    expect(await actors.listActors()).toEqual([other, added]);
    expect(await actors.listActors("TEAM")).toEqual([added]);
    expect(await actors.listActors("unknown")).toEqual([]);
    expect(await actors.removeActor("team/greeter")).toEqual(added);
    expect(await actors.listActors()).toEqual([other]);
    await expect(actors.removeActor("team/greeter")).rejects.toMatchObject({ code: "not_found" });
    expect(await history(store)).toEqual([
      { type: "actor.added", details: { actor: "Team/Greeter", type: "tool" } },
      { type: "actor.added", details: { actor: "local/worker", type: "tool" } },
      { type: "actor.removed", details: { actor: "Team/Greeter", type: "tool" } },
    ]);
    expect(await rowCounts(store)).toEqual({ actors: 1, steps: 2, events: 3, audit: 3 });
    expect((await verifyAudit(store, { at: Date.now() })).problem).toBeUndefined();
    const changed = await actors.addActor(actorInput("team/Greeter", { steps: [{ tool: "git_status" }] }));
    expect(await actors.getActor("team/greeter")).toMatchObject(changed);
  });

  test("an actor survives being opened elsewhere byte for byte", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const params = { text: "ü 🦑 \t\n\r\u2028'\"\\ {x} {{y}}", list: [[], {}, [0.1, -1e-7, true, null]], "a.b": "" };
    const steps = Array.from({ length: 12 }, (_, index) => ({ id: `s${12 - index}`, tool: "write_file", params }));
    const added = await new ActorService({ store: temporary.store }).addActor(actorInput(ACTOR_NAME, { steps }));
    await using elsewhere = await openStore(temporary.store.url);
    const found = await new ActorService({ store: elsewhere }).getActor(ACTOR_NAME);
    expect(found).toEqual({ ...added, usedBy: [], neededBy: [] });
    expect(found).toMatchObject({ steps: steps.map(({ id }) => ({ id, params })) });
  });

  test("of many processes that add one name exactly one wins, with only its own steps", async () => {
    await using temporary = await TemporaryStore.open(kind);
    await using elsewhere = await openStore(temporary.store.url);
    const services = [temporary.store, elsewhere, temporary.store].map((store) => new ActorService({ store }));
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const steps = Array.from({ length: 1 + (index % 5) }, () => ({ tool: "git_log", params: { by: index } }));
        const input = actorInput(index % 2 === 0 ? "Team/One" : "team/ONE", { steps });
        return outcomeOf((services[index % 3] ?? services[0])!.addActor(input));
      }),
    );
    const [winner, ...others] = winners(outcomes);
    expect(others).toEqual([]);
    for (const error of losses(outcomes)) expect(error).toMatchObject({ code: "already_exists", exit: 4 });
    expect(await services[1]!.listActors()).toEqual([winner]);
    expect(await rowCounts(temporary.store)).toMatchObject({
      steps: winner?.type === "tool" ? winner.steps.length : 0,
      events: 1,
      audit: 1,
    });
  });

  test("an actor that an active plan needs stays until the plan is over", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const actors = new ActorService({ store });
    const service = new PlanLifecycleService({ store });
    await actors.addActor(actorInput("Local/Worker", { steps: [{ tool: "git_log" }] }));
    await service.createAction(actionInput());
    const plans = [await service.useAction({ action: ACTION_NAME }), await service.useAction({ action: ACTION_NAME })];
    await service.archiveAction(ACTION_NAME);
    await expect(actors.removeActor(ACTOR_NAME)).rejects.toMatchObject({
      code: "conflict",
      actual: { plans: plans.map(({ id }) => id) },
    });
    for (const { id } of plans) {
      await expect(actors.removeActor(ACTOR_NAME)).rejects.toBeInstanceOf(ConflictError);
      await service.cancelPlan(id);
    }
    await actors.removeActor(ACTOR_NAME);
  });

  test("of many who remove one actor exactly one does", async () => {
    await using temporary = await TemporaryStore.open(kind);
    await using elsewhere = await openStore(temporary.store.url);
    const services = [temporary.store, elsewhere].map((store) => new ActorService({ store }));
    await services[0]!.addActor(actorInput());
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => outcomeOf(services[index % 2]!.removeActor(ACTOR_NAME))),
    );
    expect(winners(outcomes)).toHaveLength(1);
    for (const error of losses(outcomes)) expect(error).toMatchObject({ code: "not_found", exit: 3 });
    expect(await rowCounts(temporary.store)).toMatchObject({ actors: 0, steps: 0, events: 2, audit: 2 });
  });

  test("removing an actor and creating an action of it race: an action never loses its actor", async () => {
    await using temporary = await TemporaryStore.open(kind);
    await using elsewhere = await openStore(temporary.store.url);
    const actors = new ActorService({ store: temporary.store });
    const results = new Set<string>();
    for (let round = 0; round < 30; round += 1) {
      const plans = new PlanLifecycleService({ store: round % 3 === 0 ? elsewhere : temporary.store });
      const name = `local/actor-${round}`;
      await actors.addActor(actorInput(name));
      const create = (): Promise<unknown> =>
        plans.createAction({ ...actionInput(`local/action-${round}`), executionActor: name.toUpperCase() });
      const remove = (): Promise<unknown> => actors.removeActor(name);
      const calls = round % 2 === 0 ? [create, remove] : [remove, create];
      const outcomes = await Promise.all(calls.map((call) => outcomeOf(call())));
      const removed = outcomes[calls.indexOf(remove)];
      expect(outcomes[calls.indexOf(create)]?.ok).toBe(true);
      if (removed?.ok === false) expect(removed.error).toMatchObject({ code: "conflict", exit: 4 });
      const types = (await history(temporary.store)).slice(-2).map(({ type }) => type);
      // Removed first is fine: the action then names an actor that is not registered. After the action it must not go.
      expect(types).toEqual(
        removed?.ok === true ? ["actor.removed", "action.created"] : ["actor.added", "action.created"],
      );
      results.add(types[0] ?? "");
    }
    expect([...results].sort()).toEqual(["actor.added", "actor.removed"]);
    expect((await verifyAudit(temporary.store, { at: Date.now() })).problem).toBeUndefined();
  });
});

async function setting(): Promise<
  AsyncDisposable & { store: Store; actors: ActorService; plans: PlanLifecycleService }
> {
  const temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  return {
    store,
    actors: new ActorService({ store }),
    plans: new PlanLifecycleService({ store }),
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

describe("an actor", () => {
  test("that is not valid leaves nothing behind", async () => {
    await using s = await setting();
    await expect(s.actors.addActor(actorInput("system/x"))).rejects.toBeInstanceOf(ValidationError);
    expect(await rowCounts(s.store)).toEqual({ actors: 0, steps: 0, events: 0, audit: 0 });
  });

  test("an unknown name is not found, with the nearest one named", async () => {
    await using s = await setting();
    await expect(s.actors.getActor("wroker")).rejects.toMatchObject({ next: [nextStep("actor.list")] });
    await s.actors.addActor(actorInput());
    await expect(s.actors.getActor("wroker")).rejects.toMatchObject({
      code: "not_found",
      detail: { suggestion: ACTOR_NAME },
      next: [nextStep("actor.show", { actor: ACTOR_NAME })],
    });
    await expect(s.actors.getActor("not a name")).rejects.toBeInstanceOf(ValidationError);
  });

  test.each(ACTOR_ROLES)("is not removed while an available action has it for %s, in any letter case", async (role) => {
    await using s = await setting();
    await s.actors.addActor(actorInput("team/One"));
    await s.plans.createAction({ ...actionInput(), [`${role}Actor`]: "TEAM/one" });
    const refused = await s.actors.removeActor("team/one").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({
      code: "conflict",
      actual: { actions: [ACTION_NAME] },
      next: [nextStep("action.archive", { action: ACTION_NAME })],
    });
    expect((await s.actors.getActor("team/one")).usedBy).toEqual([ACTION_NAME]);
    await s.plans.archiveAction(ACTION_NAME);
    expect((await s.actors.removeActor("team/one")).name).toBe("team/One");
  });

  test("used by many actions names a few of them", async () => {
    await using s = await setting();
    await s.actors.addActor(actorInput());
    for (let index = 1; index <= 7; index += 1) await s.plans.createAction(actionInput(`local/action-${index}`));
    await expect(s.actors.removeActor(ACTOR_NAME)).rejects.toThrow(
      /used by 7 actions: local\/action-1, .*local\/action-5, …\.$/,
    );
  });
});

describe("a plan for a tool actor", () => {
  const declared = { arguments: [{ name: "file", required: true }, { name: "who" }] };

  test("is made when the action declares what the actor uses, also without a strategy actor", async () => {
    await using s = await setting();
    await s.actors.addActor(actorInput());
    await s.plans.createAction({ ...actionInput(), ...declared });
    const plan = await s.plans.useAction({ action: ACTION_NAME, arguments: { file: "a" } });
    expect(plan.actors).toMatchObject({ strategy: undefined, execution: ACTOR_NAME });
  });

  test("is refused with all arguments that the action does not declare, and nothing is written", async () => {
    await using s = await setting();
    await s.actors.addActor(actorInput());
    await s.plans.createAction({ ...actionInput(), arguments: [{ name: "flie" }] });
    const before = await rowCounts(s.store);
    const refused = await s.plans.useAction({ action: ACTION_NAME }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ValidationError);
    expect((refused as Error).message).toContain("uses {file}, {who}, which the action");
    expect(refused).toMatchObject({
      issues: [{ path: "file", suggestion: "flie" }, { path: "who" }],
      kept: "Nothing was written.",
      next: [nextStep("actor.show", { actor: ACTOR_NAME }), nextStep("action.show", { action: ACTION_NAME })],
    });
    expect(await rowCounts(s.store)).toEqual(before);
    expect((await s.plans.listPlans()).plans).toEqual([]);
  });

  test("goes by the actor that the plan names instead of the action's", async () => {
    await using s = await setting();
    await s.actors.addActor(actorInput("local/Other"));
    await s.plans.createAction(actionInput());
    expect((await s.plans.useAction({ action: ACTION_NAME })).actors.execution).toBe(ACTOR_NAME);
    const use = (execution: string) => s.plans.useAction({ action: ACTION_NAME, actors: { execution } });
    await expect(use("LOCAL/other")).rejects.toThrow("{file}, {who}");
    expect((await use("local/unknown")).actors.execution).toBe("local/unknown");
    await s.actors.addActor(actorInput("local/plain", { steps: [{ tool: "git_status" }] }));
    expect((await use("plain")).actors.execution).toBe("local/plain");
  });
});
