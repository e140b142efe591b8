/** Different steps of one plan by different actors, which the strategist chooses from a list. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CandidatesWorld } from "./testing/candidates-world.ts";

const wrote = (path: string, content: string): object => ({
  tool_calls: [{ tool: "write_file", parameters: { path, content } }],
});

/** Decides on two steps, one of which it gives away, and does the other itself. */
function leader(other: string): object[] {
  const steps = [
    { id: "code", description: "Write the code" },
    { id: "prose", description: "Write the text", needs: ["code"], actor: other },
    { id: "check", description: "Look at it again", needs: ["prose"] },
  ];
  return [
    { match: { user: "/- writer\\/transcript/" }, tool_calls: [{ tool: "record_strategy", parameters: { steps } }] },
    { match: { user: 'step "code"', tool: "write_file" }, text: "The code is there." },
    { match: { user: 'step "code"' }, ...wrote("code.txt", "leader\n") },
    { match: { user: 'step "check"' }, text: "NOTHING TO DO: it is good." },
  ];
}

const WRITER = [
  { match: { user: 'step "prose"', tool: "write_file" }, text: "The text is there." },
  { match: { user: 'step "prose"' }, ...wrote("prose.txt", "writer\n") },
];

async function shownTo(world: CandidatesWorld, plan: string, name: string): Promise<string> {
  const agents = await world.agents();
  const { decisionIds } = await agents.run("plan.tree", { plan });
  const { context } = await agents.run("plan.explain", { id: decisionIds[name] ?? "", showContext: true });
  return String(context);
}

test("each step is carried out by the actor that the strategist gave it to, with a handover between them", async () => {
  await using world = new CandidatesWorld();
  const other = world.model("writer", WRITER);
  const actor = world.model("leader", leader(other));
  const agents = await world.agents();
  const wish = { request: "write", directory: world.repository, automationProfile: "trusted", actor };
  const output = await agents.run("run", { ...wish, stepActors: [other] });
  expect(output).toMatchObject({ applied: true });
  expect(readFileSync(join(world.repository, "code.txt"), "utf8")).toBe("leader\n");
  expect(readFileSync(join(world.repository, "prose.txt"), "utf8")).toBe("writer\n");
  const { planId } = output;
  expect(await agents.run("plan.status", { plan: planId })).toMatchObject({ stepActors: [actor, other] });
  const { tree } = await agents.run("plan.tree", { plan: planId });
  expect(JSON.stringify(tree)).toContain(`"actor":"${other}"`);
  // The same actor goes on in the conversation of its strategy; another one is handed the work over.
  expect(await shownTo(world, planId, "code.1")).toContain("Decide how this is done");
  const prose = await shownTo(world, planId, "prose.1");
  expect(JSON.parse(prose)).toMatchObject({ model: { provider: "writer" } });
  expect(prose).not.toContain("Decide how this is done");
  expect(prose).toContain("code.txt");
  const check = await shownTo(world, planId, "check.1");
  expect(JSON.parse(check)).toMatchObject({ model: { provider: "leader" } });
  expect(check).not.toContain("Decide how this is done");
});

test("a step for an actor that the plan does not have is sent back to the strategist", async () => {
  await using world = new CandidatesWorld();
  const other = world.model("writer", WRITER);
  const [strategy, ...rest] = leader(other) as [object, ...object[]];
  const wrong = [{ id: "code", description: "Write", actor: "writer/transcrip" }];
  const actor = world.model("leader", [
    { match: { user: "/- writer/" }, tool_calls: [{ tool: "record_strategy", parameters: { steps: wrong } }] },
    { ...strategy, match: { result: 'did you mean "writer/transcript"' } },
    ...rest,
  ]);
  const agents = await world.agents();
  const wish = { request: "write", directory: world.repository, automationProfile: "trusted", actor };
  expect(await agents.run("run", { ...wish, stepActors: [other] })).toMatchObject({ applied: true });
});

test("unknown actors, tool actors and plans without a strategist are refused when the plan is made", async () => {
  await using world = new CandidatesWorld();
  const actor = world.model("leader", leader("writer/transcript"));
  const agents = await world.agents();
  const text =
    "name: greeter\ntype: tool\ndescription: greets\nsteps:\n  - { id: a, tool: write_file, params: { path: x, content: y } }\n";
  await agents.run("actor.add", { definition: { text, file: "greeter.yaml", outside: false } });
  const wish = { request: "write", directory: world.repository, actor };
  await expect(agents.run("run", { ...wish, stepActors: ["missing/here"] })).rejects.toMatchObject({
    code: "not_found",
  });
  const tool = agents.run("run", { ...wish, stepActors: ["local/greeter"] });
  await expect(tool).rejects.toMatchObject({ code: "validation" });
  const fixed = agents.run("run", { ...wish, actor: "local/greeter", stepActors: [actor] });
  await expect(fixed).rejects.toMatchObject({ code: "validation" });
  expect((await agents.run("plan.list", {})).plans).toEqual([]);
});

test("an unsafe actor gets no step under a profile that allows no unsafe tools", async () => {
  await using world = new CandidatesWorld();
  const actor = world.model("leader", leader("local/bold"));
  const agents = await world.agents();
  const text = "name: bold\ntype: llm\ndescription: d\nmodel: leader/transcript\nunsafe: true\n";
  await agents.run("actor.add", { definition: { text, file: "bold.yaml", outside: false } });
  const wish = { request: "write", directory: world.repository, automationProfile: "trusted", actor };
  await expect(agents.run("run", { ...wish, stepActors: ["local/bold"] })).rejects.toMatchObject({
    code: "policy",
    message: expect.stringContaining('The actor "local/bold" is marked unsafe'),
    detail: { actor: "local/bold", profile: "trusted" },
  });
  expect((await agents.run("plan.list", {})).plans).toEqual([]);
});

test("an action names several actors for its steps, and the plan keeps a copy of the list", async () => {
  await using world = new CandidatesWorld();
  const other = world.model("writer", WRITER);
  const first = world.model("leader", leader(other));
  const agents = await world.agents();
  const lines = ["name: two", "description: Write", "definition_of_done: It is there"];
  const text = `${lines.join("\n")}\nexecution_actors: [${first}, ${other}]\n`;
  await agents.run("action.create", { definition: { text, file: "two.yaml", outside: false } });
  await agents.run("project.create", { project: "shop" });
  const { planId } = await agents.run("plan.use", { action: "two", projects: ["shop"], directory: world.directory });
  expect(await agents.run("plan.status", { plan: planId })).toMatchObject({
    actors: { execution: first },
    stepActors: [first, other],
  });
  const both = text.replace("name: two", `name: both\nexecution_actor: ${first}`);
  const refused = agents.run("action.create", { definition: { text: both, file: "both.yaml", outside: false } });
  await expect(refused).rejects.toMatchObject({ code: "validation" });
});
