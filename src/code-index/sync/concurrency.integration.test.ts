import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { everythingIn, IndexedDirectory } from "../testing/indexed-directory.ts";
import { indexFileFor } from "../index/index-database.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { IndexProcess } from "../testing/run-program.ts";
import { sized } from "../../testing/size.ts";

test("two processes that sync and three that read meanwhile see whole trees only", async () => {
  using directory = new IndexedDirectory();
  const files = 50;
  const edition = (number: number): void => {
    for (let at = 0; at < files; at += 1) directory.write(`${at}.txt`, `edition${number}`);
  };
  edition(0);
  await directory.sync();
  const reading = [1, 2, 3].map(() => new IndexProcess("read", directory.home, { times: 1_000_000 }));
  await Promise.all(reading.map((process) => process.wrote(1)));
  for (let number = 1; number <= sized({ normal: 4, full: 30 }); number += 1) {
    edition(number);
    const both = [1, 2].map(() => new IndexProcess("sync", directory.home, { times: 2 }));
    const lines = (await Promise.all(both.map((process) => process.lines()))).flat();
    // The second one waited, and found it done.
    expect(lines.filter(({ changed }) => changed === files)).toHaveLength(1);
    expect(new Set(lines.map(({ generation }) => generation)).size).toBe(1);
  }
  for (const { child } of reading) child.kill("SIGKILL");
  const seen = (await Promise.all(reading.map((process) => process.lines()))).flat();
  const read = seen.filter(({ is }) => is === "read");
  expect(new Set(read.flatMap(({ editions }) => editions)).size).toBeGreaterThan(2);
  for (const { files: found, editions, found: hits } of read) {
    expect([found, (editions as string[]).length, hits]).toEqual([files, 1, files]);
  }
  expect(seen.every(({ is }) => is === "read" || is === "moved")).toBe(true);
});

test("a sync that is killed leaves the tree as it was, and the next one continues from there", async () => {
  using directory = new IndexedDirectory({ "first.txt": "first" });
  await directory.sync();
  const count = 1_200;
  for (let at = 0; at < count; at += 1) {
    directory.write(`${at}.ts`, `export const name${at} = "${"x".repeat(2_000)}";\n`);
  }
  let lost = 0;
  for (const after of sized({ normal: [1, 700], full: [1, 100, 300, 500, 700, 900, 1_150] })) {
    const killed = new IndexProcess("sync", directory.home);
    await killed.wrote(after);
    killed.child.kill("SIGKILL");
    await killed.lines();
    using index = openScopedIndex({ trees: [directory.tree(generationOf(directory))] });
    expect(index.files().map(({ path }) => path)).toEqual(["first.txt"]);
    lost += 1;
  }
  const result = await directory.sync();
  expect(result).toMatchObject({ files: count + 1, added: count });
  // Contents committed before the kill were not parsed again.
  expect(result.parsed).toBeLessThan(count);
  expect(lost).toBeGreaterThan(0);
  using kept = await directory.open();
  const fresh = indexFileFor(`${directory.home}/fresh`, directory.root);
  const { generation } = await directory.sync({ indexFile: fresh });
  using rebuilt = openScopedIndex({ trees: [directory.tree(generation, { index: fresh })] });
  expect(kept.files()).toEqual(rebuilt.files());
  expect(kept.graph()).toEqual(rebuilt.graph());
  expect(kept.searchText(["name7", "name1000"], 10)).toEqual(rebuilt.searchText(["name7", "name1000"], 10));
});

test("a second sync in the same process waits for the first, and a signal ends the waiting", async () => {
  using directory = new IndexedDirectory();
  for (let at = 0; at < 200; at += 1) directory.write(`${at}.ts`, `export const name${at} = 1;\n`);
  const controller = new AbortController();
  const [first, second, third] = [directory.sync(), directory.sync(), directory.sync({ signal: controller.signal })];
  await sleep(20);
  controller.abort(new Error("not needed any more"));
  const outcomes = await Promise.allSettled([first, second, third]);
  const parsed = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.parsed] : []));
  expect(parsed.toSorted((a, b) => a - b)).toEqual([0, 200]);
  expect(outcomes[2]).toMatchObject({ status: "rejected", reason: { message: "not needed any more" } });
});

test("a sync that is told to stop stops, and leaves the tree as it was", async () => {
  using directory = new IndexedDirectory();
  for (let at = 0; at < 600; at += 1) directory.write(`${at}.ts`, `export const name${at} = 1;\n`);
  const controller = new AbortController();
  const onProgress = ({ done }: { done: number }): void => {
    if (done === 300) controller.abort(new Error("enough"));
  };
  await expect(directory.sync({ signal: controller.signal, onProgress })).rejects.toThrow("enough");
  using index = await directory.open();
  expect(everythingIn(index)).toMatchObject({ gaps: [] });
  expect(index.files()).toHaveLength(600);
});

function generationOf(directory: IndexedDirectory): number {
  const status = directory.status();
  return status.is === "indexed" ? status.generation : 0;
}
