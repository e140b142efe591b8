/** Own automation profiles, from their file to the plans that are made with them. */
import { expect, test } from "vitest";
import { PROFILE_NAMES } from "../domain/profile/automation-profile.ts";
import { Agents } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

const CAREFUL = `name: careful
description: Trusted, but never the shell
extends: trusted
auto_execute: 0.7
require_human_approval: true
safety:
  max_retries_per_step: 1
guards:
  tool_denylist: [shell_execute, "git_*"]
  max_tool_calls: 20
  max_calls_per_tool: { write-file: 2 }
budget: { max_cost_usd: 2.5 }
`;
const STEPS = `  - { id: a, tool: write_file, params: { path: a, content: a } }\n`;

test("a profile is added, listed, shown whole, and removed", async () => {
  using agents = new Agents();
  agents.write("careful.yaml", CAREFUL);
  const added = await agents.json("automation-profile", "add", "--config", "careful.yaml");
  expect(added.data["profile"]).toMatchObject({
    name: "local/careful",
    builtin: false,
    extends: "trusted",
    thresholds: { auto_execute: 0.7, auto_apply: 1, auto_decisions_strategize: 0 },
    safety: { require_sandbox: true, require_human_approval: true, allow_unsafe_tools: false, max_retries_per_step: 1 },
    guards: {
      tool_denylist: ["shell_execute", "git_*"],
      tool_allowlist: null,
      max_tool_calls: 20,
      max_calls_per_tool: { "write-file": 2 },
    },
    budget: { max_cost_usd: 2.5 },
  });
  expect((await agents.json("automation-profile", "show", "Careful")).data).toEqual(added.data);
  const listed = await agents.json("automation-profile", "list");
  const names = (listed.data["profiles"] as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual([...PROFILE_NAMES, "local/careful"]);
  expect((await agents.json("automation-profile", "list", "--namespace", "other")).data["profiles"]).toEqual([]);
  expect((await agents.run(["automation-profile", "show", "careful"])).stdout).toContain("at least 70 % confident");
  expect((await agents.json("automation-profile", "add", "-c", "careful.yaml")).error?.code).toBe("ALREADY_EXISTS");
  expect((await agents.json("automation-profile", "show", "carefull")).error?.detail["issues"]).toMatchObject([
    { suggestion: "local/careful" },
  ]);
  expect((await agents.json("automation-profile", "remove", "manual", "--yes")).error?.message).toContain("built in");
  expect((await agents.json("automation-profile", "remove", "careful")).exit_code).toBe(2);
  expect((await agents.json("automation-profile", "remove", "careful", "--yes")).exit_code).toBe(0);
  expect((await agents.json("automation-profile", "remove", "careful", "--yes")).exit_code).toBe(2);
  const { data } = await agents.json("audit", "list");
  const types = (data["entries"] as { type: string }[]).map(({ type }) => type);
  expect(types).toEqual(["automation_profile.removed", "automation_profile.added"]);
});

test("the names of the original are aliases, thresholds and safety may stand in sections, and standard input is a file", async () => {
  using agents = new Agents();
  const input = `name: team/theirs
description: As the original writes it
schema_version: "1.0"
edit_code: 0.0
thresholds: { select_tool: 0.25 }
require_sandbox: false
safety: { require_checkpoints: false, allow_unsafe_tools: true, max_cost_per_plan: 3 }
`;
  const { stdout } = await agents.run(["automation-profile", "add", "-c", "-", "--format", "json"], { input });
  expect(JSON.parse(stdout)).toMatchObject({
    data: {
      profile: {
        name: "team/theirs",
        extends: null,
        thresholds: { auto_execute: 1, auto_apply: 0.25, auto_decisions_strategize: 0 },
        safety: { require_sandbox: false, require_checkpoints: false, allow_unsafe_tools: true },
        budget: { max_cost_usd: 3 },
      },
    },
  });
});

test("everything that is wrong with a file is told at once, with its line and what was meant", async () => {
  using agents = new Agents();
  const file = agents.write(
    "bad.yaml",
    `name: manual
extends: trustd
auto_aply: 1
auto_apply: 1.5
select_tool: 0
allowed_skill_categories: [web]
guards:
  tool_denylist: [shel_execute]
  max_tool_calls: -1
  tool_denylst: []
budget: { max_tokens: 7 }
auto_strategize: 0
thresholds: { access_network: 1 }
`,
  );
  const { error, exit_code } = await agents.json("automation-profile", "add", "--config", file);
  expect(exit_code).toBe(2);
  const issues = error?.detail["issues"] as { path: string; line: number; message: string; suggestion?: string }[];
  expect(issues.map(({ path, line, suggestion }) => [line, path, suggestion])).toEqual([
    [1, "description", undefined],
    [1, "name", undefined],
    [2, "extends", "trusted"],
    [3, "auto_aply", "auto_apply"],
    [4, "auto_apply", undefined],
    [5, "select_tool", undefined],
    [6, "allowed_skill_categories", undefined],
    [8, "guards.tool_denylist.0", undefined],
    [9, "guards.max_tool_calls", undefined],
    [10, "guards.tool_denylst", "tool_denylist"],
    [11, "budget.max_tokens", undefined],
    [12, "auto_strategize", undefined],
    [13, "thresholds.access_network", undefined],
  ]);
  for (const path of ["auto_strategize", "thresholds.access_network", "allowed_skill_categories"]) {
    expect(issues.find((issue) => issue.path === path)?.message).toContain("is not implemented");
  }
  expect(issues.find(({ path }) => path === "guards.tool_denylist.0")?.message).toContain(
    'did you mean "shell_execute"',
  );
  expect((await agents.json("automation-profile", "list")).data["summary"]).toMatchObject({ custom: 0 });
});

test("a plan keeps the whole profile it was made with; the strongest level wins and is shown", async () => {
  using world = new World();
  const { agents } = world;
  agents.write("careful.yaml", CAREFUL);
  const action = (name: string, profile: string): string =>
    agents.write(
      `${name}.yaml`,
      `name: ${name}\ndescription: d\ndefinition_of_done: d\nexecution_actor: local/greeter\nautomation_profile: ${profile}\n`,
    );
  const early = await agents.json("action", "create", "--config", action("early", "carefull"));
  expect(early.error?.detail["issues"]).toMatchObject([{ path: "automation_profile", line: 5 }]);
  expect((await agents.json("config", "set", "core.automation-profile", "local/careful")).exit_code).toBe(2);
  await agents.json("automation-profile", "add", "--config", "careful.yaml");
  const id = await world.plan(STEPS, "--automation-profile", "careful");
  const profileOf = async (...use: string[]): Promise<unknown> =>
    (await agents.json("plan", "use", ...use)).data["automation"];
  await agents.json("action", "create", "--config", action("own", "careful"));
  expect(await profileOf("own", "shop")).toMatchObject({ profile: "local/careful", source: "action" });
  expect(await profileOf("own", "shop", "--automation-profile", "ci")).toMatchObject({ profile: "ci", source: "plan" });
  agents.environment["CLEVERAGENTS_AUTOMATION_PROFILE"] = "local/careful";
  const greet = ["greet", "shop", "--arg", "who=x"];
  expect(await profileOf(...greet)).toMatchObject({ profile: "local/careful", source: "global" });
  await agents.json("config", "set", "core.automation-profile", "manual", "--project", "shop");
  expect(await profileOf(...greet)).toMatchObject({ profile: "manual", source: "project" });
  await agents.json("config", "set", "core.automation-profile", "local/careful", "--project", "shop");

  const remove = async (): Promise<string | undefined> =>
    (await agents.json("automation-profile", "remove", "careful", "--yes")).error?.message;
  expect(await remove()).toContain("the action local/own, the environment, the project local/shop");
  await agents.json("action", "archive", "own");
  delete agents.environment["CLEVERAGENTS_AUTOMATION_PROFILE"];
  expect(await remove()).toContain("the project local/shop");
  await agents.json("config", "set", "core.automation-profile", "ci", "--project", "shop");
  expect(await remove()).toBeUndefined();
  agents.write("careful.yaml", CAREFUL.replace("max_tool_calls: 20", "max_tool_calls: 1"));
  await agents.json("automation-profile", "add", "--config", "careful.yaml");
  const guard = await agents.json("plan", "guard", id);
  expect(guard.data).toMatchObject({
    profile: "local/careful",
    profile_source: "plan",
    guards: { max_tool_calls: 20 },
  });
  // A removed profile is unknown; no other profile takes its place silently.
  await agents.json("automation-profile", "remove", "careful", "--yes");
  const gone = await agents.json("plan", "use", "greet", "shop", "--arg", "who=x", "--automation-profile", "careful");
  expect([gone.exit_code, gone.error?.message]).toEqual([2, expect.stringContaining("no automation profile")]);
});
