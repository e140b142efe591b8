/** What would have no effect is refused where it is written, and what does not exist is refused before a plan is made. */
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

interface Issue {
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly suggestion?: string;
}

const action = (more: string): string => `name: do
description: d
definition_of_done: d
${more}`;

test("an actor for a role without effect, and a role hint, are refused with their line and the reason", async () => {
  using world = new World();
  const { agents } = world;
  agents.write("do.yaml", action("execution_actor: openai/gpt-4o\nreview_actor: local/reviewer\n"));
  const refused = await agents.json("action", "create", "--config", "do.yaml");
  expect([refused.exit_code, refused.error?.detail["issues"]]).toMatchObject([
    2,
    [{ path: "review_actor", line: 5, message: expect.stringContaining("not implemented") }],
  ]);
  agents.write("hint.yaml", "name: hint\ntype: llm\ndescription: d\nrole_hint: review\ncontext_view: apply\n");
  const issues = (await agents.json("actor", "add", "--config", "hint.yaml")).error?.detail["issues"];
  expect(issues).toMatchObject([
    { path: "role_hint", line: 4, message: expect.stringContaining("not implemented") },
    { path: "context_view", line: 5, message: expect.stringContaining("default, strategize, execute") },
  ]);
  const { code, stderr } = await agents.run(["plan", "use", "do", "shop", "--review-actor", "local/reviewer"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--review-actor")]);
});

test("a plan is not made with an actor that does not exist, no matter where it is named", async () => {
  using world = new World();
  const { agents } = world;
  await agents.json("project", "create", "shop");
  agents.write("do.yaml", action("execution_actor: local/ghost\n"));
  await agents.json("action", "create", "--config", "do.yaml");
  const use = (...more: string[]) => agents.json("plan", "use", "do", "shop", ...more);
  expect(await use()).toMatchObject({ exit_code: 3, error: { message: expect.stringContaining("local/ghost") } });
  const model = ["--execution-actor", "openai/gpt-4o"];
  expect(await use(...model, "--strategy-actor", "gohst")).toMatchObject({ exit_code: 3 });
  expect(await use("--execution-actor", "nobody/gpt-4o")).toMatchObject({ exit_code: 3 });
  expect((await agents.json("plan", "list")).data["plans"]).toEqual([]);
  expect(await use(...model)).toMatchObject({ exit_code: 0 });
});

test("an unsafe actor, also one that a graph needs, is only for plans whose profile allows unsafe tools", async () => {
  using world = new World();
  const { agents } = world;
  await agents.json("project", "create", "shop");
  const bold = "name: bold\ntype: llm\ndescription: d\nmodel: openai/gpt-4o\nunsafe: true\n";
  agents.write("bold.yaml", bold);
  await agents.json("actor", "add", "--config", "bold.yaml", "--yes");
  agents.write(
    "around.yaml",
    `name: around
type: graph
description: d
model: openai/gpt-4o
route:
  nodes: [{ id: ask, type: llm, actor_ref: local/bold }]
  edges: []
  entry: ask
  exits: [ask]
`,
  );
  expect((await agents.json("actor", "add", "--config", "around.yaml")).exit_code).toBe(0);
  agents.write("do.yaml", action("execution_actor: local/bold\n"));
  await agents.json("action", "create", "--config", "do.yaml");
  for (const actor of ["local/bold", "local/around"]) {
    const use = (profile: string) =>
      agents.json("plan", "use", "do", "shop", "--execution-actor", actor, "--automation-profile", profile);
    expect(await use("supervised")).toMatchObject({
      exit_code: 1,
      error: { code: "POLICY", message: expect.stringContaining('"local/bold" is marked unsafe') },
    });
    expect((await use("full-auto")).exit_code).toBe(0);
  }
});

test("wrong parameters of fixed tool calls are refused when the actor is added, with their line and what was meant", async () => {
  using world = new World();
  const { agents } = world;
  agents.write(
    "wrong.yaml",
    `name: wrong
type: tool
description: d
steps:
  - tool: write_file
    params: { path: a.txt, contents: "{text}" }
  - tool: git_log
    params:
      limit: many
`,
  );
  const refused = await agents.json("actor", "add", "--config", "wrong.yaml");
  expect(refused.exit_code).toBe(2);
  const issues = refused.error?.detail["issues"] as readonly Issue[];
  expect(issues.map(({ path, line, suggestion }) => [line, path, suggestion])).toEqual([
    [6, "steps.0.params.content", undefined],
    [6, "steps.0.params.contents", "content"],
    [9, "steps.1.params.limit", undefined],
  ]);
  expect((await agents.json("actor", "list")).data["summary"]).toMatchObject({ custom: 0 });
});
