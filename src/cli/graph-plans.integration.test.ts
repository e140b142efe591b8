/** Plans whose steps are carried out by a graph, with a scripted model or a real server on loopback. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { SpeakingServer } from "./testing/speaking-server.ts";
import { ThinkingWorld, turn } from "./testing/thinking-world.ts";

const ACTION = `name: improve
description: Improve {what}
definition_of_done: It is improved
execution_actor: local/graph
arguments:
  - { name: what, required: true }
invariants:
  - Keep the public interface
`;

async function graph(world: ThinkingWorld, yaml: string): Promise<string> {
  world.agents.write("graph.yaml", `name: local/graph\ntype: graph\ndescription: a graph\n${yaml}`);
  const { error } = await world.agents.json("actor", "add", "--config", "graph.yaml");
  if (error !== undefined) throw new Error(error.message);
  return world.thinking(ACTION);
}

const DRAFTS = `provider: scripted
model: demo.yaml
route:
  nodes:
    - { id: look, type: tool, tool: read_file, params: { path: a.txt } }
    - { id: short, type: llm, prompt: "Short: {look}", output_key: drafts }
    - { id: long, type: llm, prompt: "Long: {look}", output_key: drafts }
    - { id: write, type: llm, prompt: "Write {drafts}", tools: [write_file] }
    - { id: check, type: validation, tool: read_file, params: { path: new.txt }, check: '"good" in output.content' }
  edges:
    - { from: look, to: short }
    - { from: look, to: long }
    - { from: short, to: write }
    - { from: long, to: write }
    - { from: write, to: check }
    - { from: check, to: write, condition: { key: check.passed, value: false } }
  entry: look
  exits: [check]
  state: { drafts: append }
  limits: { max_visits: 3, max_rounds: 20 }
`;

const writes = (content: string): object => ({ tool: "write_file", parameters: { path: "new.txt", content } });

test("a graph is the strategy: it runs in the sandbox, each model hears the plan, and what it did is explained and applied", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  world.script(
    // A prompt without the goal and the constraint gets no answer.
    turn({ match: { user: "Short: ", system: "Improve docs" }, text: "short" }),
    turn({ match: { user: "Long: ", system: "Keep the public interface" }, text: "long", delay_ms: 50 }),
    turn({ match: { user: 'Write ["short","long"]' }, tool_calls: [writes("bad\n")] }),
    turn({ match: { user: "Write", tool: "write_file" }, text: "Written.", times: "always" }),
  );
  const before = world.state();
  const id = await graph(world, DRAFTS);
  const first = await agents.json("plan", "execute", id);
  // The same script answers the loop's second turn in the same way, so it ends at its limit, with everything kept.
  expect(first.error).toMatchObject({
    code: "GRAPH_LIMIT",
    suggestions: expect.arrayContaining([`agents plan execute ${id}`]),
  });
  expect(world.state()).toBe(before);
  world.script(
    turn({ match: { user: 'Write ["short","long"]' }, tool_calls: [writes("good\n")] }),
    turn({ match: { user: "Write", tool: "write_file" }, text: "Written.", times: "always" }),
  );
  const second = await agents.json("plan", "execute", id);
  expect(second.data).toMatchObject({ state: "complete", changes: { files: 1 } });
  const { data: diff } = await agents.json("plan", "diff", id);
  expect(diff["files"]).toMatchObject([{ path: "new.txt" }]);
  const { data: tree } = await agents.json("plan", "tree", id);
  expect(JSON.stringify(tree)).toContain("run-graph");
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(readFileSync(join(world.repository, "new.txt"), "utf8")).toBe("good\n");
});

test("a graph of tools alone needs no model", async () => {
  using world = new ThinkingWorld();
  const id = await graph(
    world,
    `route:
  nodes:
    - { id: count, type: function, function: increment, input: { key: count } }
    - { id: write, type: tool, tool: write_file, params: { path: "{step}.txt", content: "{goal}" } }
  edges: [{ from: count, to: write }]
  entry: count
  exits: [write]
`,
  );
  expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({
    state: "complete",
    cost: { calls: 0 },
  });
  expect((await world.agents.json("plan", "diff", id)).data).toMatchObject({ files: [{ path: "run-graph.txt" }] });
});

const QUESTIONS = 15;

/** Thirty nodes in a row: a question, then a command that shows when it is run twice, and so on. */
function thirtySteps(): string {
  const numbers = Array.from({ length: QUESTIONS }, (_, index) => index + 1);
  const nodes = numbers.flatMap((number) => [
    `    - { id: ask${number}, type: llm, prompt: "question ${number}" }`,
    `    - { id: do${number}, type: tool, tool: shell_execute, params: { command: "echo {ask${number}} >> log.txt" } }`,
  ]);
  const names = numbers.flatMap((number) => [`ask${number}`, `do${number}`]);
  const edges = names.slice(1).map((name, index) => `    - { from: ${names[index]}, to: ${name} }`);
  return `provider: counting\nmodel: m\nroute:\n  nodes:\n${nodes.join("\n")}\n  edges:\n${edges.join("\n")}\n  entry: ask1\n  exits: [do${QUESTIONS}]\n`;
}

test("killed at each question of thirty steps and taken up again: each was answered once, each command ran once", async () => {
  /** No answer when it says so. */
  let before: (question: string) => boolean = () => true;
  await using model = new SpeakingServer(({ user }) => (before(user) ? { text: `<${user}>` } : undefined));
  using world = new ThinkingWorld();
  const { agents } = world;
  await agents.json("config", "set", "provider.counting.base-url", await model.listen());
  await agents.json("config", "set", "provider.counting.prices", "*=1000/1000");
  const id = await graph(
    world,
    thirtySteps()
      .replaceAll("{ask", "'{ask")
      .replaceAll(/(\{ask\d+\})/g, "$1'"),
  );

  for (let kills = 1; kills <= QUESTIONS; kills += 1) {
    const { child, finished } = agents.start(["plan", "execute", id], { group: true });
    before = (question) => {
      if (question !== `question ${kills}` || model.asked.filter((one) => one === question).length > 1) return true;
      process.kill(-(child.pid ?? 0), "SIGKILL");
      return false;
    };
    await finished;
    expect(child.signalCode).toBe("SIGKILL");
    using database = new DatabaseSync(agents.database, { timeout: 5_000 });
    database.exec("UPDATE leases SET expires_at = 0");
  }
  before = () => true;
  const { data, error } = await agents.json("plan", "execute", id);
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ state: "complete" });
  // Once before the kill, and once after it: only the question in flight is asked again.
  const expected = Array.from({ length: QUESTIONS }, (_, index) => `question ${index + 1}`);
  expect(model.asked).toEqual(expected.flatMap((question) => [question, question]));
  const log = join(agents.dataDir, "sandboxes", id, "1", "api", "tree", "log.txt");
  expect(readFileSync(log, "utf8")).toBe(expected.map((question) => `<${question}>\n`).join(""));
  // The lost call may have been billed: the status shows the most that it can have cost.
  const { data: status } = await agents.json("plan", "status", id);
  expect(status["cost"]).toMatchObject({ spent_usd: expect.closeTo(QUESTIONS * 0.31, 6) });
  expect((status["cost"] as { assumed_usd: number }).assumed_usd).toBeGreaterThan(0);
});
