import * as fc from "fast-check";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { TOKENIZERS } from "../model/context-model.ts";
import { BytePairs } from "./byte-pairs.ts";
import { publishedTokenizer, tokenizerNamed, tokenizerOf } from "./tokenizer.ts";
import { Vocabulary } from "./vocabulary.ts";

const theirs = { o200k_base: o200k, cl100k_base: cl100k };
const asText = { disallowedSpecial: new Set<string>() };

/** Text in which every possible problem at a boundary comes up often. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\n",
        "\r\n",
        "\r",
        " ",
        "  ",
        "\t",
        "/",
        "//",
        "#",
        "}",
        "it's",
        "<|endoftext|>",
        "é",
        "漢字",
        "\u0301",
        "🙂",
        "1234",
        "Aa",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

describe.each(TOKENIZERS)("%s", (name) => {
  const count = tokenizerNamed(name);

  test("counts like the tokenizer", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(count(text)).toBe(theirs[name](text, asText));
      }),
    );
  });

  test("text with long runs has as many tokens as the tokenizer says, in less time", () => {
    const runs = ["a", "aB", " ", "\n", "-", "=*", "\n/", "漢字", "\u0301", "🙂", "xyz", "<|endoftext|>"];
    for (const run of runs) {
      const text = `const a = "${run.repeat(700)}";\nconst b = 1;\n`;
      expect([run, count(text)]).toEqual([run, theirs[name](text, asText)]);
    }
  });

  test("100,000 equal characters take no seconds", () => {
    const started = performance.now();
    const tokens = count("a".repeat(100_000));
    expect(tokens).toBeGreaterThan(1_000);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("a run beyond all measure counts as its bytes, which is never too few", () => {
    expect(count(`x ${"é".repeat(1_000_001)}`)).toBeGreaterThanOrEqual(2_000_000);
  });

  test("parts that begin with # and end with a line have as many tokens apart as together", () => {
    const parts = fc.array(
      hostileText.map((text) => `#${text}\n`),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, (list) => {
        const apart = list.reduce((sum, part) => sum + count(part), 0);
        expect(count(list.join(""))).toBe(apart);
      }),
      { numRuns: 500 },
    );
  });
});

/** Without capitals and digits the whole is one piece. */
const letters = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from("abcdefghinorstéñ漢")), minLength: 1, maxLength: length });

test.each([
  ["short", 40],
  ["long", 300],
])("the byte pairs of a %s piece merge in the tokenizer's own order", (_, length) => {
  const pairs = new BytePairs(Vocabulary.of(publishedTokenizer("o200k_base")));
  fc.assert(
    fc.property(letters(length), (text) => {
      const bytes = Buffer.from(text);
      expect(pairs.count(bytes, bytes.length)).toBe(o200k(text));
    }),
    { numRuns: 500 },
  );
});

test("a piece at the limit between short and long ones is counted like any other", () => {
  const count = tokenizerNamed("o200k_base");
  for (let length = 58; length < 72; length += 1) {
    for (const unit of ["x", "qz", "né", "漢z"]) {
      const text = unit.repeat(length).slice(0, length);
      expect([text, count(text)]).toEqual([text, o200k(text)]);
    }
  }
});

describe("a vocabulary", () => {
  const tokens = ["a", "b", "c", "ab", undefined, "abc", [0xff], [0xff, 0xfe], "漢", "a".repeat(300)];
  const rank = (vocabulary: Vocabulary, text: string | readonly number[]): number => {
    const bytes = Buffer.concat([Buffer.from("xx"), Buffer.from(text), Buffer.from("y")]);
    return vocabulary.rank(bytes, 2, bytes.length - 1);
  };

  test("knows each token by its bytes, at any position, and nothing else", () => {
    const vocabulary = Vocabulary.of({ tokens, splitter: /./g });
    for (const [at, token] of tokens.entries()) if (token !== undefined) expect(rank(vocabulary, token)).toBe(at);
    for (const other of ["", "d", "ba", "abcd", [0xfe], "a".repeat(299)]) expect(rank(vocabulary, other)).toBe(-1);
  });

  test.each([0, 1, 2, 3])("is the same from a file, at any alignment in memory (%i)", (offset) => {
    const published = publishedTokenizer("cl100k_base");
    const file = Vocabulary.of(published).toFile();
    const vocabulary = Vocabulary.from(Buffer.concat([Buffer.alloc(offset), file]).subarray(offset));
    expect(vocabulary.splitter).toEqual(published.splitter);
    for (const [at, token] of published.tokens.entries()) {
      if (token !== undefined && rank(vocabulary, token) !== at)
        expect([at, rank(vocabulary, token)]).toEqual([at, at]);
    }
    expect(rank(vocabulary, "no token of this one")).toBe(-1);
  });

  test("from a machine that orders bytes in another way is refused", () => {
    const file = Buffer.from(Vocabulary.of({ tokens, splitter: /./g }).toFile().subarray(0, 12)).swap32();
    expect(() => Vocabulary.from(file)).toThrow("another machine");
  });
});

test.each([
  ["gpt-4o", "o200k_base"],
  ["openai/gpt-4o-mini", "o200k_base"],
  ["gpt-4.1", "o200k_base"],
  ["gpt-5-codex", "o200k_base"],
  ["o3", "o200k_base"],
  ["gpt-4", "cl100k_base"],
  ["openai:gpt-4-turbo", "cl100k_base"],
  ["ft:gpt-3.5-turbo:acme", "cl100k_base"],
  ["text-embedding-3-small", "cl100k_base"],
  ["claude-opus-4", "o200k_base"],
  ["", "o200k_base"],
])("text for %s is counted with %s", (model, tokenizer) => {
  expect(tokenizerOf(model)).toBe(tokenizer);
});
