import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TokenCache } from "./token-cache.ts";
import { TokenCounter } from "./token-counter.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tokens-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const length = (text: string): number => text.length;
function never(): number {
  throw new Error("it was counted");
}

test("a text counted once is not counted again, in another process neither", () => {
  {
    using cache = TokenCache.in(directory);
    expect(cache.count("o200k_base", "hello", length)).toBe(5);
  }
  using again = TokenCache.in(directory);
  expect(again.count("o200k_base", "hello", never)).toBe(5);
  expect(() => again.count("cl100k_base", "hello", never)).toThrow("it was counted");
});

test("a file that is not a database, or cannot be one, is not used, and replaced where possible", () => {
  const file = join(directory, "tokens.db");
  writeFileSync(file, "this is not a database, despite its name".repeat(100));
  {
    using cache = new TokenCache(file);
    expect(cache.count("o200k_base", "hello", length)).toBe(5);
  }
  {
    using cache = new TokenCache(file);
    expect(cache.count("o200k_base", "hello", length)).toBe(5);
  }
  expect(readFileSync(file).subarray(0, 6).toString()).toBe("SQLite");
  using nowhere = new TokenCache(join(file, "below-a-file", "tokens.db"));
  expect(nowhere.count("o200k_base", "hello", length)).toBe(5);
});

test("a count that cannot be true is not believed", () => {
  {
    using cache = TokenCache.in(directory);
    cache.count("o200k_base", "hello", () => 5_000);
  }
  using again = TokenCache.in(directory);
  expect(again.count("o200k_base", "hello", length)).toBe(5);
});

test("it does not grow for ever", () => {
  const file = join(directory, "tokens.db");
  for (let round = 0; round < 20; round++) {
    using cache = new TokenCache(file, { maxCounts: 100 });
    for (let i = 0; i < 200; i++) cache.count("o200k_base", `${round}:${i}`, length);
  }
  expect(statSync(file).size).toBeLessThan(200_000);
  using cache = new TokenCache(file);
  expect(cache.count("o200k_base", "19:199", never)).toBe(6);
  expect(() => cache.count("o200k_base", "0:0", never)).toThrow("it was counted");
});

test("threads that use it at once all count right", async () => {
  const code = `
    const { TokenCache } = await import(${JSON.stringify(new URL("./token-cache.ts", import.meta.url).href)});
    const { parentPort } = await import("node:worker_threads");
    let wrong = 0;
    for (let round = 0; round < 20; round++) {
      using cache = TokenCache.in(${JSON.stringify(directory)});
      for (let i = 0; i < 50; i++) {
        const text = "x".repeat(i + 1);
        if (cache.count("o200k_base", text, (t) => t.length) !== i + 1) wrong++;
      }
    }
    parentPort.postMessage(wrong);`;
  const wrong = await Promise.all(
    [1, 2, 3].map(
      () =>
        new Promise<unknown>((resolve, reject) => {
          const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
          worker.on("message", resolve).on("error", reject);
        }),
    ),
  );
  expect(wrong).toEqual([0, 0, 0]);
});

test("a counter with everything in its cache does not load the tokenizer", () => {
  {
    using cache = TokenCache.in(directory);
    expect(new TokenCounter("o200k_base", cache).count("hello world")).toBe(2);
  }
  using cache = TokenCache.in(directory);
  expect(cache.count("o200k_base", "hello world", never)).toBe(2);
  expect(new TokenCounter("o200k_base").count("")).toBe(0);
});
