/** Plans that work in place: who may, what they may do there, and how their work is taken over and taken out again. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InPlace, STEPS, UNSAFE } from "./testing/in-place.ts";
import { register } from "./testing/world.ts";

const ACTION = "name: greet\ndescription: Greet\ndefinition_of_done: Done\nexecution_actor: local/greeter\n";

test("resources say where plans work, and take no other word for it", async () => {
  using world = new InPlace();
  const { agents, repository } = world;
  const add = (...words: string[]): ReturnType<typeof agents.json> =>
    agents.json("resource", "add", ...words, "--path", repository);
  expect((await add("git-checkout", "a")).data["resource"]).toMatchObject({ sandbox: { strategy: "git_worktree" } });
  expect((await add("git-checkout", "b", "--sandbox", "none")).data["resource"]).toMatchObject({
    sandbox: { strategy: "none" },
  });
  expect((await add("fs-directory", "c", "--sandbox", "filesystem_copy")).exit_code).toBe(0);
  for (const [type, word] of [
    ["fs-directory", "git_worktree"],
    ["git-checkout", "filesystem_copy"],
    ["git-checkout", ""],
  ] as const) {
    const refused = await add(type, "d", "--sandbox", word);
    expect(refused).toMatchObject({ exit_code: 2, error: { detail: { issues: [{ path: "sandbox" }] } } });
  }
  expect((await agents.run(["resource", "show", "b"])).stdout).toContain("none: plans work in place");
  const { data } = await agents.json("resource", "type", "show", "fs-directory");
  const words = { argument: "--sandbox", choices: ["filesystem_copy", "none"], required: false };
  expect(data["cli_arguments"]).toContainEqual(expect.objectContaining(words));
});

test("only a profile without required sandboxes lets a plan work in place, and it says so everywhere", async () => {
  using world = new InPlace();
  const { agents, place } = world;
  await expect(world.plan(STEPS)).rejects.toThrow('the automation profile "supervised" requires a sandbox');
  const refused = await agents.json("plan", "use", "greet", "shop", "--arg", "who=world");
  expect(refused).toMatchObject({ exit_code: 1, error: { code: "POLICY", kept: "Nothing was written." } });
  expect((await agents.json("plan", "list")).data["plans"]).toEqual([]);

  const used = await agents.json("plan", "use", "greet", "shop", "--arg", "who=world", ...UNSAFE);
  expect(used.data).toMatchObject({ in_place: [{ resource: "api", path: place }] });
  const id = String(used.data["plan_id"]);
  expect((await agents.run(["plan", "status", id])).stdout).toContain(`in place, without a sandbox: ${place}`);
  expect((await agents.json("plan", "execute", id)).data).toMatchObject({
    sandboxes: [{ strategy: "none", path: place, status: "in place" }],
  });
  const { data } = await agents.json("cleanup", "list");
  expect(data).toMatchObject({ sandboxes: [], in_place: [{ plan_id: id, resource: "api", path: place }] });
  expect((await agents.run(["cleanup", "list"])).stdout).toContain("in place: 1 resource");
  expect((await agents.json("cleanup", "run", "--yes")).data).toEqual({ removed: [], cancelled: [] });
  expect(world.read("a.txt")).toBe("one\n2\n");
});

test("a plan that mixes places, or runs commands in place, is refused when it is made and again when it is executed", async () => {
  using world = new InPlace();
  const { agents, repository } = world;
  const other = join(agents.directory, "other");
  mkdirSync(other);
  const id = await world.unsafePlan();
  const use = (): ReturnType<typeof agents.json> =>
    agents.json("plan", "use", "greet", "shop", "--arg", "who=world", ...UNSAFE);
  const refused = (why: string): object => ({
    exit_code: 1,
    error: { code: "POLICY", message: expect.stringContaining(why) },
  });

  agents.write("tests.yaml", "name: tests\ndescription: Tests\nmode: required\ncommand: touch x\n");
  await agents.json("validation", "add", "--config", "tests.yaml");
  const { data } = await agents.json("validation", "attach", "api", "tests");
  const attachment = String((data["attachment"] as Record<string, unknown>)["attachment_id"]);
  for (const call of [use, () => agents.json("plan", "execute", id)])
    expect(await call()).toMatchObject(refused("runs a command"));
  expect((await agents.json("validation", "detach", attachment)).exit_code).toBe(0);

  await agents.json("resource", "add", "fs-directory", "other", "--path", other);
  await agents.json("project", "link-resource", "shop", "other");
  for (const call of [use, () => agents.json("plan", "execute", id)])
    expect(await call()).toMatchObject(refused("could not be applied to both or to neither"));
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "strategize", state: "queued" });
  expect(world.git("status", "--porcelain")).toBe("");
  expect(readdirSync(repository).sort()).toEqual([".git", ".gitignore", "a.txt", "docs"]);
});

test("a plan in place changes the files and nothing in the repository; it is taken over, taken out and brought back", async () => {
  using world = new InPlace();
  const { agents, place } = world;
  const hook = join(world.repository, ".git/hooks/pre-commit");
  writeFileSync(hook, "#!/bin/sh\ntouch hooked\n");
  chmodSync(hook, 0o755);
  writeFileSync(join(world.repository, ".git/info/exclude"), "*.mine\n");
  world.write("staged.txt", "staged\n");
  world.git("add", "staged.txt");
  world.write("a.txt", "one\ntwo\nnot committed\n");
  chmodSync(join(world.repository, "a.txt"), 0o600);
  const id = await world.unsafePlan(`${STEPS}  - { id: status, tool: git_status, params: {} }
  - { id: log, tool: git_log, params: {} }
  - { id: diff, tool: git_diff, params: {} }
  - { id: blame, tool: git_blame, params: { path: a.txt } }
  - { id: find, tool: search_files, params: { pattern: new } }
`);
  const before = world.gitBytes();
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0, data: { hooks: [], left_out: [] } });
  expect(world.read("a.txt")).toBe("one\n2\nnot committed\n");
  expect(statSync(join(world.repository, "a.txt")).mode & 0o777).toBe(0o600);
  expect(world.read("docs/new.txt")).toBe("new\n");
  for (const view of ["diff", "artifacts", "tree"]) expect((await agents.json("plan", view, id)).exit_code).toBe(0);
  const patch = String((await agents.json("plan", "diff", id)).data["patch"]);
  expect(patch).toContain("-two\n+2\n");
  expect(patch).not.toContain("+not committed");
  expect((await agents.json("plan", "explain", id, "edit")).exit_code).toBe(0);

  const applied = await agents.json("plan", "apply", id, "--yes");
  expect(applied).toMatchObject({ exit_code: 0, data: { state: "applied", landings: [], changed_since: [] } });
  expect(applied.messages[0]?.text).toContain(`the changes are in ${place} already`);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(world.read("a.txt")).toBe("one\ntwo\nnot committed\n");
  expect(existsSync(join(world.repository, "docs/new.txt"))).toBe(false);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(4);
  expect((await agents.json("plan", "redo", id, "--yes")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--decision", "make", "--yes")).exit_code).toBe(0);
  expect(world.read("a.txt")).toBe("one\n2\nnot committed\n");
  expect(existsSync(join(world.repository, "docs/new.txt"))).toBe(false);
  expect(world.gitBytes()).toBe(before);
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
  expect(existsSync(join(world.repository, "hooked"))).toBe(false);
  expect(world.leftovers()).toEqual([]);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("in a plain directory too, and directories that the plan made go with its files", async () => {
  using world = new InPlace("fs-directory");
  const { agents } = world;
  mkdirSync(join(world.repository, "empty"));
  const id =
    await world.unsafePlan(`  - { id: deep, tool: write_file, params: { path: new/deep/n.txt, content: "n\\n" } }
  - { id: fill, tool: write_file, params: { path: empty/x.log, content: "x\\n" } }
`);
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(readdirSync(world.repository).sort()).toEqual([".git", ".gitignore", "a.txt", "docs", "empty"]);
});

test("steps that run at the same time, on two resources in place, each land as a whole", async () => {
  using world = new InPlace("fs-directory");
  const { agents } = world;
  const notes = join(agents.directory, "notes");
  mkdirSync(notes);
  const names = Array.from({ length: 24 }, (_, index) => `s${index}`);
  const steps = names.map((name, index) => {
    const resource = index % 2 === 0 ? "api" : "notes";
    return `  - { id: ${name}, needs: [${index === 0 ? "" : "s0"}], tool: write_file, params: { resource: ${resource}, path: n/${name}, content: x } }\n`;
  });
  await register(agents, { steps: steps.join(""), action: ACTION, resource: world.resource });
  await agents.json("resource", "add", "fs-directory", "notes", "--path", notes, "--sandbox", "none");
  await agents.json("project", "link-resource", "shop", "notes");
  const { data } = await agents.json("plan", "use", "greet", "shop", ...UNSAFE);
  const id = String(data["plan_id"]);
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0, data: { changes: { files: 24 } } });
  for (const place of [world.repository, notes]) expect(readdirSync(join(place, "n"))).toHaveLength(12);
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  for (const place of [world.repository, notes]) expect(readdirSync(place)).not.toContain("n");
});

test("what can only be found by comparing is refused, with what to do instead", async () => {
  using world = new InPlace();
  const id = await world.unsafePlan(`${STEPS}  - { id: run, tool: shell_execute, params: { command: touch ran } }\n`);
  const failed = await world.agents.json("plan", "execute", id);
  expect(failed).toMatchObject({ exit_code: 1, error: { code: "POLICY" } });
  expect(failed.error?.message).toContain('The step "run" cannot run in place');
  expect(failed.error?.suggestions.join()).toContain("without --sandbox none");
  // Before the steps in front of it did anything.
  expect(world.git("status", "--porcelain")).toBe("");
});

test("a validation that only looks runs in place, and one that fails keeps the plan from being applied", async () => {
  using world = new InPlace();
  const { agents } = world;
  agents.write(
    "found.yaml",
    "name: found\ndescription: Found\nmode: required\ntool: read_file\nparams: { path: docs/new.txt }\n",
  );
  const id = await world.unsafePlan();
  await agents.json("validation", "add", "--config", "found.yaml");
  await agents.json("validation", "attach", "api", "found");
  expect((await agents.json("plan", "execute", id)).data).toMatchObject({ validations: [{ passed: true }] });
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);

  agents.write(
    "missing.yaml",
    "name: missing\ndescription: Missing\nmode: required\ntool: read_file\nparams: { path: none }\n",
  );
  await agents.json("validation", "add", "--config", "missing.yaml");
  await agents.json("validation", "attach", "api", "missing");
  await agents.json("plan", "undo", id, "--yes");
  const second = await world.another(...UNSAFE);
  await agents.json("plan", "execute", second);
  const constrained = await agents.json("plan", "apply", second, "--yes");
  expect(constrained).toMatchObject({ exit_code: 1, error: { code: "CONSTRAINED" } });
  expect(constrained.error?.suggestions).toContain(`agents plan undo ${second}`);
  expect((await agents.json("plan", "undo", second, "--yes")).exit_code).toBe(0);
  expect(world.git("status", "--porcelain")).toBe("");
});

test("ignored files are not part of a plan, and files that are ignored no longer stay their owner's", async () => {
  using world = new InPlace();
  const { agents } = world;
  world.write("mine.log", "mine\n");
  const rules = `  - { id: rules, tool: edit_file, params: { path: .gitignore, old: "*.log", new: "*.tmp" } }\n`;
  const id = await world.unsafePlan(
    `${rules}  - { id: ignored, tool: write_file, params: { path: x.tmp, content: x } }\n`,
  );
  expect((await agents.json("plan", "execute", id)).error).toMatchObject({
    code: "CONTAINED",
    message: expect.stringContaining("is ignored by git"),
  });
  const { data } = await agents.json("plan", "artifacts", id);
  expect(JSON.stringify(data)).not.toContain("mine.log");
  expect((await agents.json("plan", "undo", id, "--yes")).exit_code).toBe(0);
  expect(world.read("mine.log")).toBe("mine\n");
  expect(world.read(".gitignore")).toBe("*.log\n");
});

test.each([
  ["../outside.txt", "CONTAINED"],
  [".git/config", "CONTAINED"],
  ["link/x.txt", "CONTAINED"],
  ["a.txt/x.txt", "TOOL_FAILED"],
])("a write to %s is refused", async (path, code) => {
  using world = new InPlace();
  mkdirSync(join(world.agents.directory, "outside"));
  symlinkSync(join(world.agents.directory, "outside"), join(world.repository, "link"));
  const id = await world.unsafePlan(`  - { id: out, tool: write_file, params: { path: "${path}", content: x } }\n`);
  const before = world.gitBytes();
  expect((await world.agents.json("plan", "execute", id)).error).toMatchObject({ code });
  expect(world.gitBytes()).toBe(before);
  expect(readdirSync(join(world.agents.directory, "outside"))).toEqual([]);
  expect(world.read("a.txt")).toBe("one\ntwo\n");
});

test("a plan that stopped is undone as it is; only then can it be sent back, and only brought back can it go on", async () => {
  using world = new InPlace();
  const { agents } = world;
  const id = await world.unsafePlan(`${STEPS}  - { id: fail, tool: read_file, params: { path: missing.txt } }\n`);
  const call = (...words: string[]): ReturnType<typeof agents.json> => agents.json("plan", ...words);
  expect((await call("execute", id)).exit_code).toBe(1);
  expect(await call("rollback", id, "start", "--yes")).toMatchObject({ exit_code: 1, error: { code: "POLICY" } });
  const back = await call("revert", id);
  expect(back).toMatchObject({ exit_code: 1, error: { code: "POLICY", suggestions: [`agents plan undo ${id}`] } });
  expect(await call("undo", id, "--decision", "make", "--yes")).toMatchObject({ exit_code: 4 });

  expect(await call("undo", id, "--yes")).toMatchObject({ exit_code: 0, data: { phase: "execute", state: "errored" } });
  expect(world.git("status", "--porcelain")).toBe("");
  for (const deed of ["execute", "apply"])
    expect((await call(deed, id, ...(deed === "apply" ? ["--yes"] : []))).exit_code).toBe(4);
  expect(await call("redo", id, "--yes")).toMatchObject({ exit_code: 0 });
  expect(world.read("a.txt")).toBe("one\n2\n");
  world.write("missing.txt", "here\n");
  expect(await call("execute", id)).toMatchObject({
    exit_code: 0,
    data: { steps: [{ status: "recorded" }, { status: "recorded" }, { status: "done" }] },
  });

  expect((await call("undo", id, "--yes")).exit_code).toBe(0);
  expect(await call("revert", id)).toMatchObject({ exit_code: 0, data: { attempt: 2 } });
  expect(await call("execute", id)).toMatchObject({ exit_code: 0, data: { changes: { files: 2 } } });
  expect(await call("status", id)).toMatchObject({ data: { undone_at: null, undone_steps: [] } });
  const cancelled = await call("cancel", id);
  expect(cancelled.messages.map(({ text }) => text).join()).toContain(`are still in ${world.place}`);
  expect(await call("undo", id, "--yes")).toMatchObject({ exit_code: 0, data: { state: "cancelled" } });
  expect(world.git("status", "--porcelain")).toBe("?? missing.txt\n");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("a resource for another branch, or with the data directory inside, is refused before anything is changed", async () => {
  using world = new InPlace();
  world.git("branch", "other");
  const resource = ["git-checkout", "api", "--path", world.repository, "--sandbox", "none", "--branch", "other"];
  await register(world.agents, { steps: STEPS, action: ACTION, resource });
  const { data } = await world.agents.json("plan", "use", "greet", "shop", ...UNSAFE);
  const failed = await world.agents.json("plan", "execute", String(data["plan_id"]));
  expect(failed.error).toMatchObject({ code: "RESOURCE_FAILED", message: expect.stringContaining("not checked out") });

  using inside = new InPlace();
  await register(inside.agents, {
    steps: STEPS,
    action: ACTION,
    resource: ["fs-directory", "api", "--path", inside.agents.directory, "--sandbox", "none"],
  });
  const plan = await inside.agents.json("plan", "use", "greet", "shop", ...UNSAFE);
  const refused = await inside.agents.json("plan", "execute", String(plan.data["plan_id"]));
  expect(refused.error).toMatchObject({ message: expect.stringContaining("contains the data directory") });
  for (const one of [world, inside]) expect(one.read("a.txt")).toBe("one\ntwo\n");
});
