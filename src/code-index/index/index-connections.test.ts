import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { returnConnection, takeConnection } from "./index-connections.ts";
import { removeIndex } from "./index-database.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

let directory: IndexedDirectory;
beforeEach(() => {
  directory = new IndexedDirectory({ "a.ts": "export const first = 1;\n" });
});
afterEach(() => directory[Symbol.dispose]());

function taken(indexFile: string) {
  const connection = takeConnection(indexFile);
  if (connection === undefined) throw new Error("there is no index");
  return connection;
}

test("a connection is used again, outside of any transaction, and only by one at a time", async () => {
  await directory.sync();
  const first = taken(directory.indexFile);
  first.database.exec("BEGIN");
  first.database.prepare("SELECT COUNT(*) FROM entries").get();
  const beside = taken(directory.indexFile);
  expect(beside).not.toBe(first);
  returnConnection(first);
  expect(first.database.isTransaction).toBe(false);
  expect(taken(directory.indexFile)).toBe(first);
  returnConnection(beside);
  returnConnection(first);
  expect([beside.database.isOpen, first.database.isOpen]).toEqual([false, true]);
});

test("a change since its last use is seen", async () => {
  (await directory.open())[Symbol.dispose]();
  directory.write("b.ts", "export const second = 2;\n");
  using index = await directory.open();
  expect(index.files().map(({ path }) => path)).toEqual(["a.ts", "b.ts"]);
  expect(index.definitionsNamed("second")).toHaveLength(1);
});

test("an index that was removed and rebuilt is another file", async () => {
  await directory.sync();
  const before = taken(directory.indexFile);
  returnConnection(before);
  await removeIndex(directory.indexFile);
  expect(takeConnection(directory.indexFile)).toBeUndefined();
  expect(before.database.isOpen).toBe(false);
  const { generation } = await directory.sync();
  const old = taken(directory.indexFile);
  returnConnection(old);
  openScopedIndex({ trees: [directory.tree(generation)] })[Symbol.dispose]();
  await removeIndex(directory.indexFile);
  // Its content gets the number that the one before had.
  directory.write("a.ts", "export const other = 1;\n");
  const rebuilt = await directory.sync();
  expect(rebuilt.generation).toBeGreaterThan(generation);
  using index = openScopedIndex({ trees: [directory.tree(rebuilt.generation)] });
  expect(index.files().map((file) => index.text(file))).toEqual(["export const other = 1;\n"]);
  expect(old.database.isOpen).toBe(false);
});

test("files are what they are now: changed, gone, back, let through by another filter, or very many at once", async () => {
  const seen = async (filter = {}): Promise<Record<string, string>> => {
    using index = await directory.open(filter);
    return Object.fromEntries(index.files().map((file) => [file.path, index.text(file)]));
  };
  const files: Record<string, string> = { "a.ts": "export const first = 1;\n" };
  const write = (path: string, text: string): void => {
    files[path] = text;
    directory.write(path, text);
  };
  write("b.ts", "b");
  expect(await seen()).toEqual(files);
  write("b.ts", "c");
  expect(await seen()).toEqual(files);
  rmSync(join(directory.root, "b.ts"));
  expect(await seen()).toEqual({ "a.ts": files["a.ts"] });
  write("b.ts", "b");
  expect(await seen()).toEqual(files);
  expect(await seen({ exclude: ["a.ts"] })).toEqual({ "b.ts": "b" });
  write("b.ts", "d");
  expect(await seen({ exclude: ["a.ts"] })).toEqual({ "b.ts": "d" });
  expect(await seen()).toEqual(files);
  // No sync runs while it is gone.
  rmSync(join(directory.root, "b.ts"));
  await directory.sync();
  write("aa.ts", "takes the lowest number there is");
  write("b.ts", "takes the next");
  expect(await seen()).toEqual(files);
  for (let number = 0; number < 60; number += 1) write(`many/${number}.ts`, `${number}`);
  expect(await seen()).toEqual(files);
});

test("a reader that has closed an index cannot read it any more, nor close it for another reader", async () => {
  const closed = await directory.open();
  closed[Symbol.dispose]();
  using index = await directory.open();
  closed[Symbol.dispose]();
  using beside = await directory.open();
  expect([index.definitionsNamed("first"), beside.definitionsNamed("first")]).toHaveLength(2);
  expect(() => closed.definitionsNamed("first")).toThrow("was closed");
  const [file] = beside.files();
  beside[Symbol.dispose]();
  expect(index.files()).toEqual([file]);
  expect(index.definitionsNamed("first")).toHaveLength(1);
});

test("few are kept open", async () => {
  const others = Array.from({ length: 5 }, () => new IndexedDirectory({ "a.ts": "" }));
  const connections = [];
  for (const other of others) {
    await other.sync();
    const connection = taken(other.indexFile);
    returnConnection(connection);
    connections.push(connection);
  }
  expect(connections.map(({ database }) => database.isOpen)).toEqual([false, true, true, true, true]);
  for (const other of others) other[Symbol.dispose]();
});
