/** Agents that speak the Agent Client Protocol carry out plans: confined, through the gateway, with a strict model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AGENT_DIALECTS } from "../domain/actor/acp-actor.ts";
import { TINY_2 } from "../actors/outside/testing/plain-start.ts";
import { byTurn, OutsideWorld, promptOf, put, tiny } from "./testing/outside-world.ts";

test.each(AGENT_DIALECTS)(
  "%s: two files are edited, credited to their answers, and the plan applies",
  async (dialect) => {
    await using world = await OutsideWorld.open(
      byTurn(
        { text: "First.", calls: [put("b.txt", "b\n")] },
        { calls: [tiny("run", { command: "printf 'three\\n' >> a.txt" })] },
        { text: "Both files are done." },
      ),
    );
    await world.add({ speaks: "acp", dialect });
    const done = await world.run("change two files");
    expect(done).toMatchObject({ phase: "execute", state: "complete", answer: "Both files are done." });
    const credits = await world.credits();
    expect(credits.map(({ path, operation, tool, outcome }) => [path, operation, tool, outcome])).toEqual([
      ["b.txt", "create", "acp:helper/write", "ok"],
      ["a.txt", "modify", "acp:helper/run", "ok"],
    ]);
    expect(credits.map(({ chosen }) => chosen)).toEqual([
      expect.stringContaining("b.txt"),
      expect.stringContaining("a.txt"),
    ]);
    expect(world.server.log.map(({ refused }) => refused)).toEqual([undefined, undefined, undefined]);
    const agents = await world.agents();
    const { planId: plan } = done as { planId: string };
    expect(await agents.run("plan.apply", { plan }, { answers: "program" })).toMatchObject({ state: "applied" });
    expect(readFileSync(join(world.repository, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(readFileSync(join(world.repository, "b.txt"), "utf8")).toBe("b\n");
    expect(world.refs()).toEqual(["refs/heads/main"]);
  },
);

test("an agent of version 2 of the protocol carries a plan out", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [put("b.txt", "b\n")] },
      { calls: [tiny("run", { command: "echo c > c.txt" })] },
      { text: "Done." },
    ),
  );
  await world.add({ speaks: "acp", script: TINY_2, variables: { TINY_VERSIONS: "2" } });
  const done = await world.run("write two files");
  expect(done).toMatchObject({ phase: "execute", state: "complete", answer: "Done." });
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([
    ["b.txt", "acp:helper/write"],
    ["c.txt", "acp:helper/run"],
  ]);
});

test("code is put in front of an agent only for the view that its definition names", async () => {
  await using world = await OutsideWorld.open(byTurn({ text: "Nothing is to be done." }));
  world.commit({ "greeting.js": "export function greeting(name) {\n  return `Hello ${name}`;\n}\n" });
  await world.add({ speaks: "acp" });
  await world.add({ speaks: "acp", name: "shown", more: "context_view: execute" });
  const prompts: string[] = [];
  for (const actor of ["local/helper", "local/shown"]) {
    await world.run("what does greeting answer?", { actor });
    prompts.push(promptOf(world.requests.at(-1)));
  }
  // The request is the goal and the only step; it is said once.
  expect(prompts.map((prompt) => prompt.split("what does greeting answer?").length - 1)).toEqual([1, 1]);
  expect(prompts.map((prompt) => prompt.includes("export function greeting(name)"))).toEqual([false, true]);
});
