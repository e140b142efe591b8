/**
 * The tests that every driver of the store has to pass: call `describeStore` once for each. They know nothing but the
 * `Store` port and portable SQL.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { UnitOfWorkError } from "../../domain/errors/errors.ts";
import type { Reader, SqlValue, Store, Tx } from "../port.ts";
import { describeContract } from "./contract.ts";
import { createCounters, incrementBoth } from "./elsewhere.ts";
import { failure, notHung, type StoreFixture } from "./fixtures.ts";
import { inThread } from "./run-elsewhere.ts";
import { sized } from "../../testing/size.ts";

export function describeStore(name: string, open: () => Promise<StoreFixture>): void {
  describe(`a store ${name}`, () => {
    describe("atomicity", () => {
      test("a unit that throws leaves nothing, and its neighbors in the same batch survive", async () => {
        await using fixture = await notes(open);
        const outcomes = await Promise.allSettled(
          Array.from({ length: 30 }, (_, i) =>
            fixture.store.transaction(async (tx) => {
              await note(tx, `${i} first`);
              if (i % 3 === 1) throw new Error(`unit ${i}`);
              await note(tx, `${i} second`);
              return i;
            }),
          ),
        );
        const kept = Array.from({ length: 30 }, (_, i) => i).filter((i) => i % 3 !== 1);
        expect(outcomes.map((outcome) => outcome.status)).toEqual(
          outcomes.map((_, i) => (i % 3 === 1 ? "rejected" : "fulfilled")),
        );
        expect(outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))).toEqual(kept);
        expect(await allNotes(fixture.store)).toEqual(kept.flatMap((i) => [`${i} first`, `${i} second`]).sort());
      });

      test("the caller gets the very error that the unit threw", async () => {
        await using fixture = await open();
        const thrown = new Error("mine");
        const unit = async (): Promise<never> => Promise.reject(thrown);
        expect(await failure(fixture.store.transaction(unit))).toBe(thrown);
        expect(await failure(fixture.store.read(unit))).toBe(thrown);
      });

      test("a unit that throws before its first await is rejected like any other", async () => {
        await using fixture = await notes(open);
        const thrown = new Error("at once");
        const unit = (): Promise<void> => {
          throw thrown;
        };
        expect(await failure(fixture.store.transaction(unit))).toBe(thrown);
        expect(await failure(fixture.store.read(unit))).toBe(thrown);
        await fixture.store.transaction((tx) => note(tx, "after"));
        expect(await allNotes(fixture.store)).toEqual(["after"]);
      });

      test("a statement that fails and is caught undoes only itself", async () => {
        await using fixture = await notes(open);
        await fixture.store.transaction(async (tx) => {
          await note(tx, "before");
          await expect(note(tx, "before")).rejects.toMatchObject({ code: "store_failed" });
          await note(tx, "after");
        });
        expect(await allNotes(fixture.store)).toEqual(["after", "before"]);
      });

      test("a statement that fails and is not caught undoes its unit", async () => {
        await using fixture = await notes(open);
        const error = await failure(
          fixture.store.transaction(async (tx) => {
            await note(tx, "before");
            await tx.run("INSERT INTO no_such_table VALUES (1)");
          }),
        );
        expect(error).toMatchObject({ name: "StoreError", code: "store_failed" });
        expect(await allNotes(fixture.store)).toEqual([]);
      });

      test("an acknowledged write is there for every reader", async () => {
        await using fixture = await notes(open);
        const other = await fixture.again();
        await Promise.all(
          Array.from({ length: 20 }, async (_, i) => {
            await fixture.store.transaction((tx) => note(tx, `note ${i}`));
            expect(await allNotes(other)).toContain(`note ${i}`);
          }),
        );
      });
    });

    describe("isolation", () => {
      test("100 units that read, compute and write count exactly 100", async () => {
        await using fixture = await open();
        await createCounters(fixture.store);
        await Promise.all(Array.from({ length: 100 }, () => fixture.store.transaction(incrementBoth)));
        expect(await counters(fixture.store)).toEqual({ left: 100, right: 100 });
      });

      test("700 at once do too, and so do two handles side by side", async () => {
        await using fixture = await open();
        await createCounters(fixture.store);
        const other = await fixture.again();
        await Promise.all(
          Array.from({ length: 700 }, (_, i) => (i % 7 === 0 ? other : fixture.store).transaction(incrementBoth)),
        );
        expect(await counters(fixture.store)).toEqual({ left: 700, right: 700 });
      });

      test("units never interleave, however many statements they have", async () => {
        await using fixture = await open();
        const order: string[] = [];
        await Promise.all(
          ["a", "b", "c"].map((unit) =>
            fixture.store.transaction(async (tx) => {
              for (let i = 0; i < 5; i += 1) {
                await tx.get("SELECT 1 AS one");
                order.push(unit);
              }
            }),
          ),
        );
        // A store may run a unit again from its start.
        expect(order.join("")).toMatch(/^(a{5}|b{5}|c{5})+$/);
        expect(new Set(order).size).toBe(3);
      });

      test("a read that begins while a unit is half done sees nothing of it", async () => {
        await using fixture = await notes(open);
        const other = await fixture.again();
        const half = Promise.withResolvers<void>();
        let ended = false;
        const unit = fixture.store.transaction(async (tx) => {
          await note(tx, "one");
          half.resolve();
          for (let i = 0; i < 300; i += 1) await tx.get("SELECT 1 AS one");
          await note(tx, "two");
          ended = true;
        });
        await half.promise;
        expect(ended).toBe(false);
        const seen = await Promise.all([allNotes(fixture.store), allNotes(other)]);
        await unit;
        for (const found of seen) expect([[], ["one", "two"]]).toContainEqual(found);
      });

      test("a read sees one moment, although other units commit while it runs", async () => {
        await using fixture = await open();
        await createCounters(fixture.store);
        const writing = inThread({
          kind: "increment",
          url: fixture.store.url,
          times: sized({ normal: 150, full: 2_000 }),
          together: 3,
        });
        let finished = false;
        void writing.finally(() => (finished = true)).catch(() => undefined);
        const seen = new Set<number>();
        while (!finished) {
          const { left, right } = await fixture.store.read(async (reader) => {
            const left = await counter(reader, "left");
            for (let i = 0; i < 20; i += 1) await reader.get("SELECT 1 AS one");
            return { left, right: await counter(reader, "right") };
          });
          expect(right).toBe(left);
          seen.add(left);
          await sleep(1);
        }
        await writing;
        // Otherwise nothing was written during the reads and this proved nothing.
        expect(seen.size).toBeGreaterThan(1);
      });

      test("4 threads × 100 increments are 400", async () => {
        await using fixture = await open();
        await createCounters(fixture.store);
        const command = { kind: "increment", url: fixture.store.url, times: 100, together: 5 } as const;
        const answers = await Promise.all([1, 2, 3, 4].map(() => inThread(command)));
        expect(answers).toEqual([1, 2, 3, 4].map(() => ({ acknowledged: 100 })));
        expect(await counters(fixture.store)).toEqual({ left: 400, right: 400 });
      });

      test("each unit and each read runs in the async context of its own caller", async () => {
        await using fixture = await open();
        const context = new AsyncLocalStorage<number>();
        const callers = Array.from({ length: 10 }, (_, i) => i);
        const inUnits = await Promise.all(
          callers.map((i) => context.run(i, () => fixture.store.transaction(async () => context.getStore()))),
        );
        const inReads = await Promise.all(
          callers.map((i) => context.run(i, () => fixture.store.read(async () => context.getStore()))),
        );
        expect({ inUnits, inReads }).toEqual({ inUnits: callers, inReads: callers });
      });
    });

    describe("the rules of a unit", () => {
      test("a transaction or a read inside a unit or a read is refused, and does not deadlock", async () => {
        await using fixture = await notes(open);
        const { store } = fixture;
        const inner: ((tx: Reader) => Promise<unknown>)[] = [
          () => store.transaction(async () => undefined),
          () => store.read(async () => undefined),
        ];
        for (const attempt of inner) {
          const unit = store.transaction(async (tx) => {
            await note(tx, "outer");
            await attempt(tx);
          });
          expect(await notHung(failure(unit))).toBeInstanceOf(UnitOfWorkError);
          expect(await notHung(failure(store.read(attempt)))).toBeInstanceOf(UnitOfWorkError);
        }
        expect(await allNotes(store)).toEqual([]);
      });

      test("the change counter is refused there as well, by every driver", async () => {
        await using fixture = await open();
        const { store } = fixture;
        const unit = store.transaction(async () => store.changeCounter());
        expect(await notHung(failure(unit))).toBeInstanceOf(UnitOfWorkError);
      });

      test("another store may be used by a caller that waits for both, but not from inside a unit of the first", async () => {
        await using fixture = await notes(open);
        await using elsewhere = await notes(open);
        await Promise.all([
          fixture.store.transaction((tx) => note(tx, "here")),
          elsewhere.store.transaction((tx) => note(tx, "there")),
        ]);
        const unit = fixture.store.transaction(async (tx) => {
          await note(tx, "lost");
          await elsewhere.store.transaction((other) => note(other, "kept"));
        });
        expect(await notHung(failure(unit))).toBeInstanceOf(UnitOfWorkError);
        expect(await allNotes(fixture.store)).toEqual(["here"]);
      });

      test("a unit that awaits something foreign is rolled back, and its late statements are refused", async () => {
        await using fixture = await notes(open);
        const late = Promise.withResolvers<unknown>();
        const unit = fixture.store.transaction(async (tx) => {
          await note(tx, "early");
          await sleep(20);
          late.resolve(await failure(note(tx, "late")));
        });
        const neighbor = fixture.store.transaction((tx) => note(tx, "neighbor"));
        const error = await failure(unit);
        expect(error).toBeInstanceOf(UnitOfWorkError);
        expect(error).toMatchObject({ code: "unit_of_work", kept: expect.stringContaining("rolled back") });
        await neighbor;
        expect(await late.promise).toBeInstanceOf(UnitOfWorkError);
        expect(await allNotes(fixture.store)).toEqual(["neighbor"]);
      });

      test("a read that awaits something foreign ends with an error, and the next one works", async () => {
        await using fixture = await notes(open);
        const read = fixture.store.read(async (reader) => {
          await sleep(20);
          return reader.get("SELECT 1 AS one");
        });
        expect(await failure(read)).toBeInstanceOf(UnitOfWorkError);
        expect(await allNotes(fixture.store)).toEqual([]);
      });

      test("a handle kept beyond its unit or read writes and reads nothing", async () => {
        await using fixture = await notes(open);
        const kept: { tx?: Tx; reader?: Reader } = {};
        await fixture.store.transaction(async (tx) => {
          kept.tx = tx;
          await note(tx, "inside");
        });
        await fixture.store.read(async (reader) => {
          kept.reader = reader;
        });
        const attempts = [
          kept.tx?.run("DELETE FROM notes"),
          kept.tx?.get("SELECT 1"),
          kept.tx?.all("SELECT 1"),
          kept.reader?.get("SELECT 1"),
        ];
        for (const attempt of attempts) {
          expect(await failure(Promise.resolve(attempt))).toBeInstanceOf(UnitOfWorkError);
        }
        expect(await allNotes(fixture.store)).toEqual(["inside"]);
      });

      test("a statement that the unit did not await is still part of its unit", async () => {
        await using fixture = await notes(open);
        await fixture.store.transaction(async (tx) => {
          void note(tx, "forgotten").catch(() => undefined);
          await note(tx, "awaited");
        });
        expect(await allNotes(fixture.store)).toEqual(["awaited", "forgotten"]);
      });

      test("a read cannot write", async () => {
        await using fixture = await notes(open);
        const attempts = [
          "INSERT INTO notes (text) VALUES ('sneaked in') RETURNING text",
          "DELETE FROM notes RETURNING text",
        ];
        await fixture.store.transaction((tx) => note(tx, "kept"));
        for (const sql of attempts) {
          expect(await failure(fixture.store.read((reader) => reader.all(sql)))).toMatchObject({ name: "StoreError" });
        }
        expect(await allNotes(fixture.store)).toEqual(["kept"]);
      });

      test("values that no column holds are refused as parameters, never stored as something else", async () => {
        await using fixture = await notes(open);
        await fixture.store.transaction((tx) => tx.run("CREATE TABLE anything (n BIGINT, t TEXT)"));
        const bad: unknown[] = [
          new Date(0),
          undefined,
          10n,
          true,
          false,
          Number.NaN,
          Number.POSITIVE_INFINITY,
          Number.NEGATIVE_INFINITY,
          {},
          { t: "named" },
          [],
          ["text"],
          Symbol("s"),
          () => "text",
          new Map(),
          new String("boxed"),
          new Float64Array(1),
          new ArrayBuffer(1),
        ];
        for (const value of bad) {
          for (const parameters of [
            [value, "text"],
            [1, value],
          ]) {
            const unit = fixture.store.transaction((tx) =>
              tx.run("INSERT INTO anything (n, t) VALUES (?, ?)", ...(parameters as SqlValue[])),
            );
            expect(await failure(unit)).toBeInstanceOf(UnitOfWorkError);
          }
          const read = fixture.store.read((reader) => reader.get("SELECT 1 WHERE 1 = ?", value as SqlValue));
          expect(await failure(read)).toBeInstanceOf(UnitOfWorkError);
        }
        expect(await fixture.store.read((reader) => reader.all("SELECT * FROM anything"))).toEqual([]);
      });

      test("an integer beyond 2^53 and half a surrogate pair are refused: they would come back different or not at all", async () => {
        await using fixture = await notes(open);
        await fixture.store.transaction((tx) => tx.run("CREATE TABLE anything (n BIGINT, t TEXT)"));
        for (const value of [2 ** 53, -(2 ** 60), "\ud800", "a\udc00b"]) {
          const column = typeof value === "number" ? "n" : "t";
          const unit = fixture.store.transaction((tx) => tx.run(`INSERT INTO anything (${column}) VALUES (?)`, value));
          expect(await failure(unit)).toBeInstanceOf(UnitOfWorkError);
        }
        expect(await fixture.store.read((reader) => reader.all("SELECT * FROM anything"))).toEqual([]);
      });

      test("text, integers, bytes and null come back as they were given", async () => {
        await using fixture = await open();
        const values: SqlValue[] = [
          "",
          "naïve 🦑 漢字",
          0,
          -1,
          2 ** 53 - 1,
          1 - 2 ** 53,
          null,
          "'; DROP TABLE notes; --",
        ];
        await fixture.store.transaction(async (tx) => {
          await tx.run("CREATE TABLE anything (id BIGINT, n BIGINT, t TEXT)");
          for (const [id, value] of values.entries()) {
            const column = typeof value === "string" ? "t" : "n";
            await tx.run(`INSERT INTO anything (id, ${column}) VALUES (?, ?)`, id, value);
          }
        });
        const rows = await fixture.store.read((reader) =>
          reader.all<{ n: number | null; t: string | null }>("SELECT n, t FROM anything ORDER BY id"),
        );
        expect(rows.map(({ n, t }) => t ?? n)).toEqual(values);
      });
    });

    describeContract(open);

    describe("telling others", () => {
      test("onCommit is called after a commit, for as long as it is wanted", async () => {
        await using fixture = await notes(open);
        const calls: string[] = [];
        const stop = fixture.store.onCommit(() => calls.push("called"));
        await fixture.store.transaction((tx) => note(tx, "one"));
        expect(calls.length).toBeGreaterThan(0);
        const before = calls.length;
        stop();
        stop();
        await fixture.store.transaction((tx) => note(tx, "two"));
        expect(calls).toHaveLength(before);
      });

      test("when a listener is called, what it is told about is committed", async () => {
        await using fixture = await notes(open);
        const seen: Promise<string[]>[] = [];
        fixture.store.onCommit(() => void seen.push(allNotes(fixture.store)));
        await fixture.store.transaction((tx) => note(tx, "one"));
        expect(await Promise.all(seen)).toEqual([["one"]]);
      });

      test("a listener that throws stops neither the other listeners nor the store", async () => {
        await using fixture = await notes(open);
        let called = 0;
        const stop = fixture.store.onCommit(() => {
          throw new Error("a listener's own mistake");
        });
        fixture.store.onCommit(() => (called += 1));
        await fixture.store.transaction((tx) => note(tx, "one"));
        stop();
        await notHung(fixture.store.transaction((tx) => note(tx, "two")));
        expect(called).toBe(2);
        expect(await allNotes(fixture.store)).toEqual(["one", "two"]);
      });

      test("the change counter moves with each commit of any handle, and not without one", async () => {
        await using fixture = await notes(open);
        const other = await fixture.again();
        const seen: number[] = [await fixture.store.changeCounter()];
        for (const store of [fixture.store, other, fixture.store, other]) {
          await store.transaction((tx) => note(tx, `note ${seen.length}`));
          seen.push(await fixture.store.changeCounter());
        }
        expect(new Set(seen).size).toBe(seen.length);
        await allNotes(fixture.store);
        await allNotes(other);
        expect(await fixture.store.changeCounter()).toBe(seen.at(-1));
      });

      test("the change counter can be asked for at any time, also while another handle's unit is half done", async () => {
        await using fixture = await notes(open);
        const other = await fixture.again();
        const half = Promise.withResolvers<void>();
        const unit = fixture.store.transaction(async (tx) => {
          await note(tx, "one");
          half.resolve();
          for (let i = 0; i < 300; i += 1) await tx.get("SELECT 1 AS one");
        });
        await half.promise;
        const counter = await other.changeCounter().catch(String);
        await unit;
        expect(counter).toEqual(expect.any(Number));
      });
    });

    describe("closing", () => {
      test("waits for what is pending, and is final", async () => {
        await using fixture = await notes(open);
        const store = await fixture.again();
        const pending = Array.from({ length: 10 }, (_, i) => store.transaction((tx) => note(tx, `note ${i}`)));
        const reading = allNotes(store);
        const closing = store.close();
        const refused = { name: "StoreError", code: "store_failed", message: "The store is closed." };
        expect(await failure(store.transaction((tx) => note(tx, "too late")))).toMatchObject(refused);
        expect(await Promise.allSettled(pending)).toHaveLength(10);
        await Promise.all([...pending, reading, closing, store.close()]);
        expect(await failure(store.transaction((tx) => note(tx, "too late")))).toMatchObject(refused);
        expect(await failure(store.read(async () => undefined))).toMatchObject(refused);
        expect(await allNotes(fixture.store)).toHaveLength(10);
      });

      test("the change counter of a closed store says that it is closed", async () => {
        await using fixture = await open();
        const store = await fixture.again();
        await store.close();
        expect(await failure(store.changeCounter())).toMatchObject({ name: "StoreError", code: "store_failed" });
      });

      test("one handle leaves the others as they are", async () => {
        await using fixture = await notes(open);
        const other = await fixture.again();
        await other.transaction((tx) => note(tx, "by the other"));
        await other.close();
        await fixture.store.transaction((tx) => note(tx, "by the first"));
        expect(await allNotes(fixture.store)).toEqual(["by the first", "by the other"]);
      });
    });

    test("the database's clock is the one that the store was given", async () => {
      await using fixture = await open();
      const store = await fixture.again({ clock: () => 1_234_567.9 });
      const row = await store.read((reader) => reader.get<{ now: number }>("SELECT now_ms() AS now"));
      expect(row?.now).toBe(1_234_567);
    });
  });
}

/** A store with a table of notes, each text once. */
async function notes(open: () => Promise<StoreFixture>): Promise<StoreFixture> {
  const fixture = await open();
  await fixture.store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT PRIMARY KEY)"));
  return fixture;
}

async function note(tx: Tx, text: string): Promise<void> {
  await tx.run("INSERT INTO notes (text) VALUES (?)", text);
}

async function allNotes(store: Store): Promise<string[]> {
  const rows = await store.read((reader) => reader.all<{ text: string }>("SELECT text FROM notes"));
  return rows.map(({ text }) => text).sort();
}

async function counter(reader: Reader, name: string): Promise<number> {
  const row = await reader.get<{ n: number }>("SELECT n FROM counters WHERE name = ?", name);
  return row?.n ?? -1;
}

function counters(store: Store): Promise<{ left: number; right: number }> {
  return store.read(async (reader) => ({ left: await counter(reader, "left"), right: await counter(reader, "right") }));
}
