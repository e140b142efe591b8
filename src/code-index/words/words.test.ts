import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countWords, stem, wordFinder, wordsOf } from "./words.ts";

function counted(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  countWords(Buffer.from(text), (word, count) => {
    if (counts.has(word)) throw new Error(`${word} came twice`);
    counts.set(word, count);
  });
  return counts;
}

describe("words", () => {
  test.each([
    ["SessionStore", ["sessionstore", "sess", "stor"]],
    ["Session XSession", ["sess", "xsession"]],
    ["session_store", ["sessionstore", "sess", "stor"]],
    ["HTTPServer2", ["httpserver2", "http", "serv", "2"]],
    ["parseJSONFile", ["parsejsonfile", "pars", "json", "file"]],
    ["utf8", ["utf8", "utf", "8"]],
    ["$scope._private", ["scop", "privat"]],
    ["MAX_VALUE", ["maxvalue", "max", "valu"]],
    ["i x", []],
    ["größe STRASSE", ["größ", "strass"]],
    ["会话令牌", ["会话令牌"]],
    ['"AND" OR NEAR(a*)', ["and", "or", "near"]],
    ["a".repeat(65), []],
    [`${"é".repeat(65)} ${"é".repeat(64)}`, ["é".repeat(64)]],
  ])("of %j", (text, expected) => {
    expect(wordsOf(text)).toEqual(expected);
  });

  test.each([
    ["validate", "validates", "validated", "validating", "validation", "validator"],
    ["run", "runs", "running"],
    ["query", "queries"],
    ["parse", "parser", "parsing", "parsed"],
    ["lease", "leases", "leased"],
  ])("of one thing in several forms are the same: %s", (...forms) => {
    expect([...new Set(forms.map(stem))]).toHaveLength(1);
  });

  test.each(["class", "user", "status", "this", "string"])("keep an ending that belongs to the stem: %s", (word) => {
    expect(stem(word)).toBe(word);
  });

  test("are not cut where a long text is", () => {
    for (const gap of [" ", "\n", ";"]) {
      const counts = counted(`sessionToken${gap}`.repeat(20_000));
      expect([...counts]).toEqual([
        ["sessiontoken", 20_000],
        ["sess", 20_000],
        ["token", 20_000],
      ]);
    }
  });

  test.each(["name", "größe"])("are counted the same after so many that all were forgotten: %s", (name) => {
    const text = "größeToken größe_token tokenGröße storeToken token";
    const before = counted(text);
    counted("tokenStore");
    const many = counted(Array.from({ length: 60_000 }, (_, at) => `${name}${at}`).join(" "));
    expect(many.get("1234")).toBe(1);
    expect(many.size).toBe(120_001);
    expect([...counted(text)]).toEqual([...before]);
    expect([...counted("tokenStore storeToken").values()]).toEqual([1, 2, 2, 1]);
    expect([...counted("store stored storing")]).toEqual([["stor", 3]]);
  });

  test("of names in ASCII are parted like those of all alphabets", () => {
    const name = fc.string({ unit: fc.constantFrom(...Array.from("aabcABC12_$")), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(name, (text) => {
        const whole = text.replaceAll(/[_$]/g, "").toLowerCase();
        // The letter does not change how the rest is split, but the name is not ASCII then.
        const besides = new Set(["ж", `ж${whole}`, whole]);
        expect(wordsOf(text).filter((word) => word !== whole)).toEqual(
          wordsOf(`ж_${text}`).filter((word) => !besides.has(word)),
        );
      }),
    );
  });

  test("of a name are never overlooked by the word finder", () => {
    const part = fc.constantFrom(
      "queries",
      "Query",
      "runs",
      "Running",
      "validation",
      "status",
      "HTTP",
      "utf",
      "ies",
      "s",
    );
    const joint = fc.constantFrom("", "", "_", "$", " ", "-", "2", "é", "İ", "ß");
    const name = fc.array(fc.tuple(part, joint), { minLength: 1, maxLength: 4 }).map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(name, (text) => {
        for (const word of wordsOf(text)) expect([word, wordFinder([word])(text)]).toEqual([word, true]);
      }),
      { numRuns: 500 },
    );
    expect(wordFinder(["sess", "quer"])("getTransportLatency")).toBe(false);
  });

  test("are counted, and hold nothing that a search engine could interpret", () => {
    expect(counted("token Token tokenStore")).toEqual(
      new Map([
        ["token", 3],
        ["tokenstore", 1],
        [stem("store"), 1],
      ]),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(wordsOf(text).join("")).toMatch(/^[\p{L}\p{M}\p{N}]*$/u);
      }),
    );
  });
});
