import type { OracleTask } from "./task.ts";

function typescript(module: string, names: string, cases: Readonly<Record<string, string>>): Record<string, string> {
  const tests = Object.entries(cases).map(([name, check]) => `test("${name}", () => {\n  ${check}\n});\n`);
  const head = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ${names} } from "./${module}.ts";\n`;
  return { [`${module}.test.ts`]: `${head}\n${tests.join("\n")}`, "package.json": '{ "type": "module" }\n' };
}

export const TYPESCRIPT_TASKS: readonly OracleTask[] = [
  {
    name: "versions in order",
    language: "typescript",
    path: "version.ts",
    solution: `export function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number));
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}
`,
    tests: typescript("version", "compare", {
      "the same": 'assert.equal(compare("1.2.3", "1.2.3"), 0);',
      "numbers, not letters": 'assert.equal(compare("1.10.0", "1.9.0"), 1);',
      "the last part counts": 'assert.equal(compare("1.0.1", "1.0.2"), -1);',
      "a missing part is zero": 'assert.equal(compare("1.0.0", "1"), 0);',
    }),
    faults: [
      {
        right: "  for (let at = 0; at < 3; at += 1) {",
        wrong: "  for (let at = 0; at < 2; at += 1) {",
        shownBy: "the last part counts",
      },
      {
        right: "    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);",
        wrong: "    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 1);",
        shownBy: "a missing part is zero",
      },
    ],
  },
  {
    name: "lines of a table",
    language: "typescript",
    path: "table.ts",
    solution: `export function cells(line: string): string[] {
  const found: string[] = [];
  let [cell, quoted] = ["", false];
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? "";
    if (letter === '"' && quoted && line[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (letter === '"') quoted = !quoted;
    else if (letter === "," && !quoted) {
      found.push(cell);
      cell = "";
    } else cell += letter;
  }
  return [...found, cell];
}
`,
    tests: typescript("table", "cells", {
      plain: 'assert.deepEqual(cells("a,b"), ["a", "b"]);',
      "a comma in quotes": `assert.deepEqual(cells('"a,b",c'), ["a,b", "c"]);`,
      "a quote in quotes": `assert.deepEqual(cells('"a""b"'), ['a"b']);`,
      "an empty end": 'assert.deepEqual(cells("a,"), ["a", ""]);',
    }),
    faults: [
      { right: "      at += 1;\n    } else if", wrong: "      at += 2;\n    } else if", shownBy: "a quote in quotes" },
    ],
    habit: "relies_on_check",
  },
  {
    name: "pieces of a list",
    language: "typescript",
    path: "pieces.ts",
    solution: `export function pieces<T>(list: readonly T[], size: number): T[][] {
  if (size < 1) throw new RangeError("the size must be at least 1");
  const result: T[][] = [];
  for (let from = 0; from < list.length; from += size) result.push(list.slice(from, from + size));
  return result;
}
`,
    tests: typescript("pieces", "pieces", {
      even: "assert.deepEqual(pieces([1, 2, 3, 4], 2), [[1, 2], [3, 4]]);",
      "a rest": "assert.deepEqual(pieces([1, 2, 3], 2), [[1, 2], [3]]);",
      "no size": "assert.throws(() => pieces([1], 0), RangeError);",
    }),
    faults: [
      {
        right: '  if (size < 1) throw new RangeError("the size must be at least 1");',
        wrong: '  if (size < 1) throw new TypeError("the size must be at least 1");',
        shownBy: "no size",
      },
      {
        right: "  for (let from = 0; from < list.length; from += size) result.push(list.slice(from, from + size));",
        wrong: "  for (let from = 0; from < list.length; from += size) result.push(list.slice(from, from + 1));",
        shownBy: "a rest",
      },
    ],
    habit: "misremembers",
  },
  {
    name: "a title in an address",
    language: "typescript",
    path: "slug.ts",
    solution: `export function slug(title: string): string {
  const plain = title.normalize("NFD").replaceAll(/\\p{M}/gu, "");
  return plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
`,
    tests: typescript("slug", "slug", {
      spaces: 'assert.equal(slug("Hello World"), "hello-world");',
      accents: 'assert.equal(slug("Crème brûlée"), "creme-brulee");',
      "signs at the ends": 'assert.equal(slug("(What?)"), "what");',
    }),
    faults: [
      {
        right: '    .replaceAll(/^-|-$/g, "");',
        wrong: '    .replaceAll(/^-/g, "");',
        shownBy: "signs at the ends",
      },
    ],
    habit: "wrong_names",
  },
];
