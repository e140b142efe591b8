/**
 * Work on a store that a test has done elsewhere: in another thread (the command comes as workerData) or another
 * process (the command comes as JSON in the first argument). The answer is one message, or one line of JSON on stdout.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import { openStore } from "../sqlite/open-store.ts";
import type { Store, Tx } from "../port.ts";

export type ElsewhereCommand =
  /** Adds 1 to both counters `times` times, `together` units at a time. */
  | { readonly kind: "increment"; readonly url: string; readonly times: number; readonly together: number }
  /** Opens the store and closes it again. */
  | { readonly kind: "open"; readonly url: string }
  /**
   * Opens the store, adds `rows` rows of `bytes` bytes each until that fails; then `free` is emptied and one row more
   * is added.
   */
  | {
      readonly kind: "fill";
      readonly url: string;
      readonly bytes: number;
      readonly rows: number;
      readonly free: string;
    };

export interface ElsewhereError {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly kept: string | undefined;
  readonly next: readonly NextStep[];
}

export interface ElsewhereAnswer {
  /** Units that were acknowledged. */
  readonly acknowledged: number;
  readonly error?: ElsewhereError;
  /**
   * `fill` only: rows found while the disk was full, after space was freed and one row added, and by a handle opened
   * then.
   */
  readonly found?: readonly number[];
}

export async function createCounters(store: Store): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.run("CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL)");
    await tx.run("INSERT INTO counters (name, n) VALUES ('left', 0), ('right', 0)");
  });
}

/** Reads, computes in JavaScript and writes back: anything that slips in between loses a count. */
export async function incrementBoth(tx: Tx): Promise<void> {
  for (const name of ["left", "right"]) {
    const row = await tx.get<{ n: number }>("SELECT n FROM counters WHERE name = ?", name);
    await tx.run("UPDATE counters SET n = ? WHERE name = ?", (row?.n ?? 0) + 1, name);
  }
}

async function obey(command: ElsewhereCommand): Promise<ElsewhereAnswer> {
  switch (command.kind) {
    case "increment":
      return increment(command);
    case "open": {
      await using store = await openStore(command.url);
      return { acknowledged: await store.read(async () => 0) };
    }
    case "fill":
      return fill(command);
  }
}

async function increment(command: Extract<ElsewhereCommand, { kind: "increment" }>): Promise<ElsewhereAnswer> {
  await using store = await openStore(command.url);
  let acknowledged = 0;
  while (acknowledged < command.times) {
    const round = Math.min(command.together, command.times - acknowledged);
    await Promise.all(Array.from({ length: round }, () => store.transaction(incrementBoth)));
    acknowledged += round;
  }
  return { acknowledged };
}

async function fill(command: Extract<ElsewhereCommand, { kind: "fill" }>): Promise<ElsewhereAnswer> {
  const { truncate } = await import("node:fs/promises");
  await using store = await openStore(command.url);
  await store.transaction(async (tx) => {
    await tx.run("CREATE TABLE IF NOT EXISTS filler (id INTEGER PRIMARY KEY, content BLOB NOT NULL)");
  });
  const add = (): Promise<number> =>
    store.transaction((tx) => tx.run("INSERT INTO filler (content) VALUES (?)", new Uint8Array(command.bytes)));
  let acknowledged = 0;
  let error: ElsewhereError | undefined;
  while (error === undefined && acknowledged < command.rows) {
    try {
      await add();
      acknowledged += 1;
    } catch (thrown) {
      error = elsewhereError(thrown);
    }
  }
  if (error === undefined) return { acknowledged };
  const count = async (from: Store): Promise<number> => {
    const row = await from.read((reader) => reader.get<{ n: number }>("SELECT COUNT(*) AS n FROM filler"));
    return row?.n ?? -1;
  };
  const whileFull = await count(store);
  await truncate(command.free, 0);
  await add();
  await using fresh = await openStore(command.url);
  return { acknowledged, error, found: [whileFull, await count(store), await count(fresh)] };
}

function elsewhereError(error: unknown): ElsewhereError {
  if (!(error instanceof AgentsError)) {
    return {
      class: "not part of the interface",
      code: String(error),
      message: String(error),
      kept: undefined,
      next: [],
    };
  }
  const { name, code, message, kept, next } = error;
  return { class: name, code, message, kept, next };
}

const given: unknown = isMainThread ? process.argv[2] : workerData;
// Imported for its types and helpers there is nothing to obey.
if (!isMainThread || process.argv[1] === import.meta.filename) {
  const command = (isMainThread ? JSON.parse(String(given)) : given) as ElsewhereCommand;
  const answer = await obey(command).catch((error: unknown) => ({ acknowledged: 0, error: elsewhereError(error) }));
  if (isMainThread) process.stdout.write(`${JSON.stringify(answer)}\n`);
  else parentPort?.postMessage(answer, []);
}
