import { rmSync } from "node:fs";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

/**
 * `full` is what figures are quoted from. `quick` takes minutes. `smoke` takes seconds and says only that the
 * measurement still works: its figures mean nothing.
 */
export type BenchSize = "smoke" | "quick" | "full";

/** Several rounds of one measurement: the middle one, and how far the others are from it. */
export interface Sample {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export function summarize(values: readonly number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
  return { median, lowest: sorted[0] ?? Number.NaN, highest: sorted.at(-1) ?? Number.NaN };
}

/** Milliseconds `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function met(fulfilled: boolean): string {
  return fulfilled ? "met" : "NOT met";
}

export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Rows of cells as aligned lines: the first column to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (known, row) => row.map((cell, column) => Math.max(known[column] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * A directory of its own below `parent`, gone when its scope is left and also after Ctrl-C: it can hold gigabytes.
 * `endUsers` ends the processes that use it, first, because one that is just starting would make its part of it again.
 */
export async function scratchDirectory(
  parent: string,
  endUsers: () => Promise<unknown> = async () => undefined,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(parent, "cleveragents-bench-"));
  const interrupted = async (signal: NodeJS.Signals): Promise<void> => {
    await endUsers();
    rmSync(path, { recursive: true, force: true });
    process.exit(signal === "SIGINT" ? 130 : 143);
  };
  const onSignal = (signal: NodeJS.Signals): void => void interrupted(signal);
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** Calls `work` for 0 … count-1 from `atOnce` loops that each wait for their own. */
export async function parallel(atOnce: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

/** A commit on a file system in memory costs nothing, which would make these numbers meaningless; so it is named. */
export async function fileSystem(dir: string): Promise<string> {
  const names: Readonly<Record<number, string>> = {
    0xef53: "ext4",
    0x01021994: "tmpfs: in memory, commits cost nothing there; use --dir",
    0x9123683e: "btrfs",
    0x58465342: "xfs",
    0x794c7630: "overlayfs",
  };
  const { type } = await statfs(dir);
  return names[type] ?? `file system type 0x${type.toString(16)}`;
}
