/** The questions that steps can ask about their plan, through the command line. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmbeddingServer, tokensOf } from "../context/testing/embedding-server.ts";
import type { Agents } from "./testing/agents.ts";
import { CodeWorld, outputOf } from "./testing/code-world.ts";
import { allowCommands } from "./testing/confinement.ts";

interface Asked {
  readonly text: string;
  readonly tokens: number;
  readonly budget: number;
  readonly fragments: readonly { readonly entity: string }[];
}

/** A plan of these steps for the project "shop". */
async function planOf(agents: Agents, steps: string, ...use: string[]): Promise<string> {
  agents.write("actor.yaml", `name: worker\ntype: tool\ndescription: works\nsteps:\n${steps}`);
  agents.write(
    "action.yaml",
    "name: work\ndescription: Rename sessions\ndefinition_of_done: It is done\nexecution_actor: local/worker\n",
  );
  for (const call of [
    ["actor", "add", "--config", "actor.yaml"],
    ["action", "create", "--config", "action.yaml"],
  ]) {
    const { error } = await agents.json(...call);
    if (error !== undefined) throw new Error(`${call.join(" ")}: ${error.message}`);
  }
  const { data } = await agents.json("plan", "use", "work", "shop", ...use);
  return String(data["plan_id"]);
}

test("a step sees at once what the steps before it wrote; no other plan or command sees it", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  await allowCommands(agents);
  const id = await planOf(
    agents,
    `  - { id: write, tool: write_file, params: { path: src/wombat.ts, content: "import { validateSession } from './session.ts';\\nexport const wombatFence = validateSession;\\n" } }
  - { id: drop, tool: delete_file, params: { path: src/server.ts } }
  - { id: look, tool: builtin/request-context, params: { query: "wombatFence validateSession", budget: 900 } }
  - { id: shell, tool: shell_execute, params: { command: "echo made.ts >> .git/info/exclude; echo 'export const shellMade = 1;' > src/made.ts" } }
  - { id: again, tool: request_context, params: { focus: [src/made.ts], depth: full } }
  - { id: budget, tool: get-context-budget }
  - { id: past, tool: query_history, params: { query: wombat } }
`,
  );
  const executed = await agents.json("plan", "execute", id);
  expect([executed.exit_code, executed.error?.message]).toEqual([0, undefined]);
  const look = outputOf<Asked>(agents, "look");
  expect(look.text).toContain("export const wombatFence = validateSession;");
  expect(look.fragments.some(({ entity }) => entity.includes("src/server.ts"))).toBe(false);
  expect(look.tokens).toBeLessThanOrEqual(900);
  expect(outputOf<Asked>(agents, "again").text).toContain("shellMade");
  expect(outputOf(agents, "budget")).toMatchObject({
    max: 128_000,
    reserved: 7_696,
    available: 120_304,
    used: look.tokens + outputOf<Asked>(agents, "again").tokens,
    view: "execute",
  });
  expect(outputOf<{ decisions: unknown[] }>(agents, "past").decisions).toContainEqual(
    expect.objectContaining({ step: "write", state: "done", changes: 1 }),
  );
  // The project's own directory is what it was.
  const { data } = await agents.json("project", "context", "inspect", "shop", "--query", "wombatFence");
  expect(JSON.stringify(data["context"])).not.toContain("wombat.ts");
  expect(JSON.stringify(data["context"])).toContain("src/server.ts");
});

test.each([
  ["an unknown resource", "resource: web, query: x", 'The plan has no resource \\"web\\"'],
  ["a place outside", 'focus: ["web:src/a.ts"]', "is not visible"],
  ["a strategy there is not", "strategy: nope", 'There is no strategy \\"nope\\"'],
  ["a backend there is not", "required_backends: [oracle]", 'There is no backend \\"oracle\\"'],
])("refused and recorded: %s", async (_, params, message) => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const id = await planOf(agents, `  - { id: look, tool: request_context, params: { ${params} } }\n`);
  const failed = await agents.json("plan", "execute", id);
  expect(failed.exit_code).toBeGreaterThan(0);
  expect(JSON.stringify(failed.error?.message)).toContain(message);
  const explained = await agents.json("plan", "explain", id, "look");
  expect(JSON.stringify(explained.data)).toContain("request_context");
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ state: "errored" });
});

test("a plan says which context it will have; its view decides what its steps see", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const id = await planOf(
    agents,
    `  - { id: look, tool: request_context, params: { query: validateSession, budget: 50000 } }
`,
  );
  await agents.json("project", "context", "set", "shop", "--view", "execute", "--include", "docs", "--budget", "2k");
  await agents.json("project", "context", "index", "shop");
  const used = await agents.json("plan", "use", "work", "shop");
  expect(used.data["context"]).toEqual({ resources: ["api"], indexed_files: 7, view: "strategize", budget: 120_304 });
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  const look = outputOf<Asked>(agents, "look");
  expect(look.budget).toBe(2_000);
  expect(look.fragments.flatMap(({ entity }) => (entity.startsWith("api:") ? [entity] : []))).toEqual(
    expect.not.arrayContaining([expect.stringContaining("src/")]),
  );
});

test("a plan of two projects sees both, each through its own policy, and nothing of a third", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  for (const name of ["web", "foreign"]) {
    const directory = join(agents.directory, name);
    mkdirSync(directory);
    writeFileSync(join(directory, "page.ts"), `export function validateSession${name}(): boolean { return true; }\n`);
    writeFileSync(join(directory, "page.test.ts"), `export const validateSessionTest${name} = [1, 2, 3, 4, 5, 6];\n`);
    await agents.json("resource", "add", "fs-directory", name, "--path", directory);
    await agents.json("project", "create", name, "--resource", name);
  }
  await agents.json("project", "context", "set", "web", "--exclude", "*.test.ts", "--budget", "3k");
  await agents.json("project", "context", "set", "shop", "--budget", "5k");
  const query = "validateSession validateSessionweb validateSessionforeign validateSessionTestweb";
  const id = await planOf(agents, `  - { id: look, tool: request_context, params: { query: "${query}" } }\n`, "web");
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  const { fragments, budget } = outputOf<Asked>(agents, "look");
  const files = new Set(fragments.flatMap(({ entity }) => /^\w+:[\w./-]+/.exec(entity)?.[0] ?? []));
  expect(budget).toBe(3_000);
  expect(files).toContain("web:page.ts");
  expect(files).toContain("api:src/session.test.ts");
  expect(files).not.toContain("web:page.test.ts");
  expect([...files].filter((file) => file.startsWith("foreign:"))).toEqual([]);
});

test("what a plan has embedded counts against its budget, and is not sent when it would pass it", async () => {
  using world = new CodeWorld();
  await using server = await startEmbeddingServer();
  const { agents } = world;
  await world.project();
  await agents.json("config", "set", "context.embedding.url", server.url);
  await agents.json("config", "set", "context.embedding.model", "words");
  await agents.json("config", "set", "context.embedding.price", "0.1");
  const id = await planOf(
    agents,
    `  - { id: look, tool: request_context, params: { query: "where is the session validated", budget: 900 } }\n`,
    "--budget",
    "0.000050",
  );
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0 });
  const { gaps } = outputOf<{ gaps: readonly { name: string; reason: string }[] }>(agents, "look");
  expect(gaps).toContainEqual(
    expect.objectContaining({
      name: "semantic-embedding",
      reason: expect.stringMatching(/^is not used: A call of .* of plan \w+'s \S+ budget is left$/),
    }),
  );
  expect(server.calls).toEqual([]);
  expect((await agents.json("plan", "budget", id)).data["cost"]).toMatchObject({ spent_usd: 0 });

  const { data } = await agents.json("plan", "use", "work", "shop");
  const other = String(data["plan_id"]);
  expect(await agents.json("plan", "execute", other)).toMatchObject({ exit_code: 0 });
  const tokens = server.calls.flat().reduce((sum, text) => sum + tokensOf(text), 0);
  expect(tokens).toBeGreaterThan(50);
  expect((await agents.json("plan", "budget", other)).data["cost"]).toMatchObject({
    spent_usd: Math.ceil(tokens * 0.1) / 1_000_000,
    reserved_usd: 0,
  });
});
