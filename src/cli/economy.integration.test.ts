/**
 * The cost of a bug fix of twenty turns in a repository of 2,500 files, at a server that prices a prompt cache as
 * providers do: the beginning of a prompt is read from it only if it has the same bytes as before, up to a mark.
 */
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import type { WireAnswer, WireUsage } from "../actors/testing/wires/wire.ts";
import { tokenizerNamed } from "../context/tokens/tokenizer.ts";
import { calls, TurnList, WireWorld } from "./testing/wire-world.ts";

const TURNS = 20;
/** Input tokens of all calls together, and the part of them that is read from the cache. */
const MOST_TOKENS = 240_000;
const LEAST_CACHED = 0.9;

/** A code base of many packages, in which names and words repeat as they do in real ones. */
function codeBase(files: number): Record<string, string> {
  const areas = ["orders", "billing", "catalog", "users", "search", "reports", "shipping", "stock", "mail", "audit"];
  const entries = Array.from({ length: files }, (_, index): [string, string] => {
    const area = areas[index % areas.length] ?? "";
    const name = `${area}_${index}`;
    const body = Array.from(
      { length: 12 },
      (__, line) =>
        `def ${name}_${line}(value, rate):\n    """Step ${line} of ${area}."""\n    return value * rate + ${line}\n`,
    );
    return [`${area}/module_${index}.py`, body.join("\n\n")];
  });
  return Object.fromEntries(entries);
}

/** As a model works: it looks in several places, edits, runs something, looks again. */
function bugFix(): WireAnswer[] {
  const turns: WireAnswer[] = [
    calls("search_files", { pattern: "def billing_1_3" }),
    calls("read_file", { path: "billing/module_1.py" }),
    calls("record_strategy", {
      steps: [{ id: "fix", description: "Round the rate", risk: 0.1, confidence: 0.9 }],
    }),
  ];
  for (let turn = turns.length; turn < TURNS - 2; turn += 1) {
    const path = `billing/module_${turn * 10 + 1}.py`;
    const kinds: WireAnswer[] = [
      calls("read_file", { path }),
      calls("search_files", { pattern: `billing_${turn}1_\\d`, path: "billing" }),
      calls("edit_file", { path, old: `value * rate + ${turn % 12}`, new: `round(value * rate, 2) + ${turn % 12}` }),
      calls("shell_execute", {
        command: `git diff --stat; grep -rn "round(" billing | head -30; python3 -m py_compile ${path}`,
      }),
    ];
    turns.push({ text: `Turn ${turn}: I go on.`, ...kinds[turn % kinds.length] });
  }
  turns.push(calls("shell_execute", { command: "python3 -m compileall -q billing" }), { text: "The rate is rounded." });
  return turns;
}

test("a bug fix of twenty turns costs at most 240,000 tokens, nine tenths of them cached", async () => {
  const turns = new TurnList(bugFix());
  const count = tokenizerNamed("cl100k_base");
  await using server = await strictServer({ script: turns.script, count });
  using world = new WireWorld();
  await world.at(server);
  world.commit(codeBase(2_500));
  const actor = ["--actor", "anthropic/claude-sonnet-4-5"];
  const { error } = await world.asked("round the rate of billing to two places", ...actor);
  expect(error).toBeUndefined();
  expect([turns.left, server.log.length]).toEqual([0, TURNS]);
  const usage = server.log.flatMap((logged) => logged.usage ?? []);
  const sum = (field: keyof WireUsage): number => usage.reduce((total, one) => total + one[field], 0);
  const [input, read, written] = [sum("input"), sum("cacheRead"), sum("cacheWrite")];
  const dollars = ((input - read - written) * 3 + read * 0.3 + written * 3.75 + sum("output") * 15) / 1_000_000;
  const share = read / input;
  process.stdout.write(`input ${input}, cached ${(share * 100).toFixed(1)} %, $${dollars.toFixed(3)}\n`);
  expect(input).toBeLessThanOrEqual(MOST_TOKENS);
  expect(share).toBeGreaterThanOrEqual(LEAST_CACHED);
  // Each call begins with the bytes of the one before, without the marks, which move on.
  const prompts = server.log.map(({ body }) => unmarked([body["tools"], body["system"], body["messages"]]));
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1]?.replace(/\]\}?\]*$/, "") ?? "";
    expect(prompt.startsWith(before)).toBe(true);
  }
});

function unmarked(parts: unknown): string {
  return JSON.stringify(parts, (key, value: unknown) => (key === "cache_control" ? undefined : value));
}
