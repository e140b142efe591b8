import { expect, test } from "vitest";
import { createAnalyzer } from "./analyze.ts";
import { sized } from "../../testing/size.ts";
import { SAMPLED, sampleOf } from "../testing/samples.ts";

const FILES = sized({ normal: 3_000, full: 10_000 });

test(`${FILES} files leave nothing behind`, async () => {
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
  analyzeAll(FILES);
  for (let i = 0; i < FILES; i++) analyzer.analyze("javascript", deep);
  const after = process.memoryUsage();
  // A tree of a sample takes 100 kB and more: if each stayed, this would be 300 MB at least.
  expect(after.rss - before.rss).toBeLessThan(150_000_000);
  expect(after.external - before.external).toBeLessThan(20_000_000);
}, 120_000);
