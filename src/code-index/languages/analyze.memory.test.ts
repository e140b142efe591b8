import { expect, test } from "vitest";
import { createAnalyzer } from "./analyze.ts";
import { SAMPLED, sampleOf } from "../testing/samples.ts";

test("ten thousand files leave nothing behind", async () => {
  using analyzer = await createAnalyzer();
  await analyzer.load(SAMPLED);
  const samples = SAMPLED.map((language) => ({ language, text: sampleOf(language) }));
  const analyzeAll = (times: number): void => {
    for (let i = 0; i < times; i++) {
      const { language, text } = samples[i % samples.length] ?? { language: "text", text: "" };
      // Every third is cut, so that trees with errors are among them.
      analyzer.analyze(language, i % 3 === 0 ? text.slice(0, (i * 37) % text.length) : text);
    }
  };
  // To walk this takes a deep path.
  const deep = `x = ${"[".repeat(200)}${"]".repeat(200)}`;
  analyzeAll(1_000);
  const before = process.memoryUsage();
  analyzeAll(10_000);
  for (let i = 0; i < 10_000; i++) analyzer.analyze("javascript", deep);
  const after = process.memoryUsage();
  // A tree of a sample takes 100 kB and more: if each stayed, this would be a gigabyte.
  expect(after.rss - before.rss).toBeLessThan(150_000_000);
  expect(after.external - before.external).toBeLessThan(20_000_000);
}, 120_000);
