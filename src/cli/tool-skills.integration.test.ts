/** Skills in YAML through the command line: sets of tools that an actor gets by one name. */
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const STEPS = [{ id: "work", description: "Work", confidence: 0.9, risk: 0.1, resources: ["api"] }];
const FILES = `
skill:
  name: local/files
  description: Reads and lists
  tools: [read_file, local/count]
  builtins: [{ group: directory_operations }]
`;
const ALL = "name: local/all\ndescription: Everything\ntools: [git_log]\nincludes: [local/files]\n";
const COUNT = "name: local/count\ndescription: Counts\ncommand: [wc, -l, a.txt]\nwrites: false\n";
const ACTOR =
  "name: local/clerk\ntype: llm\ndescription: d\nprovider: scripted\nmodel: demo.yaml\nskills: [local/all]\n";

async function added(agents: Agents, what: "actor" | "skill" | "tool", text: string): Promise<string | undefined> {
  agents.write("one.yaml", text);
  const { error } = await agents.json(what, "add", "--config", "one.yaml", ...(what === "tool" ? ["--yes"] : []));
  return error === null || error === undefined ? undefined : JSON.stringify(error);
}

test("an actor that names a set has its tools and those of the sets it includes, and no others", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  expect(await added(agents, "tool", COUNT)).toBeUndefined();
  expect(await added(agents, "skill", ALL)).toContain("there is no skill local/files");
  expect(await added(agents, "skill", FILES)).toBeUndefined();
  expect(await added(agents, "skill", ALL)).toBeUndefined();
  expect(await added(agents, "actor", ACTOR)).toBeUndefined();
  world.script(
    strategyTurn(STEPS),
    stepTurn("work", { tool_calls: [{ tool: "local/count", parameters: {} }] }),
    stepTurn("work", { match: { tool: "local/count" }, text: "Done." }),
    turn({ text: "Nothing needs to change.", times: 5 }),
  );
  const id = await world.thinking(undefined, "--execution-actor", "local/clerk");
  expect((await agents.json("plan", "execute", id)).error).toBeUndefined();
  const context = (await agents.run(["plan", "explain", id, "work.1", "--show-context"])).stdout;
  for (const name of ["git_log", "read_file", "local/count", "create_directory", "delete_directory"])
    expect(context).toContain(name);
  for (const name of ["write_file", "shell_execute", "use_skill"]) expect(context).not.toContain(`"${name}"`);
  const shown = await agents.json("skill", "show", "local/all");
  expect(shown.data).toMatchObject({ skill: { from: "config", tools: ["git_log"], includes: ["local/files"] } });
  expect((await agents.run(["skill", "list"])).stdout).toContain("local/files");
  expect((await agents.json("skill", "remove", "local/files")).error).toBeUndefined();
  const without = await world.anotherThought("--execution-actor", "local/clerk");
  const refused = await agents.json("plan", "execute", without);
  expect(refused.error?.message).toContain("there is no skill local/files");
  expect((await agents.json("skill", "list")).data).toMatchObject({ summary: { total: 1 } });
}, 60_000);

test("a set that is not valid is refused with its reasons, and one cannot include itself", async () => {
  using agents = new Agents();
  const refused = async (text: string): Promise<string> => (await added(agents, "skill", text)) ?? "";
  const head = "name: local/a\ndescription: d\n";
  expect(await refused(head)).toContain("has nothing in it");
  expect(await refused(`${head}tools: [raed_file]\n`)).toContain("read_file");
  expect(await refused(`${head}builtins: [files]\n`)).toContain("builtins");
  expect(await refused(`${head}tools: [read_file]\ninline_tools: []\n`)).toContain("agents tool add");
  expect(await refused(`${head}tools: [read_file]\nmcp_servers: []\n`)).toContain("agents mcp server add");
  expect(await refused(`${head}tools: [{ name: read_file, override: {} }]\n`)).toContain("tools.0");
  expect(await refused(`${head}includes: [local/a]\n`)).toContain("local/a -> local/a includes itself");
  expect(await refused(`${head}agent_skills: [tidy]\n`)).toBe("");
  expect(await refused(`${head}tools: [read_file]\n`)).toContain("already");
  const { error } = await agents.json("skill", "add");
  expect(error?.message).toContain("Give the folder of a skill");
  agents.write("bad.yaml", "name: local/b\n");
  const checked = await agents.run(["skill", "check", "bad.yaml", "--format", "json"]);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain("description");
});
