import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { IndexDamagedError } from "../model/index-errors.ts";
import { removeIndex } from "../index/index-database.ts";
import { indexStatus } from "../index/index-status.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";
import { sized } from "../../testing/size.ts";

const FILES = Object.fromEntries(
  Array.from({ length: 40 }, (_, at) => [`${at}.ts`, `export const name${at} = ${at};\n// ${"word ".repeat(at)}\n`]),
);

test("a file that is not a database is rebuilt, and reported", async () => {
  using directory = new IndexedDirectory(FILES);
  await directory.sync();
  writeFileSync(
    directory.indexFile,
    "this is not a database, it is a text that was saved here by mistake ".repeat(100),
  );
  expect(indexStatus(directory.indexFile)).toEqual({ is: "damaged" });
  expect(await directory.sync()).toMatchObject({ files: 40, parsed: 40, rebuilt: "it was damaged" });
  expect(await directory.sync()).toMatchObject({ parsed: 0, rebuilt: undefined });
});

test("an index of another version is rebuilt, and reported", async () => {
  using directory = new IndexedDirectory(FILES);
  await directory.sync();
  using database = new DatabaseSync(directory.indexFile);
  database.exec("PRAGMA user_version = 999");
  database.close();
  expect(indexStatus(directory.indexFile)).toEqual({ is: "never indexed" });
  expect(await directory.sync()).toMatchObject({ files: 40, rebuilt: "it was made by another version" });
});

test("a cut file is noticed", async () => {
  using directory = new IndexedDirectory(FILES);
  await directory.sync();
  const bytes = readFileSync(directory.indexFile);
  writeFileSync(directory.indexFile, bytes.subarray(0, Math.floor(bytes.length / 2)));
  const result = readAll(directory);
  if (result === "damaged") expect(indexStatus(directory.indexFile)).toEqual({ is: "damaged" });
  expect(await directory.sync({ rebuild: result !== "damaged" })).toMatchObject({ files: 40 });
  expect(readAll(directory)).toBe("read");
});

test("at any place of overwritten bytes, a reader reads the true content or reports damage, and the next sync repairs it", async () => {
  for (const part of sized({ normal: [0.3, 0.6, 0.9], full: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99] })) {
    using directory = new IndexedDirectory(FILES);
    await directory.sync();
    const descriptor = openSync(directory.indexFile, "r+");
    const at = Math.floor((statSync(directory.indexFile).size * part) / 4096) * 4096;
    writeSync(descriptor, Buffer.alloc(4096, 0xa5), 0, 4096, at);
    closeSync(descriptor);
    readAll(directory);
    await directory.sync();
    expect(readAll(directory), `overwritten at ${at}`).toBe("read");
  }
});

test("a removed index is gone, and nothing else", async () => {
  using directory = new IndexedDirectory(FILES);
  await directory.sync();
  const made = ["graphs", "contexts"].map((name) => join(dirname(directory.indexFile), name, "made of it"));
  for (const file of made) {
    mkdirSync(dirname(file));
    writeFileSync(file, "");
  }
  await removeIndex(directory.indexFile);
  expect([directory.indexFile, ...made].filter((file) => existsSync(file))).toEqual([]);
  expect(indexStatus(directory.indexFile)).toEqual({ is: "never indexed" });
  expect(await directory.sync()).toMatchObject({ files: 40, parsed: 40, rebuilt: undefined });
  await removeIndex(`${directory.home}/nowhere/at-all.db`);
});

/** Everything is read without a sync before, and compared with the directory. */
function readAll(directory: IndexedDirectory): "read" | "damaged" {
  const status = indexStatus(directory.indexFile);
  if (status.is === "damaged") return "damaged";
  try {
    using index = openScopedIndex({ trees: [directory.tree(status.is === "indexed" ? status.generation : 0)] });
    const texts = Object.fromEntries(index.files().map((file) => [file.path, index.text(file)]));
    expect(texts).toEqual(FILES);
    expect(index.graph().files).toHaveLength(40);
    for (const file of index.files()) expect(index.definitionsIn(file)).toHaveLength(1);
    expect(index.searchText(["word"], 50)).toHaveLength(39);
    expect(index.definitionsNamed("name7")).toHaveLength(1);
    return "read";
  } catch (error) {
    if (error instanceof IndexDamagedError) return "damaged";
    throw error;
  }
}
