/** Hostile names, values and paths given to the services: an error, never a crash, and never a row. */
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import type { ActionInput } from "../domain/action/action.ts";
import { AgentsError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import { parseQualifiedName } from "../domain/names/qualified-name.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { ResourceService } from "../catalog/resource-service.ts";
import { verifyAudit } from "./tables/audit-verification.ts";
import type { Store } from "./port.ts";
import { failure, StoreFixture } from "./testing/fixtures.ts";
import { HOSTILE_STRINGS } from "./testing/hostile-strings.ts";

const ACTION: ActionInput = {
  name: "fix",
  description: "Fix {area}",
  definitionOfDone: "It works",
  executionActor: "local/worker",
  arguments: [{ name: "area" }, { name: "files", type: "list" }],
};
const AFTER = { hash: "a".repeat(64), mode: 0o100644 };

const attempts: Record<string, (parts: Parts, text: string) => Promise<unknown>> = {
  "an action's name": ({ plans }, text) => plans.createAction({ ...ACTION, name: text }),
  "an action's namespace": ({ plans }, text) => plans.createAction({ ...ACTION, name: `${text}/fix` }),
  "an actor": ({ plans }, text) => plans.createAction({ ...ACTION, name: "other", strategyActor: text }),
  "an argument's name": ({ plans }, text) =>
    plans.createAction({ ...ACTION, name: "other", arguments: [{ name: text }] }),
  "a profile": ({ plans }, text) => plans.useAction({ action: "fix", automationProfile: text }),
  "the action to use": ({ plans }, text) => plans.useAction({ action: text }),
  "the project to use": ({ plans }, text) => plans.useAction({ action: "fix", projects: [text] }),
  "an alias": ({ plans }, text) => plans.useAction({ action: "fix", projects: [{ project: "shop", alias: text }] }),
  "an argument to use": ({ plans }, text) =>
    plans.useAction({ action: "fix", arguments: Object.fromEntries([[text, "x"]]) }),
  "an actor to use": ({ plans }, text) => plans.useAction({ action: "fix", actors: { strategy: text } }),
  "a project's name": ({ projects }, text) => projects.createProject({ name: text }),
  "the project to delete": ({ projects }, text) => projects.deleteProject(text, { force: true }),
  "a resource's name": ({ resources }, text) =>
    resources.addResource({ type: "fs-directory", name: text, arguments: { path: tmpdir() } }),
  "a resource's type": ({ resources }, text) =>
    resources.addResource({ type: text, name: "other", arguments: { path: tmpdir() } }),
  "a resource's argument": ({ resources }, text) =>
    resources.addResource({
      type: "fs-directory",
      name: "other",
      arguments: { path: tmpdir(), ...Object.fromEntries([[text, "x"]]) },
    }),
  "a branch": ({ resources }, text) =>
    resources.addResource({ type: "git-checkout", name: "other", arguments: { path: tmpdir(), branch: text } }),
  "the resource to remove": ({ resources }, text) => resources.removeResource(text),
  "the resource to link": ({ resources }, text) => resources.linkResource("shop", text),
  "the project to link to": ({ resources }, text) => resources.linkResource(text, "data"),
  "a resource's alias": ({ resources }, text) => resources.linkResource("shop", "data", { alias: text }),
  "the resource to unlink": ({ resources }, text) => resources.unlinkResource("shop", text),
  "a new project's resource": ({ projects }, text) => projects.createProject({ name: "new", resources: [text] }),
  "the action to archive": ({ plans }, text) => plans.archiveAction(text),
  "a changed path's resource": ({ changesets, changeset }, text) =>
    changesets.record(changeset, { resource: text, path: "a", operation: "create", after: AFTER }),
  "a hash": ({ changesets, changeset }, text) =>
    changesets.record(changeset, { resource: "api", path: "a", operation: "create", after: { ...AFTER, hash: text } }),
};

describe("hostile strings", () => {
  test.each(Object.keys(attempts))("as %s are refused and leave no row", async (what) => {
    await using fixture = await StoreFixture.memory();
    const parts = await prepare(fixture.store);
    const before = await rowCounts(fixture.store);
    const wrong: string[] = [];
    for (const text of HOSTILE_STRINGS) {
      const error = await failure(Promise.resolve().then(() => attempts[what]?.(parts, text)));
      if (!(error instanceof ValidationError))
        wrong.push(`${JSON.stringify(text.slice(0, 12))} (${text.length}): ${brief(error)}`);
    }
    expect({ wrong, rows: await rowCounts(fixture.store) }).toEqual({ wrong: [], rows: before });
  });

  test.each([
    ["plan ids", ({ plans }: Parts, text: string) => plans.getPlan(text)],
    ["plan ids to move", ({ plans }: Parts, text: string) => plans.cancelPlan(text as PlanId)],
    ["plan ids to start", ({ plans }: Parts, text: string) => plans.startStrategize(text as PlanId)],
    [
      "changeset ids",
      ({ changesets }: Parts, text: string) =>
        changesets.record(text as ChangesetId, { resource: "api", path: "a", operation: "create", after: AFTER }),
    ],
    ["actions to show", ({ plans }: Parts, text: string) => plans.getAction(text)],
  ] satisfies [string, (parts: Parts, text: string) => Promise<unknown>][])(
    "as %s are errors of the interface and leave no row",
    async (_, attempt) => {
      await using fixture = await StoreFixture.memory();
      const parts = await prepare(fixture.store);
      const before = await rowCounts(fixture.store);
      const wrong: string[] = [];
      for (const text of HOSTILE_STRINGS) {
        const error = await failure(Promise.resolve().then<unknown>(() => attempt(parts, text)));
        if (!(error instanceof AgentsError)) wrong.push(brief(error));
      }
      expect({ wrong, rows: await rowCounts(fixture.store) }).toEqual({ wrong: [], rows: before });
    },
  );

  test("as an argument's value or a changed path are stored exactly as they are or refused", async () => {
    await using fixture = await StoreFixture.memory();
    const { plans, changesets, changeset } = await prepare(fixture.store);
    for (const text of HOSTILE_STRINGS) {
      const plan = await plans.useAction({ action: "fix", arguments: { area: text } }).catch((error: unknown) => error);
      if (plan instanceof Error) expect(plan).toBeInstanceOf(ValidationError);
      else {
        const { id } = plan as { id: PlanId };
        const found = await plans.getPlan(id);
        expect(found.arguments.get("area")).toBe(text);
        expect(found.description).toBe(`Fix ${text}`);
      }
      const change = { resource: "api", path: text, operation: "create", after: AFTER } as const;
      const entry = await changesets.record(changeset, change).catch((error: unknown) => error);
      if (entry instanceof Error) expect(entry).toBeInstanceOf(ValidationError);
      else expect((await changesets.entries(changeset)).at(-1)?.path).toBe(text);
    }
    expect((await verifyAudit(fixture.store, { at: 1 })).problem).toBeUndefined();
  });
});

test("a list of half a million items is not an argument", async () => {
  await using fixture = await StoreFixture.memory();
  const { plans } = await prepare(fixture.store);
  const before = await rowCounts(fixture.store);
  const error = await failure(plans.useAction({ action: "fix", arguments: { files: "a,".repeat(500_000) } }));
  expect({ error: brief(error), rows: await rowCounts(fixture.store) }).toEqual({
    error: expect.stringMatching(/^ValidationError/),
    rows: before,
  });
});

test("a name that is only nearly right is not found, and the right one is suggested", async () => {
  await using fixture = await StoreFixture.memory();
  const { plans } = await prepare(fixture.store);
  expect(await failure(plans.useAction({ action: "fxi" }))).toMatchObject({
    code: "not_found",
    detail: { suggestion: "local/fix" },
  });
  expect(await failure(plans.useAction({ action: "fix", projects: ["shpo"] }))).toMatchObject({
    code: "not_found",
    detail: { suggestion: "local/shop" },
  });
  expect(await failure(plans.getAction("zebra"))).toMatchObject({ code: "not_found", next: [nextStep("action.list")] });
});

test("a plan's name is a name, also when its action's name is as long as names get", async () => {
  await using fixture = await StoreFixture.memory();
  const { plans } = await prepare(fixture.store);
  await plans.createAction({ ...ACTION, name: "x".repeat(100) });
  const plan = await plans.useAction({ action: "x".repeat(100) });
  expect(parseQualifiedName(plan.name)).toBe(plan.name);
});

test("everything an action and a plan are made of comes back from the store as it was given", async () => {
  await using fixture = await StoreFixture.file();
  const { plans, projects } = await prepare(fixture.store);
  const given: ActionInput = {
    ...ACTION,
    name: "Team/Whole",
    longDescription: "At length",
    strategyActor: "a/strategy",
    arguments: [
      { name: "area", required: true, description: "Where", pattern: "[a-z]+", min: 1, max: 20 },
      { name: "tags", type: "list", default: ["a", "b"] },
      { name: "ratio", type: "float", default: 0.5, min: 0, max: 1 },
    ],
    invariants: ["one", "two"],
    automationProfile: "manual",
    reusable: false,
    readOnly: true,
  };
  const created = await plans.createAction(given);
  expect(await plans.getAction("team/WHOLE")).toEqual(created);
  await projects.createProject({ name: "Depot", description: "Stores things" });
  const plan = await plans.useAction({
    action: "team/whole",
    projects: ["shop", { project: "depot", alias: "store", readOnly: true }],
    arguments: { area: "parser" },
    actors: { strategy: "b/strategy" },
  });
  expect(await plans.getPlan(plan.id)).toEqual(plan);
  expect(plan).toMatchObject({ profileSource: "action", readOnly: true, invariants: ["one", "two"] });
  expect(await plans.listActions({ namespace: "TEAM" })).toEqual([{ ...created, plans: 1 }]);
  const { plans: listed, counts } = await plans.listPlans({
    phase: "strategize",
    state: "queued",
    action: "Team/whole",
    project: "DEPOT",
  });
  expect(listed.map(({ id, projects: linked }) => [id, linked])).toEqual([[plan.id, ["local/shop", "local/Depot"]]]);
  expect([...counts]).toEqual([["queued", 1]]);
  expect((await plans.listPlans({ before: plan.id })).plans.map(({ id }) => id)).not.toContain(plan.id);
  expect(await projects.getProject("depot")).toMatchObject({ name: "local/Depot", plans: 1, activePlans: 1 });
  expect((await projects.listProjects("LOCAL")).map(({ name }) => name)).toEqual(["local/Depot", "local/shop"]);
  const lease = await plans.startStrategize(plan.id);
  await plans.failStrategize(lease, { message: "no idea", category: "transient" });
  expect(await plans.listFailures(plan.id)).toMatchObject([{ position: 1, phase: "strategize", message: "no idea" }]);
  expect((await plans.archiveAction("team/whole")).state).toBe("archived");
  expect(await plans.listActions({ state: "archived" })).toMatchObject([{ name: "Team/Whole", version: 2 }]);
  await projects.deleteProject("depot", { force: true });
  expect(await plans.getPlan(plan.id.slice(0, 25))).toMatchObject({
    state: "cancelled",
    cancelReason: expect.any(String),
  });
});

interface Parts {
  readonly plans: PlanLifecycleService;
  readonly projects: ProjectService;
  readonly resources: ResourceService;
  readonly changesets: ChangesetStore;
  readonly changeset: ChangesetId;
}

async function prepare(store: Store): Promise<Parts> {
  const plans = new PlanLifecycleService({ store });
  const projects = new ProjectService({ store });
  const changesets = new ChangesetStore(store);
  await plans.createAction(ACTION);
  await projects.createProject({ name: "shop" });
  const resources = new ResourceService({ store });
  await resources.addResource({ type: "fs-directory", name: "data", arguments: { path: tmpdir() } });
  const plan = await plans.useAction({ action: "fix", projects: ["shop"] });
  return { plans, projects, resources, changesets, changeset: await changesets.start(plan.id) };
}

/** How many rows each table has. */
function rowCounts(store: Store): Promise<Record<string, number>> {
  return store.read(async (reader) => {
    const tables = await reader.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const row = await reader.get<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`);
      counts[name] = row?.n ?? -1;
    }
    return counts;
  });
}

function brief(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message.slice(0, 80)}` : String(error);
}
