import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openStore } from "../../store/sqlite/open-store.ts";
import { listBreakers } from "../breaker/breaker-record.ts";
import { AssemblySetUp } from "../testing/assembly-set-up.ts";

const PROGRAM = fileURLToPath(new URL("../testing/assembling-process.ts", import.meta.url));

interface Told {
  readonly hashes: readonly string[];
  readonly isWithin: boolean;
  readonly gaps: readonly unknown[];
  readonly failure: string;
  readonly loadedTokenizer: boolean;
}

test("twenty assemblies at once in each of several processes: the same bytes, and one breaker", async () => {
  await using setUp = new AssemblySetUp([]);
  const url = `sqlite:${join(setUp.directory, "store.db")}`;
  await using store = await openStore(url);
  const run = async (): Promise<Told> => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, setUp.directory, url]);
    return JSON.parse(stdout) as Told;
  };
  const told = await Promise.all([run(), run(), run()]);
  expect(new Set(told.map(({ hashes }) => hashes.join())).size).toBe(1);
  expect(new Set(told[0]?.hashes).size).toBe(20);
  expect(told.map(({ isWithin, gaps }) => [isWithin, gaps])).toEqual([
    [true, []],
    [true, []],
    [true, []],
  ]);
  // Each process saw it fail once; together that is three times.
  expect(await listBreakers(store)).toMatchObject([{ strategy: "throws", state: "open", failures: 3 }]);
  const fourth = await run();
  expect(fourth.failure).toBe("is switched off for now because it kept failing");
  expect(fourth.hashes).toEqual(told[0]?.hashes);
  // The first had texts to count. Where three processes write at once a count may be lost, and is made again by the
  // fourth; everything the fifth has to count was counted before.
  expect(told.some(({ loadedTokenizer }) => loadedTokenizer)).toBe(true);
  expect((await run()).loadedTokenizer).toBe(false);
});
