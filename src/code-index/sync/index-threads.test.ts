import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { type IndexThreadsOptions, readInThreads } from "./index-threads.ts";
import type { FileResult } from "./prepare-content.ts";
import { sized } from "../../testing/size.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

const FULL = sized({ normal: false, full: true });

/** Threads that act as the name of a file says. */
const ENTRY = `
import { parentPort, workerData } from "node:worker_threads";
if (workerData.root.endsWith("broken")) throw new Error("no grammar");
parentPort.postMessage("ready");
parentPort.on("message", (paths) => {
  for (const path of paths) {
    if (path.startsWith("hang")) for (;;);
    if (path.startsWith("exit")) process.exit(3);
    if (path.startsWith("throw")) throw new Error("no such luck");
    if (path.startsWith("full")) { const all = []; for (;;) all.push(new Array(1e6).fill(path)); }
    parentPort.postMessage({ path, result: { is: "gap", reason: "done" } });
  }
});
`;

async function read(
  paths: readonly string[],
  options: Partial<IndexThreadsOptions> = {},
): Promise<Map<string, FileResult>> {
  using directory = new IndexedDirectory();
  const entry = join(directory.home, "entry.mjs");
  writeFileSync(entry, ENTRY);
  const results = new Map<string, FileResult>();
  await readInThreads(
    paths.map((path) => ({ path, size: 1 })),
    {
      root: directory.root,
      indexFile: directory.indexFile,
      maxFileSize: 100,
      threads: 2,
      signal: undefined,
      patienceMs: 60_000,
      entry: pathToFileURL(entry),
      onResult: (path, result) => {
        if (results.has(path)) throw new Error(`${path} came twice`);
        results.set(path, result);
      },
      ...options,
    },
  );
  return results;
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}

test("every file gets one result, however many there are", async () => {
  const paths = names("file", 1_000);
  expect([...(await read(paths)).keys()].sort()).toEqual(paths.toSorted());
});

const DISASTERS: readonly (readonly [bad: string, reason: string | RegExp])[] = [
  ["hang", "took too long to parse"],
  ["exit", "ended the parser"],
  ["throw", "ended the parser: no such luck"],
  // Filling the memory takes its time.
  ...(FULL ? [["full", /^ended the parser: .*memory/] as const] : []),
];

test.each(DISASTERS)("a file that makes the thread %s is a gap, and the others are read", async (bad, reason) => {
  const paths = [...names("a", 40), `${bad}1`, ...names("b", 40), `${bad}2`, ...names("c", 40)];
  const results = await read(paths, { patienceMs: bad === "hang" ? 1_000 : 60_000 });
  expect(results.size).toBe(paths.length);
  for (const [path, result] of results) {
    const expected = path.startsWith(bad) ? reason : "done";
    expect(result).toEqual({
      is: "gap",
      reason: typeof expected === "string" ? expected : expect.stringMatching(expected),
    });
  }
});

test("a signal ends it, and so does a result that cannot be processed", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("stopped")), 50);
  await expect(read(["hang"], { signal: controller.signal, patienceMs: 60_000 })).rejects.toThrow("stopped");
  const onResult = (): void => {
    throw new Error("full disk");
  };
  await expect(read(names("file", 100), { onResult })).rejects.toThrow("full disk");
});

test("threads that cannot start are an error, not a gap for each file", async () => {
  await expect(read(names("file", 100), { root: "/broken" })).rejects.toThrow(
    "The parser cannot be started: it ended the parser: no grammar",
  );
});
