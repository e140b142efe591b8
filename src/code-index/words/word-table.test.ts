import * as fc from "fast-check";
import { expect, test } from "vitest";
import { WordTable } from "./word-table.ts";

const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;

function counted(runs: WordTable<string>, text: string, most = 100_000): Map<string, number> {
  const counts = new Map<string, number>();
  runs.count(Buffer.from(text), (words, count) => {
    for (const run of words) counts.set(run, (counts.get(run) ?? 0) + count);
  });
  if (runs.size > most) runs.forget();
  return counts;
}

/** The expected result, in the order of first appearance. */
function expected(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const run of text.match(RUN) ?? []) if (run.length <= 20) counts.set(run, (counts.get(run) ?? 0) + 1);
  return counts;
}

test("runs are counted as the expression finds them, in any text, however often all are forgotten", () => {
  const runs = new WordTable({ longest: 20, run: RUN, wordsOf: (run) => [run], wordsOfName: (run) => [run] });
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
  const runs = new WordTable({ longest: 20, run: RUN, wordsOf: (run) => [run], wordsOfName: (run) => [run] });
  const text = Array.from({ length: 400_000 }, (_, at) => `n${(at % 300_000) + 100_000}`).join(" ");
  for (let round = 0; round < 2; round += 1) {
    const counts = counted(runs, text, 1_000_000);
    expect(runs.size).toBe(300_000);
    expect(counts.size).toBe(300_000);
    expect([counts.get("n100000"), counts.get("n399999")]).toEqual([2, 1]);
    expect(new Set(counts.values())).toEqual(new Set([1, 2]));
  }
});

test("runs that have the same hash are told apart", () => {
  const runs = new WordTable({ longest: 20, run: RUN, wordsOf: (run) => [run], wordsOfName: (run) => [run] });
  const pairs = ["vqnjycv zsqntml", "hyzcjho rbmnatw", "dbuddex mdigbsr"];
  const all = pairs.join(" ").split(" ");
  for (let round = 0; round < 2; round += 1) {
    expect([...counted(runs, `${pairs.join(" ")} ${pairs.join(" ")}`)]).toEqual(all.map((run) => [run, 2]));
  }
  expect(runs.size).toBe(all.length);
});
