/** Strategies and stages that a user brings along: only from where they trust, and what happens when they fail. */
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
    ["by-name.mjs", "is not a stage"],
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

function traced(data: Record<string, unknown>): string | undefined {
  const trace = data["trace"] as { stage: string; component: string }[];
  return trace.find(({ stage }) => stage === "order")?.component;
}
