import { expect, test } from "vitest";
import { parse } from "yaml";
import { Agents, type Envelope } from "./testing/agents.ts";

const GREETER = `name: local/greeter
type: tool
description: Writes a greeting and upper-cases it
steps:
  - { id: write, tool: write-file, params: { resource: api, path: "docs/{file}.txt", content: "hello {who}\\n" } }
  - { id: shout, tool: shell_execute, params: { resource: api, command: "tr a-z A-Z < docs/{file|sh}.txt > docs/LOUD.txt" }, needs: [write] }
  - { tool: git_status, params: { resource: api } }
`;

const ACTION = `name: greet
description: Greet {who}
definition_of_done: docs/LOUD.txt greets {who}
execution_actor: local/Greeter
arguments:
  - { name: who, required: true }
  - { name: file, default: hello }
`;

test("an actor is added, listed, shown and removed, and every answer is one envelope, the same in yaml", async () => {
  using agents = new Agents();
  const none = await agents.json("actor", "list");
  const noActors = { strategy: null, execution: null };
  expect(none.data).toEqual({
    actors: [],
    defaults: noActors,
    filters: { namespace: null },
    summary: { total: 0, built_in: 0, custom: 0 },
  });
  expect((await agents.run(["actor", "list"])).stdout).toContain("agents actor add --config <file>");
  agents.write("greeter.yaml", GREETER);
  const added = await agents.json("actor", "add", "--config", "greeter.yaml");
  expect(added).toMatchObject({
    command: "actor add",
    data: { actor_added: { name: "local/greeter", type: "tool", variables: ["file", "who"] } },
    messages: [{ level: "info", text: "Actor local/greeter added." }],
  });
  const listed = await agents.json("actor", "list", "--namespace", "LOCAL");
  expect(listed.data).toMatchObject({
    actors: [{ name: "local/greeter", type: "tool", steps: 3, builtin: false }],
    filters: { namespace: "LOCAL" },
    summary: { total: 1, built_in: 0, custom: 1 },
  });
  expect((await agents.json("actor", "list", "--namespace", "team")).data["actors"]).toEqual([]);
  const shown = await agents.json("actor", "show", "GREETER");
  expect(shown.data).toMatchObject({
    actor_details: { name: "local/greeter", description: "Writes a greeting and upper-cases it", version: 1 },
    waves: [["write", "step-3"], ["shout"]],
    usage: { referenced_by_actions: [] },
  });
  expect(shown.data["steps"]).toEqual([
    {
      id: "write",
      tool: "write_file",
      params: { resource: "api", path: "docs/{file}.txt", content: "hello {who}\n" },
      needs: [],
      wave: 1,
    },
    {
      id: "shout",
      tool: "shell_execute",
      params: { resource: "api", command: "tr a-z A-Z < docs/{file|sh}.txt > docs/LOUD.txt" },
      needs: ["write"],
      wave: 2,
    },
    { id: "step-3", tool: "git_status", params: { resource: "api" }, needs: [], wave: 1 },
  ]);
  const yaml = parse((await agents.run(["actor", "show", "greeter", "--format", "yaml"])).stdout) as Envelope;
  expect(yaml.data).toEqual(shown.data);
  const asked = await agents.json("actor", "remove", "greeter");
  expect(asked).toMatchObject({ exit_code: 2, error: { suggestions: ["repeat the command with --yes"] } });
  expect((await agents.json("actor", "remove", "greeter", "--yes")).data).toEqual({
    removed: true,
    actor: "local/greeter",
  });
  expect(await agents.json("actor", "show", "greeter")).toMatchObject({
    exit_code: 3,
    error: { code: "NOT_FOUND", suggestions: ["agents actor list"] },
  });
  const { entries } = (await agents.json("audit", "list")).data as { entries: { type: string }[] };
  expect(entries.map(({ type }) => type).sort()).toEqual(["actor.added", "actor.removed"]);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("people see the steps, their waves and what uses the actor", async () => {
  using agents = new Agents();
  const { stdout, code } = await agents.run(["actor", "add", "--config", "-", "--yes"], { input: GREETER });
  expect(code).toBe(0);
  expect(stdout).toContain("Actor local/greeter added.");
  agents.write("greet.yaml", ACTION);
  await agents.json("action", "create", "--config", "greet.yaml");
  const shown = (await agents.run(["actor", "show", "local/greeter", "--format", "plain"])).stdout;
  expect(shown).toMatch(/used by.*local\/greet\b/);
  expect(shown).toMatch(/2\s.*shout.*shell_execute.*write/);
  const plain = "name: plain\ntype: tool\ndescription: x\nsteps: [{ tool: git_status }]\n";
  expect((await agents.run(["actor", "add", "-c", "-"], { input: plain })).stdout).toMatch(/arguments.*-/);
});

test("an action's plans are made only when it declares what its actor uses", async () => {
  using agents = new Agents();
  agents.write("greeter.yaml", GREETER);
  agents.write("greet.yaml", ACTION);
  agents.write("poor.yaml", ACTION.replace("name: greet", "name: poor").replace("name: file", "name: flie"));
  await agents.json("actor", "add", "--config", "greeter.yaml");
  await agents.json("action", "create", "--config", "greet.yaml");
  await agents.json("action", "create", "--config", "poor.yaml");
  await agents.json("project", "create", "shop");
  const poor = await agents.json("plan", "use", "poor", "shop", "--arg", "who=you");
  expect(poor).toMatchObject({
    exit_code: 2,
    error: {
      code: "VALIDATION",
      kept: "Nothing was written.",
      detail: { issues: [{ path: "file", suggestion: "flie" }] },
    },
  });
  expect((await agents.json("plan", "list")).data["plans"]).toEqual([]);
  const made = await agents.json("plan", "use", "greet", "shop", "--arg", "who=you");
  expect(made.data).toMatchObject({ actors: { execution: "local/Greeter", strategy: null } });
  const other = ["plan", "use", "poor", "shop", "--arg", "who=you", "--execution-actor", "local/unknown"];
  expect(await agents.json(...other)).toMatchObject({ exit_code: 3, error: { code: "NOT_FOUND" } });
  const used = await agents.json("actor", "remove", "greeter", "--yes");
  expect(used).toMatchObject({
    exit_code: 4,
    error: {
      code: "CONFLICT",
      message: expect.stringContaining("used by 2 actions: local/greet, local/poor"),
      suggestions: ["agents action archive local/greet", "agents action archive local/poor"],
    },
  });
  for (const name of ["greet", "poor"]) await agents.json("action", "archive", name);
  const needed = await agents.json("actor", "remove", "greeter", "--yes");
  expect(needed.error?.message).toContain("needed by an active plan");
  await agents.json("plan", "cancel", String(made.data["plan_id"]));
  expect((await agents.json("actor", "remove", "greeter", "--yes")).exit_code).toBe(0);
});

test("mistakes are shown where they are, and nothing is written", async () => {
  using agents = new Agents();
  agents.write("bad.yaml", GREETER.replace("write-file", "wirte-file").replace("needs: [write]", "needs: [wriet]"));
  const { error, exit_code } = await agents.json("actor", "add", "--config", "bad.yaml");
  expect(exit_code).toBe(2);
  expect(error?.detail["issues"]).toMatchObject([
    { file: "bad.yaml", line: 5, column: 18, path: "steps.0.tool", suggestion: "write_file" },
    { file: "bad.yaml", line: 6, path: "steps.1.needs.0", suggestion: "write" },
  ]);
  const { stderr } = await agents.run(["actor", "add", "--config", "bad.yaml"]);
  expect(stderr).toContain('bad.yaml:5:18: steps.0.tool: there is no tool "wirte-file"');
  expect(stderr).toContain('did you mean "write_file"?');
  const stdin = await agents.run(["actor", "add", "--config", "-"], { input: "type: llm\n" });
  expect(stdin).toMatchObject({ code: 2, stderr: expect.stringContaining("description: is required") });
  expect(stdin.stderr).toContain("standard input");
  expect((await agents.json("actor", "add", "--config", "none.yaml")).error?.message).toContain(
    "There is no file none.yaml",
  );
  expect((await agents.json("actor", "add")).error).toMatchObject({
    message: '--config is missing: the actor in YAML ("-" reads standard input).',
    suggestions: ["agents actor add --config <file>"],
  });
  expect((await agents.json("actor", "lst")).error?.message).toContain('did you mean "agents actor list"?');
  expect((await agents.json("actor", "list")).data["actors"]).toEqual([]);
});

test("of many processes that add one actor one wins", async () => {
  using agents = new Agents();
  await agents.json("init");
  agents.write("greeter.yaml", GREETER);
  const all = await Promise.all(
    Array.from({ length: 6 }, () => agents.processJson("actor", "add", "--config", "greeter.yaml")),
  );
  expect(all.map(({ exit_code }) => exit_code).sort((a, b) => a - b)).toEqual([0, 4, 4, 4, 4, 4]);
  expect((await agents.json("actor", "list")).data["summary"]).toMatchObject({ total: 1 });
});
