/** A run has a budget where the user set none: it is shown before the first call, and it holds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countingServer } from "../actors/testing/counting-server.ts";
import type { RunEvent } from "../domain/run-event.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { openCleverAgents } from "./open.ts";

async function budgetOf(
  settings: Readonly<Record<string, string>>,
  more: { readonly budget?: string } = {},
): Promise<{ readonly cap: number | undefined; readonly error: unknown; readonly asked: number }> {
  await using server = await countingServer({ prompt_tokens: 10, completion_tokens: 10 });
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-run-budget-"));
  try {
    const repository = makeRepository(join(directory, "shop"));
    await using agents = await openCleverAgents({ dataDir: join(directory, "data"), environment: { ...process.env } });
    const all = { "provider.house.base-url": `${server.url}/v1`, "provider.house.models": "m", ...settings };
    for (const [key, value] of Object.entries(all)) await agents.run("config.set", { key, value });
    let cap: number | undefined;
    let asked = 0;
    const tell = (event: RunEvent): void => {
      if (event.type === "run_started") ({ cap } = event);
      if (event.type === "ask_answered") asked += 1;
    };
    const wish = { request: "do it", directory: repository, ...more };
    const error: unknown = await agents.run("run", wish, { answers: "none", tell }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { cap, error, asked };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const PRICED = { "provider.house.prices": "m=1000/1000" };

test("a run of a paid model stops at five dollars where no limit was set", async () => {
  const { cap, error, asked } = await budgetOf(PRICED);
  expect(cap).toBe(5_000_000);
  expect(error).toMatchObject({ code: "budget_exceeded" });
  expect(asked).toBe(0);
});

test("every limit of the user's own goes before the default, also a higher one and none", async () => {
  expect((await budgetOf(PRICED, { budget: "7" })).cap).toBe(7_000_000);
  expect((await budgetOf(PRICED, { budget: "none" })).cap).toBeUndefined();
  expect((await budgetOf({ ...PRICED, "budget.per-run": "none" })).cap).toBeUndefined();
  expect((await budgetOf({ ...PRICED, "budget.per-plan": "9" })).cap).toBe(9_000_000);
});

test("the default refuses no model: one without a price is asked without a limit, and so is a free one", async () => {
  for (const prices of [undefined, "m=0/0"]) {
    const { cap, asked } = await budgetOf(prices === undefined ? {} : { "provider.house.prices": prices });
    expect(cap).toBeUndefined();
    expect(asked).toBeGreaterThan(0);
  }
});
