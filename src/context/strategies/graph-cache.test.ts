import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import { StrategySetUp } from "../testing/strategy-set-up.ts";
import { cachedGraph } from "./graph-cache.ts";
import type { GraphColumns } from "./graph-columns.ts";

let code: StrategySetUp;
beforeEach(async () => {
  code = await StrategySetUp.of({ api: { "a.ts": "export const a = 1;\n" }, web: { "b.ts": "" } });
});
afterEach(() => code[Symbol.dispose]());

const GRAPH: GraphColumns = {
  files: 3,
  names: ["öffnen", "line\nbreak"],
  from: Int32Array.of(0, 1),
  to: Int32Array.of(2, 0),
  name: Int32Array.of(1, 0),
  count: Int32Array.of(7, 1),
  definers: Int32Array.of(1, 2),
  imported: Int32Array.of(0, 1),
  importer: Int32Array.of(1, 1, 2),
  importee: Int32Array.of(0, 2, 0),
};

/** How often a graph had to be made. */
function asked(scope: IndexScope, digest = "as it is", times = 2): number {
  let made = 0;
  for (let time = 0; time < times; time += 1) {
    const graph = cachedGraph(scope, digest, () => {
      made += 1;
      return GRAPH;
    });
    expect(graph).toEqual(GRAPH);
  }
  return made;
}

function keptFiles(scope: IndexScope): readonly string[] {
  const directory = join(dirname(scope.trees[0]?.index ?? ""), "graphs");
  return readdirSync(directory).map((name) => join(directory, name));
}

test("a graph is made once, and read as it was", async () => {
  expect(asked(await code.scope(), "as it is", 3)).toBe(1);
});

function digestOf(scope: IndexScope): string {
  using index = openScopedIndex(scope);
  return index.linksDigest();
}

test("a change of names, imports, manifests or files makes another graph; another text alone does not", async () => {
  const scope = await code.scope();
  const digests = [digestOf(scope)];
  const write = (path: string, text: string): void => writeFileSync(join(code.directory, "api", path), text);
  const texts = [
    "export const c = 1;\n",
    "export const a = b;\n",
    "export const a = b + b;\n",
    'import "./b";\nexport const a = b;\n',
  ];
  for (const text of texts) {
    write("a.ts", text);
    digests.push(digestOf(await code.scope()));
  }
  for (const path of ["b.ts", "package.json", "a.js"]) {
    write(path, "{}\n");
    digests.push(digestOf(await code.scope()));
  }
  write("package.json", '{ "name": "api" }\n');
  digests.push(digestOf(await code.scope()));
  digests.push(digestOf(await code.scope({ api: { exclude: ["a.ts"] }, web: {} })));
  digests.push(digestOf(await code.scope({ api: {} })));
  expect(new Set(digests).size).toBe(digests.length);

  const before = digestOf(await code.scope());
  write("a.ts", '// Says why.\nimport "./b";\n\nexport const a = b;\n');
  expect(digestOf(await code.scope())).toBe(before);
  write("a.ts", "export const a = 1;\n");
  for (const path of ["b.ts", "package.json", "a.js"]) rmSync(join(code.directory, "api", path));
  expect(digestOf(await code.scope())).toBe(digests[0]);
});

test("each graph is kept under its digest, and only the latest", async () => {
  const scope = await code.scope();
  for (const digest of ["1", "2", "3", "4"]) expect(asked(scope, digest)).toBe(1);
  for (const digest of ["1", "2", "3", "4"]) expect(asked(scope, digest)).toBe(0);
  for (const file of keptFiles(scope)) if (/\.1(?:\.|$)/.test(file)) utimesSync(file, 1, 1);
  expect(asked(scope, "5")).toBe(1);
  for (const digest of ["2", "3", "4", "5"]) expect(asked(scope, digest)).toBe(0);
  expect(keptFiles(scope)).toHaveLength(8);
  expect(asked(scope, "1")).toBe(1);
});

test("a damaged graph is made again, and so is one in a file that is something else, or too short", async () => {
  const scope = await code.scope();
  asked(scope);
  const damages: readonly ((kept: Buffer) => Uint8Array)[] = [
    // One byte of a column; what is before it says how long the columns are.
    (kept) => kept.fill(9, 40, 41),
    () => Buffer.from("no graph at all".repeat(100)),
    (kept) => kept.subarray(0, 3),
    () => Buffer.alloc(0),
  ];
  for (const damage of damages) {
    for (const file of keptFiles(scope)) writeFileSync(file, damage(readFileSync(file)));
    expect(asked(scope)).toBe(1);
    expect(asked(scope)).toBe(0);
  }
});

test("an unfinished file of a killed process is not taken for a graph, and is removed in time", async () => {
  const scope = await code.scope();
  asked(scope);
  const [kept = ""] = keptFiles(scope);
  const left = `${dirname(kept)}/killed.part`;
  writeFileSync(left, "half a gra");
  utimesSync(left, 1, 1);
  expect(asked(scope)).toBe(0);
  for (const digest of ["1", "2", "3", "4"]) asked(scope, digest);
  expect(keptFiles(scope)).not.toContain(left);
});

test("without a directory to store it, it is made each time", async () => {
  const scope: IndexScope = {
    trees: (await code.scope()).trees.map((tree) => ({ ...tree, index: "/nowhere/at/all/index.db" })),
  };
  expect(asked(scope)).toBe(2);
  expect(asked({ trees: [] })).toBe(2);
});
