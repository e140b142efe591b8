import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "./estimate-tokens.ts";
import { tokenizerNamed } from "./tokenizer.ts";

/** Pieces of our own sources, as long as the excerpts of strategies. */
const PIECES = globSync("**/*.ts", { cwd: join(import.meta.dirname, "..") })
  .toSorted()
  .map((path) =>
    readFileSync(join(import.meta.dirname, "..", path), "utf8")
      .split("\n")
      .slice(0, 30)
      .join("\n"),
  );

describe.each(["o200k_base", "cl100k_base"] as const)("beside %s", (name) => {
  const count = tokenizerNamed(name);

  test("has rather too many tokens for code than too few, and not many too many", () => {
    for (const piece of PIECES) expect(estimateTokens(piece)).toBeGreaterThan(count(piece) * 0.95);
    const [estimated, counted] = [estimateTokens, count].map((measure) =>
      PIECES.reduce((sum, piece) => sum + measure(piece), 0),
    );
    expect(estimated).toBeGreaterThan(counted ?? 0);
    expect(estimated).toBeLessThan((counted ?? 0) * 1.3);
  });
});

test.each([
  ["", 0],
  ["one", 1],
  ["oneTwo", 2],
  ["HTTPServer 12345", 5],
  ["    deep\n", 3],
])("takes %j for %i tokens", (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});
