/** Finding, listing and making plans. Their moves are in lifecycle-*.test.ts. */
import { describe, expect, test } from "vitest";
import { ConflictError, NotFoundError, UsageError, ValidationError } from "../domain/errors/errors.ts";
import { monotonicIds, type PlanId } from "../domain/names/ids.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import type { Store } from "../store/port.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { countedBytes, FakeClock } from "../testing/fake-clock.ts";
import { ACTION_NAME, actionInput, moveTo, planAt } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { nextStep } from "../domain/errors/next-step.ts";

interface Setting extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly service: PlanLifecycleService;
  readonly projects: ProjectService;
}

async function setting(): Promise<Setting> {
  const clock = new FakeClock();
  const temporary = await TemporaryStore.open("memory", { clock: clock.now });
  const parts = {
    store: temporary.store,
    clock: clock.now,
    ids: monotonicIds(clock.now, countedBytes()),
    user: "tester",
  };
  return {
    clock,
    store: temporary.store,
    service: new PlanLifecycleService(parts),
    projects: new ProjectService(parts),
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

describe("a plan is found", () => {
  test("by its id in any case, or by a prefix that only it has", async () => {
    await using s = await setting();
    await s.service.createAction(actionInput());
    const first = await s.service.useAction({ action: ACTION_NAME });
    s.clock.advance(1_000_000);
    const second = await s.service.useAction({ action: ACTION_NAME });
    expect(await s.service.getPlan(first.id)).toEqual(first);
    expect(await s.service.getPlan(first.id.toLowerCase())).toEqual(first);
    expect(await s.service.getPlan(second.id.slice(0, 20))).toEqual(second);
  });

  test("not by a prefix of several, whose candidates are named", async () => {
    await using s = await setting();
    await s.service.createAction(actionInput());
    const ids: PlanId[] = [];
    for (let count = 0; count < 7; count += 1) ids.push((await s.service.useAction({ action: ACTION_NAME })).id);
    const error = await s.service.getPlan(ids[0]!.slice(0, 8)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ detail: { candidates: ids.slice(0, 5) } });
    expect((error as Error).message).toContain(`${ids[4]}, …`);
    const few = await setting();
    await few.service.createAction(actionInput());
    const two = [
      await few.service.useAction({ action: ACTION_NAME }),
      await few.service.useAction({ action: ACTION_NAME }),
    ];
    await expect(few.service.getPlan("0")).rejects.toThrow(`${two[0]!.id}, ${two[1]!.id}.`);
    await few[Symbol.asyncDispose]();
  });

  test("not when there is none, and not by what cannot be an id", async () => {
    await using s = await setting();
    await expect(s.service.getPlan("01")).rejects.toBeInstanceOf(NotFoundError);
    await expect(s.service.getPlan("0".repeat(26))).rejects.toBeInstanceOf(NotFoundError);
    for (const text of ["", "ü", "%", "0".repeat(27), "1 OR 1=1"]) {
      await expect(s.service.getPlan(text)).rejects.toBeInstanceOf(UsageError);
    }
  });
});

test("plans are listed newest first, page by page, by phase, state, action and project, with the counts of all", async () => {
  await using s = await setting();
  await s.service.createAction(actionInput());
  await s.service.createAction(actionInput("local/other"));
  await s.projects.createProject({ name: "shop" });
  const made: PlanId[] = [];
  for (const status of ["strategize/queued", "execute/processing", "apply/applied", "execute/errored"] as const) {
    made.push((await planAt(s.service, status)).id);
  }
  const other = await s.service.useAction({ action: "LOCAL/other", projects: ["SHOP"] });
  const newestFirst = [other.id, ...made.toReversed()];
  const ids = async (query: Parameters<typeof s.service.listPlans>[0]): Promise<PlanId[]> =>
    (await s.service.listPlans(query)).plans.map((plan) => plan.id);
  expect(await ids({})).toEqual(newestFirst);
  expect(await ids({ limit: 2 })).toEqual(newestFirst.slice(0, 2));
  expect(await ids({ limit: 2, before: newestFirst[1] })).toEqual(newestFirst.slice(2, 4));
  expect(await ids({ phase: "execute" })).toEqual([made[3], made[1]]);
  expect(await ids({ state: "applied" })).toEqual([made[2]]);
  expect(await ids({ phase: "apply", state: "queued" })).toEqual([]);
  expect(await ids({ action: "other" })).toEqual([other.id]);
  expect(await ids({ project: "shop" })).toEqual([other.id]);
  const { plans, counts } = await s.service.listPlans({ limit: 1 });
  expect(plans[0]).toMatchObject({
    name: other.name,
    action: "local/other",
    projects: ["local/shop"],
    status: { phase: "strategize", state: "queued" },
  });
  expect(Object.fromEntries(counts)).toEqual({ queued: 2, processing: 1, applied: 1, errored: 1 });
  await expect(s.service.listPlans({ action: "not a name" })).rejects.toBeInstanceOf(ValidationError);
});

test("actions are listed with their plans, by namespace and state", async () => {
  await using s = await setting();
  await s.service.createAction(actionInput("Team/Fix"));
  await s.service.createAction(actionInput());
  await s.service.useAction({ action: "team/fix" });
  await s.service.archiveAction(ACTION_NAME);
  const listed = await s.service.listActions();
  expect(listed.map(({ name, plans, state }) => [name, plans, state])).toEqual([
    [ACTION_NAME, 0, "archived"],
    ["Team/Fix", 1, "available"],
  ]);
  expect((await s.service.listActions({ namespace: "TEAM" })).map(({ name }) => name)).toEqual(["Team/Fix"]);
  expect((await s.service.listActions({ state: "archived" })).map(({ name }) => name)).toEqual([ACTION_NAME]);
});

describe("a plan is made", () => {
  test("after its arguments were checked, outside the transaction: a slow pattern does not hold up other writers", async () => {
    await using s = await setting();
    const pattern = "(a+)+";
    await s.service.createAction({ ...actionInput(), arguments: [{ name: "value", required: true, pattern }] });
    const store = alteredStore(s.store, { transaction: () => Promise.reject(new Error("a transaction was begun")) });
    const service = new PlanLifecycleService({ store });
    await expect(
      service.useAction({ action: ACTION_NAME, arguments: { value: `${"a".repeat(60)}!` } }),
    ).rejects.toThrow("takes more than 2 s");
    await expect(service.useAction({ action: ACTION_NAME, arguments: { value: "a" } })).rejects.toThrow("was begun");
  });

  test("only of an action that exists and is available", async () => {
    await using s = await setting();
    const nothing = await s.service.useAction({ action: "local/fxi" }).catch((error: unknown) => error);
    expect(nothing).toBeInstanceOf(NotFoundError);
    expect(nothing).toMatchObject({ next: [nextStep("action.list")] });
    await s.service.createAction(actionInput());
    const typo = await s.service.useAction({ action: "local/fxi" }).catch((error: unknown) => error);
    expect(typo).toMatchObject({ code: "not_found", detail: { suggestion: ACTION_NAME } });
    await s.service.archiveAction(ACTION_NAME);
    const archived = await s.service.useAction({ action: ACTION_NAME }).catch((error: unknown) => error);
    expect(archived).toBeInstanceOf(ConflictError);
    expect((await s.service.listPlans()).plans).toEqual([]);
  });

  test("only for projects that exist, each once, each with an alias of its own", async () => {
    await using s = await setting();
    await s.service.createAction(actionInput());
    await s.projects.createProject({ name: "shop" });
    await s.projects.createProject({ name: "team/shop" });
    const use = (projects: Parameters<typeof s.service.useAction>[0]["projects"] & {}) =>
      s.service.useAction({ action: ACTION_NAME, projects });
    await expect(use(["shpo"])).rejects.toMatchObject({ code: "not_found", detail: { suggestion: "local/shop" } });
    await expect(use(["shop", "SHOP"])).rejects.toBeInstanceOf(ValidationError);
    await expect(use(["shop", "team/shop"])).rejects.toThrow("clash");
    await expect(use([{ project: "shop", alias: "1st" }])).rejects.toThrow("is not an alias");
    const { projects } = await use(["shop", { project: "team/shop", alias: "theirs", readOnly: true }]);
    expect(projects).toEqual([
      { project: "local/shop", alias: "shop", readOnly: false },
      { project: "team/shop", alias: "theirs", readOnly: true },
    ]);
  });

  test("with the profile of the plan, else of the configuration, else the default; the action can only make it stricter", async () => {
    await using s = await setting();
    await s.service.createAction({ ...actionInput("local/ci"), automationProfile: "full-auto" });
    await s.service.createAction({ ...actionInput("local/strict"), automationProfile: "manual" });
    await s.service.createAction(actionInput());
    const configuredProfile = { name: "auto", source: "project" } as const;
    const chosen = async (action: string, automationProfile?: string, configured = false): Promise<string[]> => {
      const plan = await s.service.useAction({
        action,
        automationProfile,
        configuredProfile: configured ? configuredProfile : undefined,
      });
      return [plan.profile.name, plan.profileSource];
    };
    expect(await chosen("local/ci", "Manual", true)).toEqual(["manual", "plan"]);
    expect(await chosen("local/ci", "full-auto", true)).toEqual(["full-auto", "plan"]);
    expect(await chosen("local/ci", undefined, true)).toEqual(["auto", "project"]);
    expect(await chosen("local/ci")).toEqual(["supervised", "default"]);
    expect(await chosen("local/strict", undefined, true)).toEqual(["manual", "action"]);
    expect(await chosen(ACTION_NAME, undefined, true)).toEqual(["auto", "project"]);
    expect(await chosen(ACTION_NAME)).toEqual(["supervised", "default"]);
    await expect(chosen(ACTION_NAME, "atuo")).rejects.toBeInstanceOf(ValidationError);
  });

  test("with its texts filled in, and with a name of its own", async () => {
    await using s = await setting();
    const input = { ...actionInput(), description: "Fix {what}", arguments: [{ name: "what", required: true }] };
    await s.service.createAction(input);
    const plan = await s.service.useAction({ action: ACTION_NAME, arguments: { what: "{what}" } });
    expect(plan.description).toBe("Fix {what}");
    expect(plan.name).toBe(`${ACTION_NAME}-${plan.id.slice(-8).toLowerCase()}`);
    await expect(s.service.useAction({ action: ACTION_NAME })).rejects.toThrow("missing required argument");
  });
});

describe("a project", () => {
  test("is created once in any letter case, and found", async () => {
    await using s = await setting();
    const project = await s.projects.createProject({ name: "Shop", description: "sells" });
    await expect(s.projects.createProject({ name: "shop" })).rejects.toMatchObject({ code: "already_exists" });
    expect(await s.projects.getProject("SHOP")).toEqual({ ...project, plans: 0, activePlans: 0 });
    await expect(s.projects.getProject("shpo")).rejects.toMatchObject({ detail: { suggestion: "local/Shop" } });
  });

  test("is listed with its plans and how many are still active", async () => {
    await using s = await setting();
    await s.service.createAction(actionInput());
    await s.projects.createProject({ name: "shop" });
    await s.projects.createProject({ name: "team/site" });
    const use = () => s.service.useAction({ action: ACTION_NAME, projects: ["shop"] });
    await use();
    await s.service.cancelPlan((await use()).id);
    await moveTo(s.service, (await use()).id, "apply/applied");
    const listed = await s.projects.listProjects();
    expect(listed.map(({ name, plans, activePlans }) => [name, plans, activePlans])).toEqual([
      ["local/shop", 3, 1],
      ["team/site", 0, 0],
    ]);
    expect((await s.projects.listProjects("TEAM")).map(({ name }) => name)).toEqual(["team/site"]);
  });

  test("with active plans is only deleted by force, which cancels them and takes their leases, all at once", async () => {
    await using s = await setting();
    await s.service.createAction(actionInput());
    await s.projects.createProject({ name: "shop" });
    const queued = await s.service.useAction({ action: ACTION_NAME, projects: ["shop"] });
    await expect(s.projects.deleteProject("shop")).rejects.toThrow("has 1 active plan.");
    const running = await s.service.useAction({ action: ACTION_NAME, projects: ["shop"] });
    const lease = await s.service.startStrategize(running.id);
    const refused = await s.projects.deleteProject("shop").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({ actual: { active_plans: [queued.id, running.id] } });
    const deleted = await s.projects.deleteProject("SHOP", { force: true });
    expect(deleted.cancelled).toEqual([queued.id, running.id]);
    await expect(s.projects.getProject("shop")).rejects.toBeInstanceOf(NotFoundError);
    await expect(s.projects.deleteProject("shop")).rejects.toBeInstanceOf(NotFoundError);
    await expect(s.service.completeStrategize(lease)).rejects.toBeInstanceOf(ConflictError);
    expect(await s.service.getPlan(running.id)).toMatchObject({
      state: "cancelled",
      cancelReason: "project local/shop deleted",
      projects: [{ project: "local/shop" }],
    });
    lease.stop();
  });
});
