import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import type { WireScript } from "../actors/testing/wires/wire.ts";
import type { Envelope } from "./testing/agents.ts";
import { WireWorld } from "./testing/wire-world.ts";

/** `agents run` against a server that refuses what providers refuse, and counts tokens as they do. */
const KINDS = [
  { actor: "anthropic/claude-sonnet-4-5" },
  { actor: "openai/gpt-5" },
  { actor: "google/gemini-2.5-pro" },
  { actor: "vllm/qwen3" },
] as const;

/** Decides on one step, looks at a file so many times, writes one, and says so. */
function worker(looks: number): WireScript {
  return ({ messages }) => {
    // The answers so far, the first of which is the strategy.
    const turn = messages.filter(({ role }) => role === "assistant").length;
    if (turn === 0) {
      const step = { id: "note", description: "Write the note", risk: 0.1, confidence: 0.9 };
      return { reasoning: "One step is enough.", calls: [{ name: "record_strategy", input: { steps: [step] } }] };
    }
    if (turn > looks + 1) return { text: "The note is written." };
    const reasoning = `This is turn ${turn}.`;
    if (turn > looks) {
      return { reasoning, calls: [{ name: "write_file", input: { path: "note.txt", content: "done\n" } }] };
    }
    const calls = [
      { name: "write_file", input: { path: `${turn}.txt`, content: "one more line of this file\n".repeat(12) } },
    ];
    return { reasoning, text: `Turn ${turn}.`, calls };
  };
}

test.each(KINDS)("$actor: nothing a run sends is refused, and most of it is read from the cache", async ({ actor }) => {
  await using server = await strictServer({ script: worker(10) });
  using world = new WireWorld();
  await world.at(server);
  const { data, error } = await world.asked("write a note", "--actor", actor, "--effort", "medium");
  expect(error).toBeUndefined();
  expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  const usage = server.log.slice(1).flatMap((logged) => logged.usage ?? []);
  const total = usage.reduce((sum, { input }) => sum + input, 0);
  const cached = usage.reduce((sum, { cacheRead }) => sum + cacheRead, 0);
  expect(cached / total).toBeGreaterThan(0.85);
  const { data: status } = await world.json("plan", "status", String(data["plan_id"]));
  expect(status).toMatchObject({ effort: "medium", usage: { model_calls: 13, cached_tokens: cached } });
  const { stdout } = await world.run(["plan", "status", String(data["plan_id"])]);
  expect(stdout).toMatch(/tokens in \([\d,]+ cached\)/);
});

test("the budget is settled at what the cache made of the price", async () => {
  await using server = await strictServer({ script: worker(3) });
  using world = new WireWorld();
  await world.at(server);
  // On this machine a model costs nothing unless it has a price.
  await world.json("config", "set", "provider.anthropic.prices", "*=3/15/0.3/3.75");
  const { data } = await world.asked("write a note", "--actor", "anthropic/claude-sonnet-4-5", "--budget", "5");
  const usage = server.log.flatMap((logged) => logged.usage ?? []);
  const cost = usage.reduce((sum, { input, cacheRead, cacheWrite, output }) => {
    const fresh = input - cacheRead - cacheWrite;
    return sum + Math.ceil(Number((fresh * 3 + cacheRead * 0.3 + cacheWrite * 3.75 + output * 15).toFixed(6)));
  }, 0);
  const { data: status } = await world.json("plan", "status", String(data["plan_id"]));
  expect(status["cost"]).toMatchObject({ spent_usd: cost / 1_000_000, estimated_usd: 0 });
});

test("the effort of a plan holds when it goes on later, and can be changed then", async () => {
  await using server = await strictServer({ script: worker(1) });
  using world = new WireWorld();
  await world.at(server);
  const words = ["run", "write a note", "--actor", "openai/gpt-5", "--effort", "high", "--format", "json"];
  const { stdout } = await world.run(words, { cwd: world.repository });
  const id = String((JSON.parse(stdout) as Envelope).data["plan_id"]);
  expect(server.log.at(-1)?.body["reasoning"]).toMatchObject({ effort: "high" });
  await world.json("plan", "execute", id);
  expect(server.log.at(-1)?.body["reasoning"]).toMatchObject({ effort: "high" });
  const { error } = await world.json("plan", "execute", id, "--effort", "enormous");
  expect(error?.message).toContain("must be one of off, low, medium, high");
});

test("a rate limit is waited for, and said", async () => {
  let refused = false;
  await using server = await strictServer({
    script: (request) => {
      if (!refused) {
        refused = true;
        return { status: 429, message: "Slow down", headers: { "retry-after": "1" } };
      }
      return worker(0)(request);
    },
  });
  using world = new WireWorld();
  await world.at(server);
  const words = ["run", "write a note", "--actor", "anthropic/claude-sonnet-4-5", "--automation-profile", "trusted"];
  const { code, stderr } = await world.run(words, { cwd: world.repository });
  expect([code, stderr]).toEqual([0, expect.stringContaining("rate limited, again in 1 s (2 of 10)")]);
});

test("an actor's reasoning and its provider's own options reach the provider", async () => {
  await using server = await strictServer({ script: () => ({ text: "Yes." }) });
  using world = new WireWorld();
  await world.at(server);
  const actor = (options: string): string =>
    `name: local/thinker\ntype: llm\ndescription: Thinks\nprovider: anthropic\nmodel: claude-sonnet-4-5\noptions: ${options}\n`;
  const add = async (options: string): Promise<Envelope> =>
    await world.json("actor", "add", "--config", world.write("actor.yaml", actor(options)));
  expect(JSON.stringify((await add("{ reasoning: huge }")).error)).toContain("must be one of off, low, medium, high");
  expect((await add("{ reasoning: 4096, provider_options: { effort: low } }")).error).toBeUndefined();
  await world.json("actor", "run", "local/thinker", "Is it so?");
  const body = server.log.at(-1)?.body;
  expect(body).toMatchObject({
    thinking: { type: "enabled", budget_tokens: 4_096 },
    max_tokens: 32_000,
    output_config: { effort: "low" },
  });
});

test.each(KINDS)("$actor: a plan that was stopped goes on with its recorded thoughts", async ({ actor }) => {
  let stopped = false;
  await using server = await strictServer({
    script: (request) => {
      const turn = request.messages.filter(({ role }) => role === "assistant").length + 1;
      if (turn === 3 && !stopped) {
        stopped = true;
        return { status: 401, message: "The key was revoked" };
      }
      return worker(4)(request);
    },
  });
  using world = new WireWorld();
  await world.at(server);
  const { error } = await world.asked("write a note", "--actor", actor, "--effort", "low");
  expect(error?.code).toBe("MODEL_AUTHENTICATION");
  const [, id = ""] = /agents plan execute (\w+)/.exec(error?.suggestions.join("\n") ?? "") ?? [];
  const resumed = await world.json("plan", "execute", id);
  expect(resumed.error).toBeUndefined();
  expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual(["The key was revoked"]);
});
