/** Budgets through the command line: what is sent fits, what was spent is shown, and an error says how to go on. */
import { expect, test } from "vitest";
import { countingServer, type CountingServer } from "../actors/testing/counting-server.ts";
import { Budget } from "../ledger/budgets.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { Agents } from "./testing/agents.ts";

/** Each call of "hello" can cost 27.5 cents, and does cost 18: a thousand dollars for a million tokens. */
const USAGE = { prompt_tokens: 100, completion_tokens: 80 };

async function withModel(agents: Agents, server: CountingServer): Promise<void> {
  for (const [key, value] of [
    ["base-url", `${server.url}/v1`],
    ["models", "m"],
    ["prices", "m=1000/1000"],
  ] as const) {
    expect(await agents.json("config", "set", `provider.house.${key}`, value)).toMatchObject({ exit_code: 0 });
  }
}

const ASK = ["actor", "run", "house/m", "hello", "--max-output-tokens", "100"];

test("a day's budget stops calls outside of plans too, and warns before it does", async () => {
  await using server = await countingServer(USAGE);
  using agents = new Agents();
  await withModel(agents, server);
  for (const _ of [1, 2, 3, 4]) expect(await agents.json(...ASK)).toMatchObject({ exit_code: 0, messages: [{}] });
  await agents.json("config", "set", "budget.per-day", "0.994999");
  const refused = await agents.json(...ASK);
  expect(refused).toMatchObject({ exit_code: 1, error: { code: "BUDGET_EXCEEDED" } });
  expect(refused.error?.message).toBe(
    "A call of house/m can cost $0.275, but only $0.2749 of today's $0.995 budget (UTC) is left.",
  );
  expect(refused.error?.suggestions).toEqual(["agents config set budget.per-day <dollars>", "or wait until 00:00 UTC"]);
  agents.environment["CLEVERAGENTS_BUDGET_PER_DAY"] = "0";
  expect((await agents.json(...ASK)).error?.suggestions[0]).toBe("CLEVERAGENTS_BUDGET_PER_DAY=<dollars>");
  expect(server.asked()).toBe(4);

  agents.environment["CLEVERAGENTS_BUDGET_PER_DAY"] = "0.995";
  const last = await agents.run(ASK);
  expect(last).toMatchObject({ code: 0, stdout: "yes\n" });
  expect(last.stderr).toContain("warning: Today's budget (UTC) is nearly used up: $0.90 of $0.995.");
  agents.environment["CLEVERAGENTS_BUDGET_PER_DAY"] = "none";
  expect(await agents.run(ASK)).toMatchObject({ code: 0 });
  agents.environment["CLEVERAGENTS_BUDGET_PER_DAY"] = "many";
  expect(await agents.json(...ASK)).toMatchObject({ exit_code: 1, error: { code: "CONFIGURATION" } });
  delete agents.environment["CLEVERAGENTS_BUDGET_PER_DAY"];

  const { data } = await agents.json("info");
  expect(data["cost_today"]).toMatchObject({
    calls: 6,
    spent_usd: 1.08,
    reserved_usd: 0,
    assumed_usd: 0,
    cap_usd: 0.994999,
  });
  const audit = await agents.json("audit", "list");
  const types = (audit.data["entries"] as { type: string }[]).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("budget."))).toEqual([
    "budget.warning",
    "budget.exceeded",
    "budget.exceeded",
  ]);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("a plan's budget is set with it, shown, changed and never above what is configured", async () => {
  using agents = new Agents();
  const plain = await agents.withPlan();
  const before = await agents.json("plan", "status", plain);
  expect(before.data["cost"]).toMatchObject({ calls: 0, spent_usd: 0, cap_usd: null, today: { cap_usd: null } });
  expect((await agents.run(["plan", "status", plain])).stdout).not.toContain("cost");

  const use = (...more: string[]) => agents.json("plan", "use", "fix-bug", "shop", "--arg", "issue=7", ...more);
  expect(await use("--budget", "lots")).toMatchObject({
    exit_code: 2,
    error: { message: 'A budget must be an amount of dollars like 2.50, or "none" for no limit, not "lots".' },
  });
  const made = await use("--budget", "1.50");
  expect(made.data["budget_usd"]).toBe(1.5);
  const id = String(made.data["plan_id"]);
  expect((await agents.json("plan", "status", id)).data["cost"]).toMatchObject({ cap_usd: 1.5 });
  expect((await agents.run(["plan", "status", id])).stdout).toMatch(/cost:\s+\$0\.00 of \$1\.50 ─{20} 0 %/);

  await agents.json("config", "set", "budget.per-plan", "2");
  const loosened = await agents.json("plan", "budget", id, "2.01");
  expect(loosened).toMatchObject({
    exit_code: 2,
    error: {
      message: "A budget of $2.01 is more than the $2.00 configured for a plan.",
      suggestions: ["agents config set budget.per-plan <dollars>", "agents config get budget.per-plan"],
    },
  });
  expect(await use("--budget", "3")).toMatchObject({ exit_code: 2 });
  expect((await agents.json("plan", "budget", id, "0")).data["cost"]).toMatchObject({ cap_usd: 0 });
  expect((await agents.json("plan", "budget", id, "none")).data["cost"]).toMatchObject({ cap_usd: 2 });
  await agents.json("plan", "cancel", id);
  expect(await agents.json("plan", "budget", id, "1")).toMatchObject({ exit_code: 2 });
  expect(await agents.json("config", "set", "budget.per-plan", "-1")).toMatchObject({ exit_code: 2 });
});

test("what a plan spent, reserved and lost is in its status", async () => {
  using agents = new Agents();
  const id = (await agents.withPlan()) as PlanId;
  {
    await using store = await openStore(`sqlite:${agents.database}`);
    const lease = await new PlanLifecycleService({ store }).startStrategize(id);
    const budget = new Budget({ store, caps: { perPlan: undefined, perDay: undefined }, lease });
    const model = { provider: "openai", model: "gpt-4o" };
    await budget.settle(await budget.reserve(model, 500_000), 300_000);
    await budget.settle(await budget.reserve(model, 500_000), 120_000, { estimated: true });
    await budget.settle(await budget.reserve(model, { unknown: [] }), undefined);
    await budget.reserve(model, 80_000);
    await agents.json("config", "set", "budget.per-plan", "1");
    expect((await agents.json("plan", "status", id)).data["cost"]).toMatchObject({
      calls: 4,
      spent_usd: 0.42,
      estimated_usd: 0.12,
      reserved_usd: 0.08,
      assumed_usd: 0,
      unpriced_calls: 1,
      cap_usd: 1,
    });
    await lease.release();
  }
  expect((await agents.json("plan", "status", id)).data["cost"]).toMatchObject({ reserved_usd: 0, assumed_usd: 0.08 });
  const { stdout } = await agents.run(["plan", "budget", id]);
  expect(stdout).toContain("$0.50 of $1.00 ━━━━━━━━━━────────── 50 % for 4 calls");
  expect(stdout).toContain("includes $0.12 counted here");
  expect(stdout).toContain("an estimated $0.08 for calls cut off");
  expect(stdout).toContain("1 call at an unknown price");
});

test("what a killed process had sent counts in full", async () => {
  let sent: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (sent = resolve));
  await using server = await countingServer(USAGE, () => {
    sent();
    return true;
  });
  using agents = new Agents();
  await withModel(agents, server);
  const { child, finished } = agents.start(ASK);
  await arrived;
  child.kill("SIGKILL");
  await finished;
  expect((await agents.json("info")).data["cost_today"]).toMatchObject({ calls: 1, spent_usd: 0, reserved_usd: 0.275 });
  await agents.json("config", "set", "budget.per-day", "0.549999");
  expect(await agents.json(...ASK)).toMatchObject({
    error: { code: "BUDGET_EXCEEDED", detail: { reserved_usd: 0.275 } },
  });
  expect(server.asked()).toBe(1);
});
