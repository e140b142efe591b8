/**
 * PostgreSQL behind the `Store` port. Units are `SERIALIZABLE` transactions that are run again after a conflict, until
 * patience ends; reads are `REPEATABLE READ READ ONLY`. Units of one lane wait for each other, all others run side by
 * side, on as many connections as there are.
 *
 * A connection may break while COMMIT is under way. The number of the transaction was asked for before, so another
 * connection can say what became of it: "rejected: nothing was written" stays true on a network.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Pool, PoolClient } from "pg";
import { StoreError, UnitOfWorkError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Clock } from "../../domain/names/ids.ts";
import { Lane } from "../../platform/lane.ts";
import { tell } from "../listeners.ts";
import type { ContentPort, Reader, Store, Tx, UnitOptions } from "../port.ts";
import { UnitContext } from "../unit-context.ts";
import { Bell } from "./bell.ts";
import { isConflict, isConnectionLoss, isDuplicate, storeError } from "./postgres-errors.ts";
import { PostgresTx, type UnitEnd } from "./postgres-tx.ts";
import { RowContents } from "./row-contents.ts";
import { Slots } from "./slots.ts";

/** Connections of one handle. */
export const CONNECTIONS = 10;

const BEGIN_UNIT = "BEGIN ISOLATION LEVEL SERIALIZABLE";
const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** A duplicate that is still there after so many runs is one. */
const RUNS_FOR_A_DUPLICATE = 4;

export interface PostgresStoreParts {
  readonly url: string;
  readonly place: string;
  readonly pool: Pool;
  /** A connection of its own, which hears of other processes' commits. */
  readonly connect: () => Client;
  readonly clock: Clock | undefined;
  readonly patienceMs: number;
  readonly rerun: boolean;
}

/** The end of one run of a unit. */
type Run<T> = { readonly outcome: UnitEnd<T> } | { readonly again: unknown };

export class PostgresStore implements Store {
  readonly url: string;
  readonly place: string;
  readonly unitsOverlap = true;
  readonly contents: ContentPort;
  readonly #parts: PostgresStoreParts;
  readonly #slots = new Slots(CONNECTIONS);
  readonly #lanes = new Map<string, { readonly lane: Lane; waiting: number }>();
  readonly #context = new UnitContext();
  readonly #commitListeners = new Set<() => void>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #bell: Bell;
  #closing: Promise<void> | undefined;

  constructor(parts: PostgresStoreParts) {
    this.url = parts.url;
    this.place = parts.place;
    this.contents = new RowContents(this);
    this.#parts = parts;
    this.#bell = new Bell({
      send: (text, values) => this.#slots.run(() => parts.pool.query(text, values)),
      connect: parts.connect,
      onRing: () => this.#tellListeners(),
    });
  }

  transaction<T>(unit: (tx: Tx) => Promise<T>, { lane = "" }: UnitOptions = {}): Promise<T> {
    return this.#tracked("transaction", () => {
      const run = this.#context.ofCaller(unit);
      return this.#inLane(lane, () => this.#carryOut(run, BEGIN_UNIT));
    });
  }

  read<T>(query: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#tracked("read", () => this.#carryOut(this.#context.ofCaller(query), BEGIN_READ));
  }

  changeCounter(): Promise<number> {
    return this.#tracked("changeCounter", async () => {
      // Every commit changes which transactions are under way or over, and no such state comes twice.
      const text = "SELECT hashtextextended(CAST(pg_current_snapshot() AS TEXT), 0) & 9007199254740991 AS counter";
      const row = await this.#ask<{ counter: number }>(text);
      return row?.counter ?? 0;
    });
  }

  onCommit(listener: () => void): () => void {
    this.#commitListeners.add(listener);
    this.#bell.listen();
    return () => this.#commitListeners.delete(listener);
  }

  check(): Promise<string> {
    return this.#tracked("check", async () => {
      const row = await this.#ask<{ version: string }>("SELECT current_setting('server_version') AS version");
      return `PostgreSQL ${row?.version}`;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #finish(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#bell.close();
    await this.#parts.pool.end();
  }

  async #tracked<T>(what: string, begin: () => Promise<T>): Promise<T> {
    this.#context.assertOutside(what);
    if (this.#closing !== undefined) throw new StoreError("store_failed", "The store is closed.");
    const work = begin();
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async #inLane<T>(name: string, section: () => Promise<T>): Promise<T> {
    const found = this.#lanes.get(name) ?? { lane: new Lane(), waiting: 0 };
    this.#lanes.set(name, found);
    found.waiting += 1;
    try {
      return await found.lane.run(section);
    } finally {
      found.waiting -= 1;
      if (found.waiting === 0) this.#lanes.delete(name);
    }
  }

  async #carryOut<T>(unit: (tx: Tx) => Promise<T>, begin: string): Promise<T> {
    if (this.#parts.rerun) {
      const first = await this.#untilDone(unit, begin, "ROLLBACK");
      // It broke the rules of a unit, and may still be running: two runs of it at once would prove nothing.
      if ("error" in first && first.error instanceof UnitOfWorkError) throw first.error;
    }
    const outcome = await this.#untilDone(unit, begin, "COMMIT");
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Runs the unit again after each conflict and each broken connection, until patience ends. */
  async #untilDone<T>(unit: (tx: Tx) => Promise<T>, begin: string, end: "COMMIT" | "ROLLBACK"): Promise<UnitEnd<T>> {
    const until = performance.now() + this.#parts.patienceMs;
    for (let runs = 1; ; runs += 1) {
      const run = await this.#slots.run(() => this.#runOnce(unit, begin, end));
      if ("outcome" in run) return run.outcome;
      const isFinal = isDuplicate(run.again) && runs >= RUNS_FOR_A_DUPLICATE;
      if (isFinal || performance.now() >= until) return { error: storeError(run.again, this.place) };
      await sleep(Math.random() * Math.min(100, 2 ** Math.min(runs, 7)));
    }
  }

  async #runOnce<T>(unit: (tx: Tx) => Promise<T>, begin: string, end: "COMMIT" | "ROLLBACK"): Promise<Run<T>> {
    const { pool, clock } = this.#parts;
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      return isConnectionLoss(error) ? { again: error } : { outcome: { error: storeError(error, this.place) } };
    }
    const tx = new PostgresTx({ client, begin, place: this.place, clock });
    const outcome = await tx.settle(unit);
    const { failure } = tx;
    if (failure !== undefined && isConnectionLoss(failure.cause)) {
      client.release(true);
      return { again: failure.cause };
    }
    if (failure !== undefined || "error" in outcome || end === "ROLLBACK" || !tx.begun) {
      await this.#rollBack(client, tx);
      if (failure === undefined) return { outcome };
      if (isConflict(failure.cause) || isDuplicate(failure.cause)) return { again: failure.cause };
      return { outcome: "error" in outcome ? outcome : { error: failure.error } };
    }
    return this.#commit(client, tx, outcome);
  }

  async #rollBack(client: PoolClient, tx: PostgresTx): Promise<void> {
    try {
      if (tx.begun) await client.query("ROLLBACK");
      client.release();
    } catch {
      client.release(true);
    }
  }

  async #commit<T>(client: PoolClient, tx: PostgresTx, outcome: UnitEnd<T>): Promise<Run<T>> {
    try {
      const { command } = await client.query("COMMIT");
      client.release();
      // PostgreSQL answers so, and not with an error, when it had given the transaction up.
      if (command !== "COMMIT") return { again: new StoreError("store_busy", `COMMIT was answered with ${command}.`) };
    } catch (error) {
      client.release(true);
      if (!isConnectionLoss(error)) {
        return isConflict(error) ? { again: error } : { outcome: { error: storeError(error, this.place) } };
      }
      if (tx.number === undefined || !(await this.#wasCommitted(tx.number, error))) return { again: error };
    }
    if (tx.number !== undefined) {
      this.#bell.ring();
      this.#tellListeners();
    }
    return { outcome };
  }

  /** Whether a transaction was committed whose COMMIT had no answer. */
  async #wasCommitted(number: string, broken: unknown): Promise<boolean> {
    const until = performance.now() + this.#parts.patienceMs;
    for (;;) {
      try {
        const text = "SELECT pg_xact_status(CAST($1 AS xid8)) AS status";
        const { rows } = await this.#parts.pool.query<{ status: string | null }>(text, [number]);
        const status = rows[0]?.status;
        if (status === "committed" || status === "aborted") return status === "committed";
      } catch (error) {
        if (!isConnectionLoss(error)) throw storeError(error, this.place);
      }
      if (performance.now() >= until) throw unknownFateError(this.place, broken);
      await sleep(Math.random() * 100);
    }
  }

  async #ask<Row extends object>(text: string): Promise<Row | undefined> {
    try {
      const { rows } = await this.#slots.run(() => this.#parts.pool.query<Row>(text));
      return rows[0];
    } catch (error) {
      throw storeError(error, this.place);
    }
  }

  #tellListeners(): void {
    for (const listener of Array.from(this.#commitListeners)) tell(listener);
  }
}

function unknownFateError(place: string, broken: unknown): StoreError {
  return new StoreError("store_failed", `The connection to ${place} broke during a commit, and did not come back.`, {
    cause: broken,
    kept: "Either all of the request was written or nothing of it.",
    next: [{ text: "look before you repeat the command" }, nextStep("diagnostics")],
  });
}
