import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ContextCache } from "../cache/context-cache.ts";
import { AssemblySetUp, strategy } from "../testing/assembly-set-up.ts";
import { requireInTime } from "./timed-out-strategies.ts";

test("a strategy that a deadline ended is an error with its name, also when others found something", async () => {
  await using setUp = new AssemblySetUp([strategy("hangs"), strategy("signatures")], {
    executor: { strategyTimeoutMs: 3_000, totalTimeoutMs: 6_000 },
  });
  const context = await setUp.assembler.assemble(setUp.input(2_000));
  expect(context.fragments.length).toBeGreaterThan(0);
  expect(context.gaps).toEqual([
    { kind: "strategy", name: "hangs", reason: expect.stringMatching(/^timed out after \d+ s$/) },
  ]);
  expect(() => requireInTime(context, "Nothing was printed.")).toThrow(
    expect.objectContaining({
      code: "timed_out",
      message: "The search timed out: hangs did not finish in time.",
      detail: { strategies: ["hangs"] },
    }),
  );
});

test("a strategy whose turn never came is named as well; failures of other kinds are gaps", () => {
  expect(() =>
    requireInTime({ outcomes: [{ strategy: "late", status: "skipped", reason: "deadline" }] }, "Nothing was printed."),
  ).toThrow("timed out: late");
  const others = [
    { strategy: "off", status: "skipped", reason: "breaker open" },
    { strategy: "broken", status: "failed", reason: "no luck", durationMs: 1 },
  ] as const;
  expect(() => requireInTime({ outcomes: others }, "Nothing was printed.")).not.toThrow();
});

test("a context that lacks a strategy for its deadline is not stored: the next one is whole", async () => {
  const strategies = [strategy("hangsOnce", { repeatable: true }), strategy("signatures", { repeatable: true })];
  const directory = mkdtempSync(join(tmpdir(), "timed-out-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  await using cached = new AssemblySetUp(strategies, {
    executor: { strategyTimeoutMs: 3_000, totalTimeoutMs: 6_000 },
    parts: { cache: new ContextCache(directory) },
  });
  const scope = await cached.scope();
  const short = await cached.assembler.assemble(cached.input(2_000, { scope: () => scope }));
  expect(short.outcomes).toContainEqual(expect.objectContaining({ strategy: "hangsOnce", status: "timed_out" }));
  const whole = await cached.assembler.assemble(cached.input(2_000, { scope: () => scope }));
  expect(whole.outcomes.map(({ status }) => status)).toEqual(["ran", "ran"]);
  requireInTime(whole, "Nothing was printed.");
});
