import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConflictError, NotFoundError, UsageError, ValidationError } from "../domain/errors/errors.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ProjectService } from "./project-service.ts";
import { ResourceService } from "./resource-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Store } from "../store/port.ts";
import { countedBytes, FakeClock } from "../testing/fake-clock.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { git, makeRepository } from "../testing/git-repository.ts";
import { losses, outcomeOf, winners } from "../testing/outcome.ts";
import { seededRandom } from "../testing/random.ts";
import { STORE_KINDS, TemporaryStore, type StoreKind } from "../testing/temporary-store.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { sized } from "../testing/size.ts";

const CALLERS = sized({ quick: 10, normal: 40, full: 200 });

interface Setting extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: Store;
  /** A real path; everything below it is gone at the end. */
  readonly directory: string;
  readonly plans: PlanLifecycleService;
  readonly projects: ProjectService;
  readonly resources: ResourceService;
  /** A new directory as a resource. */
  add(name: string): Promise<string>;
}

async function setting(kind: StoreKind = "memory"): Promise<Setting> {
  const clock = new FakeClock();
  const temporary = await TemporaryStore.open(kind, { clock: clock.now });
  const { store } = temporary;
  const parts = { store, clock: clock.now, ids: monotonicIds(clock.now, countedBytes()), user: "tester" };
  const directory = await realpath(temporary.directory);
  const resources = new ResourceService(parts);
  return {
    clock,
    store,
    directory,
    plans: new PlanLifecycleService(parts),
    projects: new ProjectService(parts),
    resources,
    add: async (name) => {
      const path = join(directory, name.replace("/", "-"));
      await mkdir(path, { recursive: true });
      return (await resources.addResource({ type: "fs-directory", name, arguments: { path } })).name;
    },
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

async function recorded(store: Store): Promise<{ events: unknown[]; audited: unknown[] }> {
  const details = (rows: { type: string; details: string }[]): unknown[] =>
    rows.map((row) => [row.type, JSON.parse(row.details)]);
  return store.read(async (reader) => ({
    events: details(await reader.all("SELECT type, details FROM events ORDER BY sequence")),
    audited: details(await reader.all("SELECT type, details FROM audit_entries ORDER BY sequence")),
  }));
}

describe("a directory as a resource", () => {
  test("is added once in any letter case, found and listed", async () => {
    await using s = await setting();
    const path = join(s.directory, "my data – 数据");
    await mkdir(path);
    const input = { type: "fs-directory", name: "Data", description: "all of it", arguments: { path } };
    const made = await s.resources.addResource(input);
    expect(made).toMatchObject({ name: "local/Data", path, branch: undefined, version: 1, projects: [] });
    s.clock.advance(1000);
    const again = await s.resources.addResource({ ...input, name: "DATA" }).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(ConflictError);
    expect(again).toMatchObject({
      code: "already_exists",
      next: [nextStep("resource.show", { resource: "local/DATA" })],
    });
    expect(await s.resources.getResource("data")).toEqual(made);
    await expect(s.resources.getResource("dat")).rejects.toMatchObject({ detail: { suggestion: "local/Data" } });
    const other = await s.add("team/other");
    const names = async (filter: { namespace?: string; type?: string }): Promise<string[]> =>
      (await s.resources.listResources(filter)).map(({ name }) => name);
    expect(await names({})).toEqual(["local/Data", other]);
    expect(await names({ namespace: "TEAM" })).toEqual([other]);
    expect(await names({ type: "git-checkout" })).toEqual([]);
    expect(await names({ type: "fs-directory", namespace: "local" })).toEqual(["local/Data"]);
  });

  test("is the real place behind symbolic links", async () => {
    await using s = await setting();
    await mkdir(join(s.directory, "real"));
    await symlink(join(s.directory, "real"), join(s.directory, "link"));
    const path = join(s.directory, "link", "..", "link");
    const made = await s.resources.addResource({ type: "fs-directory", name: "d", arguments: { path } });
    expect(made.path).toBe(join(s.directory, "real"));
  });

  test("must exist and be a directory with a usable name", async () => {
    await using s = await setting();
    const { directory } = s;
    await writeFile(join(directory, "file"), "");
    await mkdir(join(directory, "a\nb"));
    await symlink(join(directory, "a\nb"), join(directory, "to-a-b"));
    await symlink(join(directory, "loop"), join(directory, "loop"));
    const refusal = async (name: string): Promise<unknown> =>
      s.resources
        .addResource({ type: "fs-directory", name: "d", arguments: { path: join(directory, name) } })
        .catch((error: unknown) => error);
    for (const [name, why] of [
      ["missing", "does not exist"],
      ["file", "is not a directory"],
      ["to-a-b", "leads to a place that contains a line break"],
      ["loop", "cannot be read: ELOOP"],
      ["file/below", "cannot be read: ENOTDIR"],
    ] as const) {
      const error = await refusal(name);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ message: expect.stringContaining(why), issues: [{ path: "path" }] });
    }
    expect(await s.resources.listResources()).toEqual([]);
    expect((await recorded(s.store)).events).toEqual([]);
  });
});

describe("a git checkout as a resource", () => {
  const add = (s: Setting, path: string, branch?: string): Promise<unknown> =>
    s.resources
      .addResource({ type: "git-checkout", name: "api", arguments: { path, branch } })
      .then((resource) => resource.path)
      .catch((error: unknown) => error);

  test("is the top of a work tree, with an ugly name or linked, on a branch it has", async () => {
    await using s = await setting();
    const path = makeRepository(join(s.directory, "my répo's – 仓库"), "feature/ü", "main2");
    const made = await s.resources.addResource({
      type: "git-checkout",
      name: "api",
      arguments: { path, branch: "feature/ü" },
    });
    expect(made).toMatchObject({ path, branch: "feature/ü" });
    const linked = join(s.directory, "linked");
    git(path, "worktree", "add", "--quiet", linked, "main2");
    expect(
      await s.resources.addResource({ type: "git-checkout", name: "linked", arguments: { path: linked } }),
    ).toMatchObject({ path: linked, branch: undefined });
  });

  test("is refused with the reason", async () => {
    await using s = await setting();
    const path = makeRepository(join(s.directory, "repo"), "develop");
    await mkdir(join(path, "src"));
    git(s.directory, "init", "--quiet", "--bare", "bare");
    await mkdir(join(s.directory, "plain"));
    git(s.directory, "init", "--quiet", "--initial-branch=main", "empty");
    for (const [error, expected] of [
      [await add(s, join(s.directory, "plain")), "is not in a git repository"],
      [await add(s, join(s.directory, "bare")), "is a bare repository"],
      [await add(s, join(path, ".git")), "is inside a repository's own .git directory"],
      [await add(s, join(path, "src")), "is not the top of its work tree"],
      [await add(s, path, "devlop"), 'there is no branch "devlop"'],
      [await add(s, path, "refs/heads/main"), "there is no branch"],
      [await add(s, join(s.directory, "empty"), "main"), "the repository has no commit yet"],
    ] as const) {
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ message: expect.stringContaining(expected) });
    }
    expect(await add(s, join(path, "src"))).toMatchObject({ issues: [{ suggestion: path }] });
    expect(await add(s, path, "devlop")).toMatchObject({ issues: [{ path: "branch", suggestion: "develop" }] });
    expect(await s.resources.listResources()).toEqual([]);
    expect(await add(s, join(s.directory, "empty"))).toBe(join(s.directory, "empty"));
  });

  test("is judged by itself, not by the repository that a git hook around us speaks of", async () => {
    await using s = await setting();
    const mine = makeRepository(join(s.directory, "mine"));
    const other = makeRepository(join(s.directory, "other"), "theirs");
    process.env["GIT_DIR"] = join(other, ".git");
    process.env["GIT_WORK_TREE"] = other;
    try {
      expect(await add(s, mine, "theirs")).toMatchObject({ message: expect.stringContaining("no branch") });
      expect(await add(s, mine, "main")).toBe(mine);
    } finally {
      delete process.env["GIT_DIR"];
      delete process.env["GIT_WORK_TREE"];
    }
  });

  test("that git cannot read is told with git's words", async () => {
    await using s = await setting();
    const path = makeRepository(join(s.directory, "repo"));
    await writeFile(join(path, ".git", "config"), "[core\n");
    expect(await add(s, path)).toMatchObject({ message: expect.stringContaining("cannot be read by git: bad config") });
  });

  test("needs git", async () => {
    await using s = await setting();
    const path = makeRepository(join(s.directory, "repo"));
    const before = process.env["PATH"];
    process.env["PATH"] = join(s.directory, "nothing");
    try {
      expect(await add(s, path)).toMatchObject({ code: "configuration", next: [nextStep("diagnostics")] });
    } finally {
      process.env["PATH"] = before;
    }
  });
});

describe("a link", () => {
  test("gives a project a resource under an alias", async () => {
    await using s = await setting();
    const [api, docs] = [await s.add("team/api"), await s.add("docs")];
    await s.projects.createProject({ name: "Shop" });
    const first = await s.resources.linkResource("shop", "TEAM/API");
    expect(first).toMatchObject({ project: "local/Shop", resource: api, alias: "api", readOnly: false });
    const second = await s.resources.linkResource("shop", "docs", { alias: "Manual", readOnly: true });
    expect(second).toMatchObject({ resource: docs, alias: "Manual", readOnly: true });
    expect(await s.projects.getProject("shop")).toMatchObject({ resources: [first, second] });
    expect((await s.projects.listProjects())[0]?.resources).toHaveLength(2);
    expect((await s.resources.getResource("docs")).projects).toEqual([second]);
    expect((await s.resources.listResources({ namespace: "team" }))[0]?.projects).toEqual([first]);
  });

  test("is refused when the resource or its alias is there, in any case", async () => {
    await using s = await setting();
    for (const name of ["api", "team/api"]) await s.add(name);
    await s.projects.createProject({ name: "shop", resources: ["api"] });
    const link = (resource: string, alias?: string): Promise<unknown> =>
      s.resources.linkResource("shop", resource, { alias }).catch((error: unknown) => error);
    expect(await link("api", "other")).toMatchObject({
      code: "already_exists",
      message: 'The project "local/shop" has the resource "local/api" already, as "api".',
    });
    expect(await link("team/api", "API")).toMatchObject({
      code: "conflict",
      message: 'The alias "API" is taken in the project "local/shop", by "local/api".',
      next: [nextStep("project.link-resource", { project: "local/shop", resource: "team/api", alias: "<alias>" })],
    });
    expect(await link("team/api", "1st")).toBeInstanceOf(ValidationError);
    expect(await link("nothing")).toBeInstanceOf(NotFoundError);
    await expect(s.resources.linkResource("nothing", "api")).rejects.toMatchObject({ detail: { kind: "project" } });
    await expect(s.projects.getProject("nothing")).rejects.toBeInstanceOf(NotFoundError);
    expect((await s.projects.getProject("shop")).resources).toHaveLength(1);
    expect(await link("team/api", "theirs")).toMatchObject({ alias: "theirs" });
  });

  test("is ended by alias or by name", async () => {
    await using s = await setting();
    for (const name of ["api", "web"]) await s.add(name);
    await s.projects.createProject({ name: "shop", resources: [{ resource: "api", alias: "backend" }, "web"] });
    await expect(s.resources.unlinkResource("shop", "bakend")).rejects.toMatchObject({
      code: "not_found",
      next: [nextStep("project.unlink-resource", { project: "local/shop", alias: "backend" })],
    });
    await expect(s.resources.unlinkResource("shop", "something")).rejects.toMatchObject({
      next: [nextStep("project.show", { project: "local/shop" })],
    });
    expect(await s.resources.unlinkResource("SHOP", "BACKEND")).toMatchObject({ resource: "local/api" });
    expect(await s.resources.unlinkResource("shop", "local/WEB")).toMatchObject({ alias: "web" });
    expect((await s.projects.getProject("shop")).resources).toEqual([]);
  });

  test("is not ended by a word that is one's alias and another's name", async () => {
    await using s = await setting();
    for (const name of ["api", "web"]) await s.add(name);
    const resources = [
      { resource: "api", alias: "web" },
      { resource: "web", alias: "api" },
    ];
    await s.projects.createProject({ name: "shop", resources });
    const error = await s.resources.unlinkResource("shop", "api").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({
      next: [
        nextStep("project.unlink-resource", { project: "local/shop", alias: "local/web" }),
        nextStep("project.unlink-resource", { project: "local/shop", alias: "local/api" }),
      ],
    });
    expect(await s.resources.unlinkResource("shop", "local/api")).toMatchObject({ alias: "web" });
  });

  test("stays while the project has active plans", async () => {
    await using s = await setting();
    await s.add("api");
    await s.projects.createProject({ name: "shop", resources: ["api"] });
    await s.plans.createAction(actionInput());
    const { id } = await s.plans.useAction({ action: ACTION_NAME, projects: ["shop"] });
    const error = await s.resources.unlinkResource("shop", "api").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({
      message: 'The project "local/shop" has 1 active plan.',
      actual: { active_plans: [id] },
      next: [nextStep("plan.list", { project: "local/shop" })],
    });
    await s.plans.cancelPlan(id);
    expect(await s.resources.unlinkResource("shop", "api")).toMatchObject({ alias: "api" });
  });
});

describe("removing a resource", () => {
  test("is refused while projects have it, which are named", async () => {
    await using s = await setting();
    await s.add("api");
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) {
      await s.projects.createProject({ name, resources: [{ resource: "api" }] });
    }
    const error = await s.resources.removeResource("api").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({
      message: 'The resource "local/api" is linked to local/a, local/b, local/c, local/d, local/e and 2 more.',
      next: expect.arrayContaining([nextStep("project.unlink-resource", { project: "local/a", alias: "local/api" })]),
    });
    for (const name of ["a", "b", "c", "d", "e", "f"]) await s.resources.unlinkResource(name, "api");
    await expect(s.resources.removeResource("api")).rejects.toThrow('"local/api" is linked to local/g.');
    await s.projects.deleteProject("g");
    expect(await s.resources.removeResource("API")).toMatchObject({ name: "local/api" });
    await expect(s.resources.removeResource("api")).rejects.toBeInstanceOf(NotFoundError);
    expect(await s.add("api")).toBe("local/api");
  });
});

describe("a project with resources", () => {
  test("is created with all its links, or not at all", async () => {
    await using s = await setting();
    for (const name of ["api", "team/api"]) await s.add(name);
    const before = await recorded(s.store);
    const create = (...resources: string[]): Promise<unknown> =>
      s.projects.createProject({ name: "shop", resources }).catch((error: unknown) => error);
    expect(await create("api", "nothing")).toBeInstanceOf(NotFoundError);
    expect(await create("api", "api")).toMatchObject({
      code: "already_exists",
      next: [nextStep("project.create", { project: "local/shop" })],
    });
    expect(await create("api", "team/api")).toMatchObject({
      code: "conflict",
      next: [
        nextStep("project.create", { project: "local/shop" }),
        nextStep("project.link-resource", { project: "local/shop", resource: "team/api", alias: "<alias>" }),
      ],
    });
    expect(await s.projects.listProjects()).toEqual([]);
    expect(await recorded(s.store)).toEqual(before);
    expect(await create("api")).toMatchObject({ resources: [{ resource: "local/api", alias: "api" }] });
  });

  test("loses its links when it is deleted, by force too, and the resources stay", async () => {
    await using s = await setting();
    for (const name of ["api", "web"]) await s.add(name);
    await s.projects.createProject({ name: "shop", resources: ["api", "web"] });
    await s.projects.createProject({ name: "site", resources: ["web"] });
    await s.plans.createAction(actionInput());
    const { id } = await s.plans.useAction({ action: ACTION_NAME, projects: ["shop"] });
    await expect(s.projects.deleteProject("shop")).rejects.toThrow("has 1 active plan.");
    expect((await s.projects.getProject("shop")).resources).toHaveLength(2);
    const deleted = await s.projects.deleteProject("shop", { force: true });
    expect(deleted.cancelled).toEqual([id]);
    expect(deleted.unlinked.map(({ alias }) => alias)).toEqual(["api", "web"]);
    const listed = await s.resources.listResources();
    expect(listed.map(({ name, projects }) => [name, projects.map(({ project }) => project)])).toEqual([
      ["local/api", []],
      ["local/web", ["local/site"]],
    ]);
    expect((await s.projects.createProject({ name: "shop" })).resources).toEqual([]);
  });
});

test("every change leaves one event and one audit entry that say the same", async () => {
  await using s = await setting();
  const path = makeRepository(join(s.directory, "repo"));
  await s.resources.addResource({ type: "git-checkout", name: "api", arguments: { path, branch: "main" } });
  await s.add("docs");
  await s.projects.createProject({ name: "shop", resources: ["api"] });
  await s.resources.linkResource("shop", "docs", { alias: "manual", readOnly: true });
  await s.resources.unlinkResource("shop", "manual");
  await s.resources.removeResource("docs");
  await s.projects.deleteProject("shop");
  const { events, audited } = await recorded(s.store);
  const linked = { project: "local/shop", resource: "local/docs", alias: "manual" };
  expect(events).toEqual([
    ["resource.added", { resource: "local/api", type: "git-checkout", path, branch: "main", sandbox: "git_worktree" }],
    [
      "resource.added",
      { resource: "local/docs", type: "fs-directory", path: join(s.directory, "docs"), sandbox: "filesystem_copy" },
    ],
    ["project.created", { project: "local/shop" }],
    ["project.resource_linked", { project: "local/shop", resource: "local/api", alias: "api", read_only: false }],
    ["project.resource_linked", { ...linked, read_only: true }],
    ["project.resource_unlinked", linked],
    ["resource.removed", { resource: "local/docs" }],
    ["project.resource_unlinked", { project: "local/shop", resource: "local/api", alias: "api" }],
    ["project.deleted", { project: "local/shop", cancelled_plans: [], unlinked_resources: ["local/api"] }],
  ]);
  expect(audited).toEqual(events);
  expect((await verifyAudit(s.store, { at: s.clock.now() })).problem).toBeUndefined();
});

const ORPHANS = `SELECT * FROM project_resources
   WHERE resource_key NOT IN (SELECT key FROM resources) OR project_key NOT IN (SELECT key FROM projects)`;

describe.each(STORE_KINDS)("many at once on %s", (kind) => {
  test("one of many adds of a name wins", async () => {
    await using s = await setting(kind);
    const outcomes = await Promise.all(Array.from({ length: CALLERS }, () => outcomeOf(s.add("api"))));
    expect(winners(outcomes)).toHaveLength(1);
    for (const error of losses(outcomes)) expect([error.name, error.code]).toEqual(["ConflictError", "already_exists"]);
    expect((await recorded(s.store)).events).toHaveLength(1);
  });

  test("one of many links of a resource, and of an alias, wins", async () => {
    await using s = await setting(kind);
    await s.projects.createProject({ name: "shop" });
    for (let index = 0; index < CALLERS; index += 1) await s.add(`r${index}`);
    const same = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        outcomeOf(s.resources.linkResource("shop", "r0", { alias: `alias${index}` })),
      ),
    );
    expect(winners(same)).toHaveLength(1);
    const alias = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        outcomeOf(s.resources.linkResource("shop", `r${index}`, { alias: index % 2 === 0 ? "Same" : "sAME" })),
      ),
    );
    expect(winners(alias)).toHaveLength(1);
    for (const error of [...losses(same), ...losses(alias)]) expect(error.exit).toBe(4);
    expect((await s.projects.getProject("shop")).resources).toHaveLength(2);
  });

  test("linking, unlinking, removing, adding and deleting race: never a link without its resource and project", async () => {
    await using s = await setting(kind);
    await s.add("api");
    await s.projects.createProject({ name: "shop" });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => s.resources.linkResource("shop", "api"),
      () => s.resources.removeResource("api"),
      () => s.add("api"),
      () => s.resources.unlinkResource("shop", "api"),
      () => s.projects.deleteProject("shop"),
      () => s.projects.createProject({ name: "shop", resources: ["api"] }),
    ];
    const seed = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Date.now() % 1_000_000);
    const random = seededRandom(seed);
    const wrong: unknown[] = [];
    // Each lane waits for its own calls only, so that every kind of call meets every state that the others leave.
    const lane = async (): Promise<void> => {
      for (let call = 0; call < CALLERS; call += 1) {
        const outcome = await outcomeOf(calls[Math.floor(random() * calls.length)]!());
        wrong.push(...losses([outcome]).filter(({ exit }) => exit !== 3 && exit !== 4));
        wrong.push(...(await s.store.read((reader) => reader.all(ORPHANS))));
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    const { events, audited } = await recorded(s.store);
    expect(audited).toEqual(events);
    const count = (type: string): number => events.filter((event) => Array.isArray(event) && event[0] === type).length;
    expect(count("resource.removed"), `seed ${seed}`).toBeGreaterThan(0);
    expect(count("project.resource_linked") - count("project.resource_unlinked")).toBe(
      (await s.resources.listResources()).flatMap(({ projects }) => projects).length,
    );
    expect((await verifyAudit(s.store, { at: s.clock.now() })).problem).toBeUndefined();
  });
});
