import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { termsOf, wordsIn } from "./query.ts";

const terms = (query: string, entities: readonly string[] = []) => termsOf({ query, entities });

describe("identifiers", () => {
  test.each([
    ["why does parseLease fail?", ["parseLease"]],
    ["rename max_file_size everywhere", ["max_file_size"]],
    ["what calls Lease.renew()?", ["Lease", "renew"]],
    ["look at store::open_file and Plan#cancel", ["store", "open_file", "Plan", "cancel"]],
    ["the `lease` is stale", ["lease"]],
    ['"renew" is slow', ["renew"]],
    ["`two words` are not a name", []],
    ["HTTPServer and API_KEY and ULID", ["HTTPServer", "API_KEY", "ULID"]],
    ["toBase64url vs base58btc", ["toBase64url", "base58btc"]],
    ["this.store.get", ["store", "get"]],
    ["Where is the session token validated?", []],
  ])("in %j", (query, identifiers) => {
    expect(terms(query).identifiers).toEqual(identifiers);
  });

  test("are also the entities of the request, in any spelling", () => {
    expect(terms("", ["renew", "src/lease.ts"])).toMatchObject({ identifiers: ["renew"], paths: ["src/lease.ts"] });
  });
});

describe("paths", () => {
  test.each([
    ["see src/store/lease.ts.", ["src/store/lease.ts"]],
    ["in lease.ts and ./a/b.py", ["lease.ts", "a/b.py"]],
    ["everything below src/store/drivers", ["src/store/drivers"]],
    ["src\\store\\lease.ts", ["src/store/lease.ts"]],
    ["and/or", []],
    ["store.transaction", []],
  ])("in %j", (query, paths) => {
    expect(terms(query).paths).toEqual(paths);
  });
});

describe("words", () => {
  test("are lower-case, split at humps, without the words of every request", () => {
    expect(terms("How does the parseHTTPLease function handle stale leases?").words).toEqual([
      "parse",
      "http",
      "lease",
      "handle",
      "stale",
      "leases",
    ]);
  });

  test.each([
    ["parseHTTPLease2", ["parse", "http", "lease2"]],
    ["MAX_FILE_SIZE", ["max", "size"]],
    ["überPrüfung", ["über", "prüfung"]],
    ["x", []],
  ])("in the name %j", (name, words) => expect(wordsIn(name)).toEqual(words));
});

test("of a pasted text the beginning is read", () => {
  expect(terms(`${"aa ".repeat(5_000)}zebra`).words).toEqual(["aa", "zebra"]);
  expect(terms(`${"aa ".repeat(10_000)}zebra`).words).toEqual(["aa"]);
  expect(
    terms(
      "",
      Array.from({ length: 100 }, (_, at) => `name${at}`),
    ).identifiers,
  ).toHaveLength(64);
});

test("any text at all is read, quickly", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(fc.string({ maxLength: 40 })),
      (query, more) => {
        const { identifiers, paths, words } = terms(query, more);
        expect([...identifiers, ...paths, ...words]).not.toContain("");
      },
    ),
  );
  for (const hostile of ["a".repeat(1e6), "(".repeat(1e6), "a.".repeat(5e5), "`".repeat(1e6), '"a'.repeat(5e5)]) {
    expect(terms(hostile).words.length).toBeLessThanOrEqual(64);
  }
});

test("dotted names are members of the name before them", () => {
  expect(terms("does res.json or Gitignore::matched escape?").members).toEqual([
    { owner: "res", name: "json" },
    { owner: "Gitignore", name: "matched" },
  ]);
  expect(terms("json in general").members).toEqual([]);
});
