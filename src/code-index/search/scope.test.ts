import * as fc from "fast-check";
import { matchesGlob } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FileFilter, IndexScope } from "../model/index-scope.ts";
import { openScopedIndex } from "./open-scoped-index.ts";
import type { IndexedFile, ScopedIndex } from "../model/scoped-index.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

const WORDS = ["session", "token", "store", "lease"];
const PATTERNS = ["src/**", "**/*.ts", "test/*", "src/{a,b}/**", "*.md", "**/[st]*.ts", "docs/guide.md", "**/*.m?"];

/**
 * Files that use each other's names and import each other across all directories, so that every walk leads out if it
 * can.
 */
function project(seed: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const directory of ["src/a", "src/b", "test", "src/a/deep"]) {
    for (const word of WORDS) {
      const others = WORDS.map((other) => `import { ${other} } from "../b/${other}.ts";`).join("\n");
      const up = WORDS.map((other) => `import "../src/a/${other}.ts"; import "./${other}.ts";`).join("\n");
      files[`${directory}/${word}.ts`] = `${others}\n${up}\nexport const ${word} = ${WORDS.join(" + ")}; // ${seed}\n`;
    }
  }
  files["docs/guide.md"] = `# session token store lease ${seed}\n\n[a](../src/a/session.ts) [b](../README.md)\n`;
  files["README.md"] = `# ${seed}\n\nsession [guide](docs/guide.md)\n`;
  return files;
}

let shop: IndexedDirectory;
let bank: IndexedDirectory;
const generations = new Map<string, number>();

beforeAll(async () => {
  shop = new IndexedDirectory(project("shop"));
  bank = new IndexedDirectory(project("bank"));
  generations.set("shop", (await shop.sync()).generation);
  generations.set("bank", (await bank.sync()).generation);
});
afterAll(() => {
  shop[Symbol.dispose]();
  bank[Symbol.dispose]();
});

const filter: fc.Arbitrary<FileFilter> = fc.record({
  include: fc.subarray(PATTERNS, { maxLength: 2 }),
  exclude: fc.subarray(PATTERNS, { maxLength: 2 }),
  maxFileSize: fc.constantFrom(undefined, 120, 400),
});

/** Every file that any answer of an index names. */
function* spokenOf(index: ScopedIndex): Generator<IndexedFile> {
  yield* index.files();
  for (const { file } of index.searchText(WORDS, 1_000)) yield file;
  yield* index.searchPaths("s", 1_000);
  for (const { file } of index.searchDefinitions(WORDS, 1_000)) yield file;
  for (const word of WORDS) {
    for (const { file } of index.definitionsNamed(word)) yield file;
    for (const { file } of index.referencesTo(word)) yield file;
  }
  const graph = index.graph();
  yield* graph.files;
  for (const { from, to } of graph.edges) for (const at of [from, to]) yield graph.files[at] as IndexedFile;
  for (const file of index.files()) {
    yield* index.importsOf(file);
    yield* index.importersOf(file);
    for (const { file: found } of [...index.definitionsIn(file), ...index.referencesIn(file)]) yield found;
    yield index.excerptOfFile(file, "signatures").file;
  }
}

function allowed({ include, exclude, maxFileSize }: FileFilter, { path, size }: IndexedFile): boolean {
  if (maxFileSize !== undefined && size > maxFileSize) return false;
  if (exclude.some((pattern) => matchesGlob(path, pattern))) return false;
  return include.length === 0 || include.some((pattern) => matchesGlob(path, pattern));
}

test("nothing an index says speaks of a file outside its scope", () => {
  let seen = 0;
  fc.assert(
    fc.property(filter, filter, fc.boolean(), (one, two, both) => {
      const filters = new Map([["shop", one], ...(both ? [["bank", two] as const] : [])]);
      const places = new Map([
        ["shop", shop],
        ["bank", bank],
      ]);
      const scope: IndexScope = {
        trees: [...filters].map(([resource, chosen]) => ({
          resource,
          index: places.get(resource)?.indexFile ?? "",
          overlay: "",
          generation: generations.get(resource) ?? 0,
          filter: chosen,
        })),
      };
      using index = openScopedIndex(scope);
      for (const file of spokenOf(index)) {
        const chosen = filters.get(file.resource);
        expect(chosen !== undefined && allowed(chosen, file), `${file.resource}:${file.path}`).toBe(true);
        expect(index.text(file)).toContain(file.resource);
        seen += 1;
      }
    }),
    { numRuns: 40 },
  );
  expect(seen).toBeGreaterThan(1_000);
});

test("a file of elsewhere, or with other bytes, is not read", () => {
  const trees = [{ ...shop.tree(generations.get("shop") ?? 0), resource: "shop" }];
  using index = openScopedIndex({
    trees: trees.map((tree) => ({ ...tree, filter: { ...tree.filter, include: ["src/**"] } })),
  });
  using all = openScopedIndex({ trees });
  const readme = all.file("shop", "README.md") as IndexedFile;
  const inside = index.files()[0] as IndexedFile;
  for (const foreign of [readme, { ...readme, resource: "bank" }, { ...inside, hash: readme.hash }]) {
    for (const ask of [
      () => index.text(foreign),
      () => index.definitionsIn(foreign),
      () => index.referencesIn(foreign),
      () => index.importsOf(foreign),
      () => index.importersOf(foreign),
      () => index.excerptOfFile(foreign, "full"),
      () => index.excerptOfLines(foreign, 1, 2),
    ]) {
      expect(ask).toThrow(/not in the scope|has not been indexed/);
    }
  }
  expect(index.file("shop", "README.md")).toBeUndefined();
});

test("names of two projects do not connect them", () => {
  const trees = [
    { ...shop.tree(generations.get("shop") ?? 0), resource: "shop" },
    { ...bank.tree(generations.get("bank") ?? 0), resource: "bank" },
  ];
  using index = openScopedIndex({ trees });
  const { files, edges } = index.graph();
  expect(edges.length).toBeGreaterThan(0);
  for (const { from, to } of edges) expect(files[from]?.resource).toBe(files[to]?.resource);
  using turned = openScopedIndex({ trees: trees.toReversed() });
  expect(turned.graph()).toEqual(index.graph());
  expect(turned.searchText(["session"], 50)).toEqual(index.searchText(["session"], 50));
});
