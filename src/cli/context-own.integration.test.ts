/** Strategies and stages that a user brings along: only from where they trust, and what happens when they fail. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Agents } from "./testing/agents.ts";
import { CodeWorld, outputOf } from "./testing/code-world.ts";

const FAILING = `export const confidence = () => 1;
export default function () { throw new Error("no luck today"); }
`;
const BY_NAME = `export default {
  name: "ByName",
  order: (fragments) => [...fragments].sort((a, b) => (a.entity < b.entity ? -1 : 1)),
};
`;

async function inspect(agents: Agents, ...words: string[]): Promise<Record<string, unknown>> {
  const { data, error } = await agents.json("project", "context", "inspect", "shop", "-q", "validateSession", ...words);
  if (error !== undefined) throw new Error(error.message);
  return data;
}

test("a strategy of one's own that keeps failing is switched off, which can be seen and undone; the others go on", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const module = agents.write("unlucky.mjs", FAILING);
  await agents.json("config", "set", "context.strategies.own", `unlucky=${module}`, "--project", "shop");
  const refused = await agents.json("project", "context", "inspect", "shop", "-q", "validateSession");
  expect(refused).toMatchObject({
    exit_code: 1,
    error: { code: "CONFIGURATION", message: expect.stringContaining("is not trusted"), kept: "Nothing was loaded." },
  });
  const perProject = ["config", "set", "context.trusted-modules", agents.directory, "--project", "shop"];
  expect((await agents.json(...perProject)).exit_code).toBe(2);
  await agents.json("config", "set", "context.trusted-modules", agents.directory);

  for (let time = 1; time <= 3; time += 1) {
    const data = await inspect(agents);
    expect(data["gaps"]).toContainEqual(
      expect.objectContaining({ kind: "strategy", name: "unlucky", reason: expect.stringContaining("no luck today") }),
    );
    expect(JSON.stringify(data["context"])).toContain("src/session.ts");
  }
  const off = await inspect(agents);
  expect(off["breakers"]).toMatchObject([{ strategy: "unlucky", project: "local/shop", state: "open", failures: 3 }]);
  expect(off["active_strategies"]).toContainEqual(
    expect.objectContaining({ name: "unlucky", status: "skipped: breaker open" }),
  );
  const listed = await agents.json("context", "breakers", "list");
  expect(listed.data).toMatchObject({ summary: { total: 1, open: 1 } });
  expect((await agents.json("context", "breakers", "reset")).exit_code).toBe(2);
  expect((await agents.json("context", "breakers", "reset", "unluckly")).error?.detail).toMatchObject({
    suggestion: "unlucky",
  });
  expect(
    (await agents.json("context", "breakers", "reset", "unlucky", "--project", "shop")).data["reset"],
  ).toHaveLength(1);
  expect((await agents.json("context", "breakers", "list")).data).toMatchObject({ summary: { open: 0 } });
  expect((await agents.json("context", "breakers", "reset", "--all")).exit_code).toBe(0);
  await agents.json("config", "set", "context.strategies.enabled", "simple-keyword", "--project", "shop");
  expect((await inspect(agents))["active_strategies"]).toMatchObject([{ name: "simple-keyword" }]);
});

test("a stage of one's own takes part, for a project or for one plan, and only a trusted one", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const module = agents.write("by-name.mjs", BY_NAME);
  agents.write(
    "actor.yaml",
    "name: worker\ntype: tool\ndescription: works\nsteps:\n  - { id: look, tool: request_context, params: { query: validateSession } }\n",
  );
  agents.write(
    "action.yaml",
    "name: work\ndescription: Work\ndefinition_of_done: Done\nexecution_actor: local/worker\n",
  );
  await agents.json("actor", "add", "--config", "actor.yaml");
  await agents.json("action", "create", "--config", "action.yaml");
  const use = (stage: string): ReturnType<typeof agents.json> =>
    agents.json("plan", "use", "work", "shop", "--stage", stage);
  expect((await use(`order=${module}`)).error?.message).toContain("is not trusted");
  expect((await agents.json("plan", "list")).data["plans"]).toEqual([]);
  await agents.json("config", "set", "context.trusted-modules", module);
  for (const [stage, message] of [
    ["ordre=by-name.mjs", "there is no stage"],
    ["by-name.mjs", "write --stage stage=module"],
    ["score=by-name.mjs", 'must be an object with a method "score"'],
  ] as const)
    expect((await use(stage)).error?.message).toContain(message);
  const plan = await use("order=by-name.mjs");
  const executed = await agents.json("plan", "execute", String(plan.data["plan_id"]));
  expect(executed.exit_code).toBe(0);
  const { fragments } = outputOf<{ fragments: { entity: string }[] }>(agents, "look");
  const entities = fragments.map(({ entity }) => entity);
  expect(entities.length).toBeGreaterThan(3);
  expect(entities).toEqual(entities.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(traced(await inspect(agents))).toBe("RelevanceCoherenceOrderer");
  await agents.json("config", "set", "context.stage.order", module, "--project", "shop");
  expect(traced(await inspect(agents))).toBe("ByName");
});

test("with an embedding endpoint texts are found by meaning; without its key it says so, and never shows one", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      keys.push(request.headers.authorization);
      const { input } = JSON.parse(body) as { input: string[] };
      // Texts about documents are near a question about manuals, although they share no word.
      const data = input.map((text, index) => ({ index, embedding: /# Sessions|manual/.test(text) ? [1, 0] : [0, 1] }));
      response.end(JSON.stringify({ data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const set = (key: string, value: string): ReturnType<typeof agents.json> =>
      agents.json("config", "set", key, value);
    await set("context.embedding.url", `http://127.0.0.1:${port}/v1`);
    expect((await agents.json("project", "context", "inspect", "shop")).error?.message).toContain("half configured");
    await set("context.embedding.model", "small");
    await set("context.embedding.api-key-env", "TEST_EMBEDDING_KEY");
    const without = await inspect(agents, "--query", "manual");
    expect(JSON.stringify(without["gaps"])).toContain("TEST_EMBEDDING_KEY");
    agents.environment["TEST_EMBEDDING_KEY"] = "s3cret-key";
    const found = await inspect(agents, "--query", "manual");
    const { fragments } = found["context"] as { fragments: { entity: string; strategies: string[] }[] };
    const page = fragments.find(({ entity }) => entity.includes("docs/sessions.md"));
    expect(page?.strategies).toContain("semantic-embedding");
    expect(new Set(keys)).toEqual(new Set(["Bearer s3cret-key"]));
    expect(JSON.stringify(found)).not.toContain("s3cret-key");
  } finally {
    server.close();
  }
});

function traced(data: Record<string, unknown>): string | undefined {
  const trace = data["trace"] as { stage: string; component: string }[];
  return trace.find(({ stage }) => stage === "order")?.component;
}
