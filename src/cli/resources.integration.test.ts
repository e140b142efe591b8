import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents } from "./testing/agents.ts";

const UGLY = "my répo's $(x) – 仓库";

/** A user with a git repository in `repo`, on branches `main` and `develop`, and a plain directory of an ugly name. */
function user(): Agents & { readonly home: string } {
  const agents = new Agents();
  const home = realpathSync(agents.directory);
  makeRepository(join(home, "repo"), "develop");
  mkdirSync(join(home, UGLY));
  return Object.assign(agents, { home });
}

test("a resource is added from where the user stands, listed, shown and removed; its files stay", async () => {
  using agents = user();
  makeRepository(join(agents.home, `${UGLY} git`));
  const added = await agents.json("resource", "add", "git-checkout", "api", "--path", "repo", "--branch", "develop");
  expect(added).toMatchObject({ command: "resource add", exit_code: 0 });
  expect(added.data["resource"]).toEqual({
    name: "local/api",
    type: "git-checkout",
    description: null,
    path: join(agents.home, "repo"),
    branch: "develop",
    sandbox: { strategy: "git_worktree" },
    projects: [],
    version: 1,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  await agents.json("resource", "add", "git-checkout", "ugly", "--path", `./${UGLY} git/`);
  const text = await agents.run(["resource", "add", "fs-directory", "team/Data", "--path", UGLY, "-d", "Our data"]);
  expect([text.code, text.stderr]).toEqual([0, ""]);
  expect(text.stdout).toContain("filesystem_copy");
  expect(text.stdout).toContain("agents project link-resource <project> team/Data");

  const all = await agents.json("resource", "list");
  expect(all.data).toMatchObject({
    resources: [
      { name: "local/api" },
      { name: "local/ugly", branch: null },
      { name: "team/Data", description: "Our data" },
    ],
    filters: { type: null, namespace: null },
    summary: { total: 3, by_type: { "git-checkout": 2, "fs-directory": 1 } },
  });
  const some = await agents.json("resource", "list", "--type", "fs-directory", "--namespace", "TEAM");
  expect(some.data).toMatchObject({
    resources: [{ name: "team/Data", path: join(agents.home, UGLY) }],
    filters: { type: "fs-directory", namespace: "TEAM" },
    summary: { total: 1 },
  });
  expect((await agents.run(["resource", "list", "--namespace", "other"])).stdout).toContain("No resource fits.");
  expect((await agents.json("resource", "list", "--type", "git")).exit_code).toBe(2);
  expect((await agents.run(["resource", "show", "TEAM/data"])).stdout).toContain(UGLY);
  expect((await agents.json("resource", "show", "api")).data["resource"]).toEqual(added.data["resource"]);
  expect((await agents.json("resource", "show", "apo")).error).toMatchObject({
    code: "NOT_FOUND",
    suggestions: ["agents resource show local/api"],
  });

  expect(await agents.json("resource", "remove", "team/data")).toMatchObject({
    exit_code: 2,
    error: { suggestions: ["repeat the command with --yes"] },
  });
  const removed = await agents.json("resource", "remove", "team/data", "--yes");
  expect(removed.data).toEqual({ removed: true, resource: "team/Data" });
  expect(existsSync(join(agents.home, UGLY))).toBe(true);
  expect((await agents.json("resource", "remove", "team/data", "--yes")).exit_code).toBe(3);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("what is not a resource is refused before anything is written, with every reason", async () => {
  using agents = user();
  const { home } = agents;
  symlinkSync(join(home, "repo"), join(home, "link"));
  const refused = async (...words: string[]): Promise<string> => {
    const { code, stderr } = await agents.run(["resource", "add", ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Nothing was written.")]);
    return stderr;
  };
  expect(await refused("fs-directory", "d", "--path", UGLY, "--branch", "main")).toContain(
    "branch: fs-directory has none, only git-checkout",
  );
  const both = await refused("git-chekout", "google/x", "--path", "", "--branch=-x");
  for (const part of ["name:", "type:", 'did you mean "git-checkout"?', "path:", "is empty", "branch:"]) {
    expect(both).toContain(part);
  }
  expect(await refused("fs-directory", "d")).toContain("path: fs-directory needs it");
  expect(await refused("fs-directory", "d", "--path", "nothing")).toContain("does not exist");
  expect(await refused("fs-directory", "d", "--path", "repo/README")).toContain("is not a directory");
  expect(await refused("git-checkout", "d", "--path", UGLY)).toContain("is not in a git repository");
  expect(await refused("git-checkout", "d", "--path", "repo", "--branch", "devlop")).toContain(
    'did you mean "develop"?',
  );
  mkdirSync(join(home, "repo", "src"));
  expect(await refused("git-checkout", "d", "--path", "repo/src")).toContain(join(home, "repo"));
  expect((await agents.json("resource", "list")).data["resources"]).toEqual([]);
  expect((await agents.run(["resource", "list"])).stdout).toContain("agents resource add <type> <name> --path <path>");
  const linked = await agents.json("resource", "add", "git-checkout", "d", "--path", "link");
  expect(linked.data["resource"]).toMatchObject({ path: join(home, "repo") });
});

test("resource types are shown as they are declared", async () => {
  using agents = new Agents();
  const listed = await agents.json("resource", "type", "list");
  expect(listed).toMatchObject({ command: "resource type list", data: { summary: { total: 2 } } });
  const shown = await agents.json("resource", "type", "show", "git-checkout");
  expect(shown.command).toBe("resource type show");
  expect(shown.data).toEqual({
    name: "git-checkout",
    source: "built-in",
    description: expect.any(String),
    user_addable: true,
    cli_arguments: [
      { argument: "--path", required: true, type: "path", description: expect.any(String) },
      { argument: "--branch", required: false, type: "string", description: expect.any(String) },
      {
        argument: "--sandbox",
        required: false,
        type: "string",
        description: expect.any(String),
        choices: ["git_worktree", "none"],
      },
    ],
    sandbox: { strategy: "git_worktree" },
  });
  expect(listed.data["resource_types"]).toContainEqual(shown.data);
  expect((await agents.run(["resource", "type", "list"])).stdout).toContain("filesystem_copy");
  expect((await agents.run(["resource", "type", "show", "fs-directory"])).stdout).toContain("--path");
  expect(await agents.json("resource", "type", "show", "fs-directoy")).toMatchObject({
    exit_code: 3,
    error: { code: "NOT_FOUND", suggestions: ["agents resource type show fs-directory"] },
  });
  expect((await agents.json("resource", "type", "show", "zebra")).error?.suggestions).toEqual([
    "agents resource type list",
  ]);
  expect(existsSync(agents.dataDir)).toBe(false);
});

test("commands of three words have help, suggestions and usage errors of their own", async () => {
  using agents = new Agents();
  const help = await agents.run(["resource", "type"]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("Usage: agents resource type")]);
  expect(await agents.json("resource", "type", "lst")).toMatchObject({
    command: "resource type",
    exit_code: 2,
    error: {
      message: 'There is no command "agents resource type lst" — did you mean "agents resource type list"?',
      suggestions: ["agents resource type list"],
    },
  });
  expect(await agents.json("resource", "tpye")).toMatchObject({
    command: "resource",
    error: { suggestions: ["agents resource type"] },
  });
  expect(await agents.json("resource", "type", "show")).toMatchObject({
    command: "resource type show",
    exit_code: 2,
    error: { suggestions: ["agents resource type show --help"] },
  });
  expect(await agents.json("resource", "type", "list", "--bogus")).toMatchObject({ command: "resource type list" });
});

test("a project works on resources under aliases until it is deleted", async () => {
  using agents = user();
  await agents.json("resource", "add", "git-checkout", "api", "--path", "repo", "--branch", "main");
  await agents.json("resource", "add", "fs-directory", "docs", "--path", UGLY);
  const missing = await agents.json("project", "create", "shop", "--resource", "api", "--resource", "dcos");
  expect(missing).toMatchObject({ exit_code: 3, error: { suggestions: ["agents resource show local/docs"] } });
  expect((await agents.json("project", "list")).data["projects"]).toEqual([]);
  const created = await agents.json("project", "create", "shop", "--resource", "api");
  expect(created.data["project"]).toMatchObject({ resources: [{ name: "local/api", alias: "api", read_only: false }] });
  expect(created.messages[0]?.text).toContain("with 1 resource.");

  const linked = await agents.json("project", "link-resource", "shop", "docs", "--alias", "manual", "--read-only");
  expect(linked).toMatchObject({
    command: "project link-resource",
    data: { linked: true, project: "local/shop", resource: { name: "local/docs", alias: "manual", read_only: true } },
  });
  expect((await agents.json("project", "link-resource", "shop", "docs")).exit_code).toBe(4);
  expect((await agents.json("project", "show", "shop")).data["project"]).toMatchObject({
    resources: [
      { name: "local/api", alias: "api", type: "git-checkout", branch: "main", path: join(agents.home, "repo") },
      { name: "local/docs", alias: "manual", type: "fs-directory", branch: null, path: join(agents.home, UGLY) },
    ],
  });
  const { stdout } = await agents.run(["project", "show", "shop"]);
  expect(stdout).toContain("manual");
  expect(stdout).toContain("read-only");
  expect((await agents.run(["project", "list"])).stdout).toContain("RESOURCES");
  expect((await agents.run(["resource", "show", "docs"])).stdout).toContain("local/shop");

  const refused = await agents.json("resource", "remove", "docs", "--yes");
  expect(refused).toMatchObject({
    exit_code: 4,
    error: { suggestions: ["agents project unlink-resource local/shop local/docs"] },
  });
  agents.write("do.yaml", "name: do\ndescription: d\ndefinition_of_done: done\nexecution_actor: openai/gpt-4o\n");
  await agents.json("action", "create", "--config", "do.yaml");
  const plan = String((await agents.json("plan", "use", "do", "shop")).data["plan_id"]);
  expect((await agents.json("project", "unlink-resource", "shop", "manual")).error).toMatchObject({
    code: "CONFLICT",
    detail: { actual: { active_plans: [plan] } },
  });
  await agents.json("plan", "cancel", plan);
  const unlinked = await agents.json("project", "unlink-resource", "shop", "manual");
  expect(unlinked.data).toMatchObject({ unlinked: true, resource: { name: "local/docs" } });
  expect((await agents.json("resource", "remove", "docs", "--yes")).exit_code).toBe(0);

  await agents.json("plan", "use", "do", "shop");
  expect((await agents.json("project", "delete", "shop", "--yes")).exit_code).toBe(4);
  const deleted = await agents.json("project", "delete", "shop", "--force", "--yes");
  expect(deleted.data).toMatchObject({ deletion_summary: { project: "local/shop", resources_unlinked: 1 } });
  expect(deleted.messages[0]?.text).toBe("Project local/shop deleted; 1 plan cancelled; 1 resource unlinked.");
  expect((await agents.json("resource", "show", "api")).data["resource"]).toMatchObject({ projects: [] });
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("many processes at once: one adds a name, and no link outlives its resource", async () => {
  using agents = user();
  await agents.json("project", "create", "shop");
  const add = ["resource", "add", "git-checkout", "api", "--path", "repo"];
  const added = await Promise.all(Array.from({ length: 5 }, () => agents.process(add)));
  expect(added.map(({ code }) => Number(code)).sort((a, b) => a - b)).toEqual([0, 4, 4, 4, 4]);
  const raced = await Promise.all([
    agents.process(["project", "link-resource", "shop", "api"]),
    agents.process(["resource", "remove", "api", "--yes"]),
    agents.process(["project", "link-resource", "shop", "api", "--alias", "other"]),
  ]);
  expect(raced.filter(({ code }) => code === 0)).toHaveLength(1);
  const { data } = await agents.json("resource", "list");
  const [resource] = data["resources"] as { projects: unknown[] }[];
  expect(resource === undefined ? "removed" : resource.projects.length).toBe(raced[1]?.code === 0 ? "removed" : 1);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("the index of a removed resource goes with it, unless another resource has the same directory", async () => {
  using agents = user();
  const repository = join(agents.home, "repo");
  for (const name of ["api", "copy"]) {
    await agents.json("resource", "add", "git-checkout", name, "--path", repository);
  }
  await agents.json("context", "pack", "hello", "--path", repository);
  const indexes = (): string[] =>
    readdirSync(join(agents.dataDir, "index")).filter((name) => /^[0-9a-f]{32}\.db$/.test(name));
  expect(indexes()).toHaveLength(1);
  expect((await agents.json("resource", "remove", "copy", "--yes")).exit_code).toBe(0);
  expect(indexes()).toHaveLength(1);
  expect((await agents.json("resource", "remove", "api", "--yes")).exit_code).toBe(0);
  expect(indexes()).toEqual([]);
});
