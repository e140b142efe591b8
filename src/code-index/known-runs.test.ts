import * as fc from "fast-check";
import { expect, test } from "vitest";
import { KnownRuns } from "./known-runs.ts";

const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;

function counted(runs: KnownRuns<string>, text: string, most = 100_000): Map<string, number> {
  const counts = new Map<string, number>();
  for (const tally of runs.count(text)) {
    const [run = ""] = tally.words;
    counts.set(run, (counts.get(run) ?? 0) + tally.count);
    tally.count = 0;
  }
  if (runs.size > most) runs.forget();
  return counts;
}

/** What it must be, in the order of first appearance. */
function expected(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const run of text.match(RUN) ?? []) if (run.length <= 20) counts.set(run, (counts.get(run) ?? 0) + 1);
  return counts;
}

test("runs are counted as the expression finds them, in whatever text, however often all are forgotten", () => {
  const runs = new KnownRuns({ longest: 20, run: RUN, wordsOf: (run) => [run] });
  const texts = fc.array(
    fc.oneof(fc.constantFrom("a", "_b", "größe", "$", " ", "\n", "-", "9", "会话"), fc.string({ unit: "binary" })),
  );
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join("");
      expect([...counted(runs, text, 30)]).toEqual([...expected(text)]);
    }),
    { numRuns: 300 },
  );
});

test("a text with very many different ones is counted too, and they are the same the next time", () => {
  const runs = new KnownRuns({ longest: 20, run: RUN, wordsOf: (run) => [run] });
  const text = Array.from({ length: 60_000 }, (_, at) => `name${at % 40_000}`).join(" ");
  for (let round = 0; round < 2; round += 1) {
    const counts = counted(runs, text);
    expect(runs.size).toBe(40_000);
    expect(counts.size).toBe(40_000);
    expect([counts.get("name0"), counts.get("name39999")]).toEqual([2, 1]);
  }
});
