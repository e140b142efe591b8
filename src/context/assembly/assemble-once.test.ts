import { expect, test } from "vitest";
import { assembleOnce } from "./assemble-once.ts";
import { defaultStages } from "../stages/default-stages.ts";
import { AssemblySetUp, strategy } from "../testing/assembly-set-up.ts";
import { TokenCounter } from "../tokens/token-counter.ts";

/** A tokenizer that breaks the rule: it counts more tokens for a whole text than for its parts. */
class Unfair extends TokenCounter {
  override count(text: string): number {
    const headings = text.match(/^# shop:/gm)?.length ?? 0;
    return super.count(text) + Math.max(0, headings - 1) * 50;
  }
}

test("the whole text is counted once more, and fragments over the budget go, the worst first", async () => {
  const strategies = [strategy("signatures")];
  await using setUp = new AssemblySetUp(strategies);
  const scope = await setUp.scope();
  const counter = new Unfair("o200k_base");
  const context = await assembleOnce({
    input: setUp.input(700),
    scope,
    strategies,
    backends: new Set(["text"]),
    defaults: defaultStages(setUp.executor, strategies, (name) => name),
    custom: {},
    counter,
    onOutcomes: () => {},
  });
  expect(context.tokens).toBe(counter.count(context.text));
  expect(context.tokens).toBeLessThanOrEqual(700);
  expect(context.fragments.length).toBeGreaterThan(1);
  const packed = context.trace.find(({ stage }) => stage === "order")?.out ?? 0;
  expect(packed).toBeGreaterThan(context.fragments.length);
  const worst = Math.min(...context.fragments.map(({ score }) => score));
  expect(worst).toBeGreaterThan(0);
});
