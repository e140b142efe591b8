/** Validations: registered, attached, run at the end of execute, shown, and unable to change anything. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { SandboxHome } from "../execution/testing/sandbox-home.ts";
import { ShopWorld } from "./testing/shop-world.ts";

const WRITE = `  - { id: write, tool: write_file, params: { path: hello.txt, content: "hello\\n" } }\n`;

async function add(world: ShopWorld, name: string, rest: string): Promise<Envelope> {
  world.agents.write("validation.yaml", `name: ${name}\ndescription: checks ${name}\n${rest}\n`);
  return world.agents.json("validation", "add", "--config", "validation.yaml");
}

/** Adds it and attaches it to the repository; the attachment's id. */
async function attached(world: ShopWorld, name: string, rest: string, ...scope: string[]): Promise<string> {
  await add(world, name, rest);
  const { data, error } = await world.agents.json("validation", "attach", "api", name, ...scope);
  if (error !== undefined) throw new Error(error.message);
  return String((data["attachment"] as Record<string, unknown>)["attachment_id"]);
}

test("a validation is added, listed, shown, attached, detached by a prefix and removed; each once, and in the audit log", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  expect((await agents.run(["validation", "list"])).stdout).toContain("agents validation add --config <file>");
  const added = await add(world, "tests", "command: npm test\ncwd: web\ntimeout_ms: 5000");
  expect(added).toMatchObject({
    command: "validation add",
    data: { validation: { name: "local/tests", mode: "required", command: "npm test", cwd: "web", timeout_ms: 5000 } },
  });
  expect(await add(world, "TESTS", "command: x")).toMatchObject({ exit_code: 4, error: { code: "ALREADY_EXISTS" } });
  const tool = await add(world, "readable", "mode: informational\ntool: read-file\nparams: { path: README }");
  expect(tool.data).toMatchObject({ validation: { tool: "read_file", params: { path: "README" } } });
  await world.plan(WRITE);
  const everywhere = await agents.json("validation", "attach", "api", "Tests");
  expect(everywhere.data).toMatchObject({
    attached: true,
    attachment: { validation: "local/tests", resource: "local/api", scope: "everywhere", project: null, plan_id: null },
  });
  expect(await agents.json("validation", "attach", "api", "tests")).toMatchObject({
    exit_code: 4,
    error: { code: "ALREADY_EXISTS" },
  });
  expect((await agents.json("validation", "attach", "api", "tests", "--project", "shop")).exit_code).toBe(0);
  const listed = await agents.json("validation", "list");
  expect(listed.data).toMatchObject({ summary: { total: 2, attachments: 2 } });
  const shown = await agents.run(["validation", "show", "tests"]);
  expect(shown.stdout).toContain("in plans of local/shop");
  expect(await agents.json("validation", "remove", "tests", "--yes")).toMatchObject({
    exit_code: 4,
    error: { message: 'The validation "local/tests" is attached to local/api.' },
  });
  expect((await agents.json("validation", "remove", "tests")).exit_code).toBe(2);
  const { attachments } = (await agents.json("validation", "show", "tests")).data["validation"] as {
    attachments: { attachment_id: string }[];
  };
  const [first = { attachment_id: "" }, second = { attachment_id: "" }] = attachments;
  expect(await agents.json("validation", "detach", first.attachment_id.slice(0, 4))).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("Several attachments begin with") },
  });
  expect((await agents.json("validation", "detach", first.attachment_id.toLowerCase())).data).toMatchObject({
    detached: true,
  });
  expect((await agents.json("validation", "detach", second.attachment_id.slice(0, 4))).exit_code).toBe(0);
  expect((await agents.json("validation", "detach", second.attachment_id)).exit_code).toBe(3);
  expect((await agents.json("validation", "detach", "no-id")).exit_code).toBe(2);
  expect((await agents.json("validation", "remove", "tests", "--yes")).data).toEqual({
    removed: true,
    validation: "local/tests",
  });
  const { entries } = (await agents.json("audit", "list", "--limit", "100")).data as { entries: { type: string }[] };
  const types = entries.map(({ type }) => type).filter((type) => type.startsWith("validation"));
  expect(types.sort()).toEqual([
    "validation.added",
    "validation.added",
    "validation.attached",
    "validation.attached",
    "validation.detached",
    "validation.detached",
    "validation.removed",
  ]);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("what cannot be registered or attached is refused with its place and a suggestion, and nothing is written", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  const id = await world.plan(WRITE);
  const unknown = await add(world, "x", "comand: npm test");
  expect(unknown.error?.detail["issues"]).toMatchObject([
    { message: expect.stringContaining('exactly one of "command" and "tool"') },
    { file: "validation.yaml", line: 3, path: "comand", suggestion: "command" },
  ]);
  for (const [rest, message] of [
    ["command: a\ntool: git_status", "exactly one of"],
    ["tool: write_file\nparams: { path: a, content: b }", "may change files"],
    ["tool: shell_execute", 'say "command" to run one'],
    ["tool: git_sttus", "there is no tool"],
    ["tool: git_status\ncwd: web", "is only for a command"],
    ["command: a\nparams: { a: 1 }", "is only for a tool"],
    ["tool: read_file\nparams: { file: a }", "params.path"],
    ["tool: read_file\nparams: { path: a, resource: api }", 'key: "resource"'],
    ["command: a\nmode: optional", "it must be required or informational"],
    ["command: a\ncwd: ../up", 'contains ".."'],
    ["command: a\ntimeout_ms: 0", "must be at least 1"],
  ] as const) {
    const { exit_code, error } = await add(world, "x", rest);
    expect([exit_code, JSON.stringify(error?.detail).replaceAll("\\", "")]).toEqual([
      2,
      expect.stringContaining(message),
    ]);
  }
  expect((await agents.json("validation", "list")).data["validations"]).toEqual([]);
  await add(world, "ok", "command: 'true'");
  await agents.json("project", "create", "other");
  const attach = (...words: string[]): Promise<Envelope> => agents.json("validation", "attach", ...words);
  expect(await attach("api", "ok", "--project", "shop", "--plan", id)).toMatchObject({
    exit_code: 2,
    error: { code: "USAGE", message: expect.stringContaining("not both") },
  });
  expect(await attach("api", "ok", "--project", "other")).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("does not have the resource") },
  });
  expect(await attach("aip", "ok")).toMatchObject({ exit_code: 3, error: { detail: { suggestion: "local/api" } } });
  expect(await attach("api", "okk")).toMatchObject({ exit_code: 3, error: { detail: { suggestion: "local/ok" } } });
  await agents.json("resource", "add", "fs-directory", "loose", "--path", agents.directory);
  expect((await attach("loose", "ok", "--plan", id)).error?.message).toContain("No project of the plan");
  await attach("loose", "ok");
  expect(await agents.json("resource", "remove", "loose", "--yes")).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("has validations attached to it: local/ok") },
  });
  await agents.json("plan", "cancel", id);
  expect((await attach("api", "ok", "--plan", id)).exit_code).toBe(4);
});

test("at the end of execute each is run, the required ones first; failing ones are told and block only the apply", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  const id = await world.plan(WRITE);
  await attached(world, "greets", "command: grep hello hello.txt", "--project", "shop");
  const failing = await attached(world, "a-fails", "command: echo why it failed; exit 3", "--plan", id.slice(0, 20));
  await attached(world, "broken", "mode: informational\ncommand: 'true'\ncwd: nowhere");
  await attached(world, "endless", "mode: informational\ncommand: sleep 60\ntimeout_ms: 100");
  await attached(world, "finds", "mode: informational\ntool: search_files\nparams: { pattern: hello }");
  await attached(world, "reads", "mode: informational\ntool: read_file\nparams: { path: missing.txt }");
  expect((await agents.run(["plan", "status", id])).stdout).toContain("6 attached, run at the end of execute");
  const executed = await agents.json("plan", "execute", id);
  expect(executed).toMatchObject({ exit_code: 0, status: "warn", data: { state: "complete", ran: true } });
  expect(executed.data["validations"]).toMatchObject([
    {
      validation: "local/a-fails",
      mode: "required",
      passed: false,
      message: "The command ended with exit code 3.",
      output: "why it failed\n",
    },
    { validation: "local/greets", mode: "required", passed: true, output: "hello\n", changed_files: [] },
    { validation: "local/broken", passed: false, message: expect.stringContaining("nowhere") },
    { validation: "local/endless", passed: false, message: "The command did not end within 100 ms." },
    { validation: "local/finds", passed: true, output: expect.stringContaining("hello.txt") },
    { validation: "local/reads", passed: false, message: expect.stringContaining("missing.txt") },
  ]);
  const blocking = [{ attachment_id: failing, validation: "local/a-fails", resource: "api", reason: "failed" }];
  expect(executed.data["validation_summary"]).toMatchObject({
    where: "sandbox",
    run: 1,
    total: 6,
    required_passed: 1,
    required_failed: 1,
    informational_passed: 1,
    informational_failed: 3,
    all_required_passed: false,
    blocking,
  });
  expect(executed.messages.slice(-2)).toMatchObject([
    { level: "warning", text: expect.stringMatching(/^Checked: .*a-fails.* failed/) },
    { level: "warning", text: expect.stringContaining("Required validations failed: local/a-fails (api).") },
  ]);
  const again = await agents.run(["plan", "execute", id]);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("why it failed") });
  const status = await agents.json("plan", "status", id);
  expect(status.data["validation_summary"]).toMatchObject({ all_required_passed: false, blocking });
  expect((await agents.run(["plan", "status", id])).stdout).toContain("Required validations failed: local/a-fails");
  await agents.json("validation", "detach", failing);
  expect((await agents.run(["plan", "status", id])).stdout).toContain("2 of 6 validations passed");
  // Attached only now, it says nothing about the plan.
  await attached(world, "late", "command: 'true'");
  expect((await agents.run(["plan", "status", id])).stdout).toContain("Required validations not run: local/late (api)");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("what a validation leaves behind is put back and told, and never becomes part of the plan", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  const id = await world.plan(WRITE);
  const messy = "echo more >> hello.txt; rm a.txt; mkdir out; echo x > out/new.txt; echo log > noise.log";
  await attached(world, "a-messy", `command: "${messy}"`);
  await attached(world, "clean", 'command: "test ! -e out && cat hello.txt a.txt noise.log"');
  const { data } = await agents.json("plan", "execute", id);
  expect(data["validations"]).toMatchObject([
    { validation: "local/a-messy", passed: true, changed_files: ["a.txt", "hello.txt", "out/new.txt"] },
    { validation: "local/clean", passed: true, changed_files: [], output: "hello\none\ntwo\nlog\n" },
  ]);
  expect(data["changes"]).toMatchObject({ files: 1 });
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([{ path: "hello.txt" }]);
  const tree = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  expect(readFileSync(join(tree, "hello.txt"), "utf8")).toBe("hello\n");
  expect(existsSync(join(tree, "out"))).toBe(false);
});

test("an interrupted run continues after its results; another attempt validates again", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  const id = await world.plan(WRITE);
  const home = new SandboxHome(agents.dataDir, id);
  // The second attempt has a home of its own, in which nothing waits.
  const waits = "case $HOME in */1/api/home) test -e $HOME/go || sleep 60;; esac";
  await attached(world, "a-first", "command: echo first >> $HOME/log");
  await attached(world, "b-slow", `command: echo slow >> $HOME/log; ${waits}`);
  const { code, stderr } = await world.interrupted(id, () => home.read("log").includes("slow"));
  expect([code, stderr]).toEqual([1, expect.stringContaining("was interrupted")]);
  expect(stderr).toMatch(/passed {3}local\/a-first {2}api .*\nstarted {2}local\/b-slow {2}api\n/);
  home.write("go");
  const resumed = await agents.json("plan", "execute", id);
  expect(resumed.data["validation_summary"]).toMatchObject({ run: 1, required_passed: 2, all_required_passed: true });
  expect(home.read("log")).toBe("first\nslow\nslow\n");
  await agents.json("plan", "execute", id);
  expect(home.read("log")).toBe("first\nslow\nslow\n");
  await agents.json("plan", "revert", id);
  expect((await agents.json("plan", "status", id)).data["validation_summary"]).toMatchObject({ total: 0 });
  await agents.json("plan", "execute", id);
  expect(new SandboxHome(agents.dataDir, id, { attempt: 2 }).read("log")).toBe("first\nslow\n");
});

test("a deleted project takes along what was attached for it", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  await world.plan(WRITE);
  await attached(world, "tests", "command: 'true'", "--project", "shop");
  expect((await agents.json("project", "delete", "shop", "--force", "--yes")).exit_code).toBe(0);
  expect((await agents.json("validation", "remove", "tests", "--yes")).exit_code).toBe(0);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});
