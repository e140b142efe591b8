/**
 * The common part of the peers with graphs: how they are loaded, what they are to run, and the proof that they persist
 * it.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** The nodes that run side by side, wave after wave. Each adds one. */
export type Shape = readonly (readonly string[])[];

export const STEPS = 10;
export const CHAIN: Shape = Array.from({ length: STEPS }, (_, step) => [`step-${step}`]);
export const FAN: Shape = [["first"], Array.from({ length: STEPS - 2 }, (_, step) => `side-${step}`), ["last"]];

/** The peers are installed on demand, outside our own dependencies, so they cannot be imported by name from here. */
export async function peer<T>(peersDir: string, name: string): Promise<T> {
  const { resolve } = createRequire(join(peersDir, "package.json"));
  return import(pathToFileURL(resolve(name)).href);
}

/** A peer that is not installed or does not load here is named with the reason; the others go on. */
export async function ifItRuns<T>(name: string, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
    console.log(`${name} is left out, it does not run here: ${reason}`);
    return undefined;
  }
}

export async function version(peersDir: string, name: string): Promise<string> {
  const text = await readFile(join(peersDir, "node_modules", name, "package.json"), "utf8");
  const parsed: { version: string } = JSON.parse(text);
  return parsed.version;
}

/** No measured program should call home. */
export function switchOffTelemetry(): void {
  Object.assign(process.env, {
    MASTRA_TELEMETRY_DISABLED: "1",
    LANGSMITH_TRACING: "false",
    LANGCHAIN_TRACING_V2: "false",
  });
}

export function expectAll(done: number | undefined): void {
  if (done !== STEPS) throw new Error(`${String(done)} of ${STEPS} steps were done`);
}

/** Told at the start of each node in which wave it is. */
export type Watch = (wave: number) => void;

/**
 * At the start of each wave, another connection must see in the database everything that had to be persisted before it.
 */
export async function expectPersisted(
  name: string,
  work: { file: string; sql: string; onWatch: (watch: Watch | undefined) => void; run: () => Promise<void> },
  expected: readonly number[],
): Promise<void> {
  const database = new DatabaseSync(work.file, { readOnly: true, timeout: 1_000 });
  const statement = database.prepare(work.sql);
  const seen: number[] = [];
  work.onWatch((wave) => (seen[wave] = Math.min(seen[wave] ?? Infinity, Number(statement.get()?.["saved"]))));
  try {
    await work.run();
  } finally {
    work.onWatch(undefined);
    database.close();
  }
  if (seen.length !== expected.length || expected.some((least, wave) => !((seen[wave] ?? -1) >= least))) {
    throw new Error(`${name} did not persist what came before (seen at the start of each wave: ${seen.join(", ")})`);
  }
}
