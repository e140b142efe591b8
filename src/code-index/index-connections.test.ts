import { afterEach, beforeEach, expect, test } from "vitest";
import { giveBack, takeConnection } from "./index-connections.ts";
import { removeIndex } from "./index-file.ts";
import { openScopedIndex } from "./open-scoped-index.ts";
import { IndexedDirectory } from "./testing/indexed-directory.ts";

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
  giveBack(first);
  expect(first.database.isTransaction).toBe(false);
  expect(taken(directory.indexFile)).toBe(first);
  giveBack(beside);
  giveBack(first);
  expect([beside.database.isOpen, first.database.isOpen]).toEqual([false, true]);
});

test("what changed since it was used last is seen", async () => {
  (await directory.open())[Symbol.dispose]();
  directory.write("b.ts", "export const second = 2;\n");
  using index = await directory.open();
  expect(index.files().map(({ path }) => path)).toEqual(["a.ts", "b.ts"]);
  expect(index.definitionsNamed("second")).toHaveLength(1);
});

test("an index that was removed and made anew is another file", async () => {
  await directory.sync();
  const before = taken(directory.indexFile);
  giveBack(before);
  await removeIndex(directory.indexFile);
  expect(takeConnection(directory.indexFile)).toBeUndefined();
  expect(before.database.isOpen).toBe(false);
  const { generation } = await directory.sync();
  const old = taken(directory.indexFile);
  giveBack(old);
  await removeIndex(directory.indexFile);
  const anew = await directory.sync();
  expect(anew.generation).toBeGreaterThan(generation);
  using index = openScopedIndex({ trees: [directory.tree(anew.generation)] });
  expect(index.files()).toHaveLength(1);
  expect(old.database.isOpen).toBe(false);
});

test("few are kept open", async () => {
  const others = Array.from({ length: 5 }, () => new IndexedDirectory({ "a.ts": "" }));
  const connections = [];
  for (const other of others) {
    await other.sync();
    const connection = taken(other.indexFile);
    giveBack(connection);
    connections.push(connection);
  }
  expect(connections.map(({ database }) => database.isOpen)).toEqual([false, true, true, true, true]);
  for (const other of others) other[Symbol.dispose]();
});
