import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MOST_DEFINERS } from "./reference-graph.ts";
import type { IndexedFile, ScopedIndex } from "../model/scoped-index.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

const STORE = `/** Keeps sessions. */
export class SessionStore {
  /** Finds one. */
  find(token: string): string {
    return token;
  }
}

export function validateToken(token: string): boolean {
  return token !== "";
}
`;
const LOGIN = `import { SessionStore, validateToken } from "./session-store.ts";

export function login(token: string): string {
  const store = new SessionStore();
  return validateToken(token) ? store.find(token) : "";
}
`;
const FILES = {
  "src/session-store.ts": STORE,
  "src/login.ts": LOGIN,
  "docs/login.md": "# Logging in\n\nTokens are validated, see [the code](../src/login.ts).\n\n## Tokens\n\nMore.\n",
  "notes.txt": "session session session store token\n",
  "empty.txt": "",
};

async function withIndex(
  test: (index: ScopedIndex) => void,
  files: Readonly<Record<string, string>> = FILES,
): Promise<void> {
  using directory = new IndexedDirectory(files);
  using index = await directory.open();
  test(index);
}

function file(index: ScopedIndex, path: string): IndexedFile {
  const found = index.file("app", path);
  if (found === undefined) throw new Error(`${path} is not there`);
  return found;
}

describe("searching", () => {
  test("finds words in any form, best where they are names or part of the path", async () => {
    await withIndex((index) => {
      const search = (...words: string[]): string[] => index.searchText(words, 10).map((hit) => hit.file.path);
      expect(search("SessionStore")[0]).toBe("src/session-store.ts");
      expect(search("session_store")).toEqual(search("SessionStore"));
      expect(search("validating")).toEqual(["src/session-store.ts", "src/login.ts", "docs/login.md"]);
      expect(search("logins", "logged")[0]).toBe("docs/login.md");
      expect(search("nothing", "like", "this")).toEqual([]);
      expect(index.searchText(["token"], 2)).toHaveLength(2);
      expect(index.searchText(["token"], 0)).toEqual([]);
      expect(search()).toEqual([]);
    });
  });

  test("finds paths and definitions", async () => {
    await withIndex((index) => {
      expect(index.searchPaths("LOGIN", 9).map(({ path }) => path)).toEqual(["docs/login.md", "src/login.ts"]);
      expect(index.searchPaths("login", 1)).toHaveLength(1);
      const names = index.searchDefinitions(["token", "validate"], 9).map(({ name }) => name);
      expect(names).toEqual(["validateToken", "Tokens"]);
      expect(index.searchDefinitions(["token"], 1)).toHaveLength(1);
      expect(index.definitionsNamed("find")).toMatchObject([
        { kind: "method", container: 0, startLine: 3, endLine: 6 },
      ]);
      expect(index.definitionsNamed("sessionstore")).toEqual([]);
    });
  });

  test("takes any question as words", async () => {
    using directory = new IndexedDirectory(FILES);
    using index = await directory.open();
    const syntax = fc.constantFrom(
      '"',
      "*",
      "NEAR(",
      "AND",
      "OR NOT",
      "names:",
      "^",
      "{",
      "session",
      "\0",
      "'; DROP",
      "-",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(syntax, fc.string())), (words) => {
        expect(index.searchText(words, 5).length).toBeLessThanOrEqual(5);
        expect(index.searchDefinitions(words, 5).length).toBeLessThanOrEqual(5);
        for (const word of words) expect(Array.isArray(index.referencesTo(word))).toBe(true);
      }),
    );
  });
});

test("names lead to their users, and files to their imports", async () => {
  await withIndex((index) => {
    const users = index.referencesTo("validateToken");
    expect(users.map((reference) => reference.file.path)).toEqual(["src/login.ts", "src/login.ts"]);
    expect(index.referencesIn(file(index, "src/login.ts")).some(({ name }) => name === "SessionStore")).toBe(true);
    const imported = index.importsOf(file(index, "src/login.ts")).map(({ path }) => path);
    expect(imported).toEqual(["src/session-store.ts"]);
    expect(index.importersOf(file(index, "src/login.ts")).map(({ path }) => path)).toEqual(["docs/login.md"]);
    const { files, edges } = index.graph();
    const links = edges.map(({ from, to, name, definers }) => [files[from]?.path, files[to]?.path, name, definers]);
    expect(links).toEqual([
      ["src/login.ts", "src/session-store.ts", "SessionStore", 1],
      ["src/login.ts", "src/session-store.ts", "find", 1],
      ["src/login.ts", "src/session-store.ts", "validateToken", 1],
    ]);
  });
});

test("a name that very many files define connects none of them", async () => {
  const files: Record<string, string> = { "user.ts": "export const used = common + rare;\n" };
  for (let at = 0; at <= MOST_DEFINERS; at += 1) {
    files[`${at}.ts`] = `export const common = ${at};\n${at < MOST_DEFINERS ? `export const rare = ${at};\n` : ""}`;
  }
  await withIndex((index) => {
    expect([...new Set(index.graph().edges.map(({ name }) => name))]).toEqual(["rare"]);
    expect(index.graph().edges).toHaveLength(MOST_DEFINERS);
    expect(index.definitionsNamed("common")).toHaveLength(MOST_DEFINERS + 1);
  }, files);
});

test("excerpts are parts of the very text", async () => {
  await withIndex((index) => {
    const store = file(index, "src/session-store.ts");
    expect(index.text(store)).toBe(STORE);
    expect(store.lines).toBe(11);
    expect(index.excerptOfFile(store, "full").text).toBe(STORE);
    expect(index.excerptOfFile(store, "signatures").text).toContain("validateToken(token: string): boolean");
    const [found] = index.definitionsNamed("find");
    if (found === undefined) throw new Error("find is not there");
    expect(index.excerptOfDefinition(found, "full")).toMatchObject({ startLine: 3, endLine: 6 });
    expect(index.excerptOfLines(store, 9, 9)).toMatchObject({
      startLine: 9,
      endLine: 9,
      text: "export function validateToken(token: string): boolean {",
    });
    expect(index.excerptOfLines(store, -5, 1_000)).toMatchObject({ startLine: 1, endLine: 11 });
    expect(index.excerptOfLines(store, 11, 3)).toMatchObject({ startLine: 11, endLine: 11, text: "}" });
    expect(index.excerptOfLines(file(index, "empty.txt"), 1, 1)).toMatchObject({ text: "" });
  });
});
