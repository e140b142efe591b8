/** Endpoints that lie about their usage, break off, never end or never stop: the money that is spent fits the cap. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { lyingServer, times, type Lie, type LyingServer } from "../actors/testing/lying-server.ts";
import { olderStore } from "../store/testing/older-store.ts";
import { Agents, type Envelope } from "./testing/agents.ts";

/** In dollars; a hundred for a million tokens. */
const CAP = 0.5;
const PRICE = 0.0001;
/**
 * A question of 50 tokens with the tokens around it, and the reservation of its call: 1.4 times that, a template, and
 * the longest answer.
 */
const INPUT = 16 + 16 + 50;
const BOUND = (115 + 128 + 1_000) * PRICE;
const ASK = ["actor", "run", "house/m", "word ".repeat(50).trim(), "--max-output-tokens", "1000"];

async function withModel(agents: Agents, server: LyingServer): Promise<void> {
  for (const [key, value] of [
    ["provider.house.base-url", `${server.url}/v1`],
    ["provider.house.prices", "m=100/100"],
    ["budget.per-day", String(CAP)],
  ] as const) {
    expect(await agents.json("config", "set", key, value)).toMatchObject({ exit_code: 0 });
  }
}

interface CostToday {
  readonly calls: number;
  readonly spent_usd: number;
  readonly estimated_usd: number;
  readonly assumed_usd: number;
  readonly reserved_usd: number;
}

async function costToday(agents: Agents): Promise<CostToday> {
  const { exit_code, data } = await agents.json("info");
  expect(exit_code).toBe(0);
  return data["cost_today"] as CostToday;
}

/** Waves of commands that all ask at once, the first of them as processes. */
async function waves(agents: Agents, lie: Lie): Promise<{ answers: Envelope[]; asked: number; cost: CostToday }> {
  await using server = await lyingServer(lie);
  await withModel(agents, server);
  const answers: Envelope[] = [];
  for (let wave = 0; wave < 3; wave += 1) {
    const ask = (): Promise<Envelope> => (wave === 0 ? agents.processJson(...ASK) : agents.json(...ASK));
    answers.push(...(await Promise.all(Array.from({ length: 5 }, ask))));
  }
  return { answers, asked: server.asked(), cost: await costToday(agents) };
}

const WORDS = 800;
test.each([
  ["below zero", { prompt_tokens: -5_000, completion_tokens: -5_000 }],
  ["next to nothing", { prompt_tokens: 0, completion_tokens: 1 }],
])("usage of %s: no more goes out than fits, and each answer is there", async (_what, usage) => {
  using agents = new Agents();
  const { answers, asked, cost } = await waves(agents, { pieces: () => times(WORDS, " word"), usage });
  const answered = answers.filter(({ exit_code }) => exit_code === 0);
  expect(answered.map(({ data }) => String(data["response"]).length)).toEqual(answered.map(() => WORDS * 5));
  const refusals = answers.flatMap(({ error }) => (error === undefined ? [] : [error.code]));
  expect(new Set(refusals)).toEqual(new Set(["BUDGET_EXCEEDED"]));
  expect(asked).toBe(answered.length);
  expect(asked).toBeGreaterThanOrEqual(4);
  // The tokens that really went over the wire, at their price.
  const spent = asked * (INPUT + WORDS) * PRICE;
  expect(spent).toBeLessThanOrEqual(CAP);
  expect(cost).toMatchObject({ calls: asked, assumed_usd: 0, reserved_usd: 0 });
  expect(cost.spent_usd).toBeCloseTo(spent, 6);
  expect(cost.estimated_usd).toBeCloseTo(spent, 6);
  expect((await agents.run(["info"])).stdout).toContain("counted here, not reported by the provider");
});

test.each([
  ["fractions", { prompt_tokens: 30.5, completion_tokens: 9.5 }],
  ["10^15", { prompt_tokens: 1e15, completion_tokens: 1e15 }],
])("usage of %s does not cost the answer", async (_what, usage) => {
  await using server = await lyingServer({ pieces: () => times(10, " word"), usage });
  using agents = new Agents();
  await withModel(agents, server);
  const { data } = await agents.json(...ASK);
  expect(data).toMatchObject({
    response: " word".repeat(10),
    usage: { input_tokens: INPUT, output_tokens: 10, estimated: true, cost_usd: 0.0092 },
  });
  expect(await costToday(agents)).toMatchObject({ spent_usd: 0.0092, estimated_usd: 0.0092, reserved_usd: 0 });
});

test("an answer that breaks off counts as reserved, each try of it: four fit, and are shown as assumed", async () => {
  using agents = new Agents();
  const { answers, asked, cost } = await waves(agents, { pieces: () => times(10, "five "), ending: "breaks off" });
  expect(answers.filter(({ exit_code }) => exit_code === 0)).toEqual([]);
  expect(asked).toBe(4);
  expect(cost).toMatchObject({ calls: 4, spent_usd: 0, reserved_usd: 0 });
  expect(cost.assumed_usd).toBeCloseTo(4 * BOUND, 6);
  expect((await agents.run(["info"])).stdout).toContain("for calls cut off before reporting");
});

test("an answer that does not end at its limit is ended there", async () => {
  using agents = new Agents();
  const { answers, asked, cost } = await waves(agents, { pieces: () => times(1_000_000, " word") });
  const answered = answers.filter(({ exit_code }) => exit_code === 0);
  expect(answered.length).toBe(asked);
  expect(asked).toBe(4);
  for (const { data, messages } of answered) {
    expect(data["finish"]).toBe("length");
    expect(String(data["response"]).length / 5).toBeLessThanOrEqual(1_000 * 1.4 * (1 + 1 / 16) + 1);
    expect(messages).toContainEqual({ level: "warning", text: "The answer was cut off at its limit." });
  }
  expect(cost.spent_usd).toBeCloseTo(4 * (INPUT + 1_000) * PRICE, 6);
  expect(cost).toMatchObject({ reserved_usd: 0, assumed_usd: 0 });
});

test("a flood is refused, its connection is closed, and the process ends while the endpoint would go on", async () => {
  await using server = await lyingServer({ pieces: () => times(Number.POSITIVE_INFINITY, "x".repeat(65_536)) });
  using agents = new Agents();
  await agents.json("config", "set", "provider.house.base-url", `${server.url}/v1`);
  const { code, stderr } = await agents.run(["actor", "run", "house/m", "hello"]);
  expect(code).toBe(1);
  expect(stderr).toContain("sent more text than one answer can have");
  await expect.poll(server.left).toBe(1);
});

test("a call that the user stops costs what was sent and what had come, as an estimate", async () => {
  await using server = await lyingServer({ pieces: () => times(100, " word"), ending: "falls silent" });
  using agents = new Agents();
  await withModel(agents, server);
  const { child, finished } = agents.start(ASK);
  await expect.poll(server.sent, { timeout: 30_000 }).toBe(500);
  child.kill("SIGINT");
  expect((await finished).stderr).toContain("was stopped");
  const cost = await costToday(agents);
  expect(cost).toMatchObject({ calls: 1, assumed_usd: 0, reserved_usd: 0, estimated_usd: cost.spent_usd });
  expect(cost.spent_usd).toBeGreaterThanOrEqual(INPUT * PRICE - 1e-9);
  expect(cost.spent_usd).toBeLessThanOrEqual((INPUT + 100) * PRICE + 1e-9);
});

test("info tells what was spent, also where an earlier version let it fall below zero", async () => {
  using agents = new Agents();
  mkdirSync(dirname(agents.database), { recursive: true });
  {
    using database = olderStore(agents.database, "money is never negative");
    const day = Math.floor(Date.now() / 86_400_000);
    database.exec(`
      INSERT INTO reservations (id, day, provider, model, bound, state, cost, at, ended_at)
        VALUES ('a', ${day}, 'house', 'm', 104900, 'settled', -44000000, 1, 3);
      INSERT INTO spending (scope, spent, reserved) VALUES ('day:${day}', -44000000, 0);`);
  }
  await agents.json("config", "set", "budget.per-day", String(CAP));
  expect(await costToday(agents)).toMatchObject({ calls: 1, spent_usd: 0, assumed_usd: 0.1049 });
  const shown = await agents.run(["info"]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain("$0.1049 of $0.50");
});
