/** Conformance: the rules of a unit, and the values it may store. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { UnitOfWorkError } from "../../domain/errors/errors.ts";
import type { Reader, SqlValue, Tx } from "../port.ts";
import { failure, notHung } from "./fixtures.ts";
import { allNotes, note, notes, type OpenFixture } from "./notes.ts";

export function describeUnitRules(open: OpenFixture): void {
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
  });
}

export function describeValues(open: OpenFixture): void {
  describe("the values of a unit", () => {
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

    test("an integer beyond 2^53, half a surrogate pair and NUL are refused: they would come back different or not at all", async () => {
      await using fixture = await notes(open);
      await fixture.store.transaction((tx) => tx.run("CREATE TABLE anything (n BIGINT, t TEXT)"));
      for (const value of [2 ** 53, -(2 ** 60), "\ud800", "a\udc00b", "a\0b"]) {
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
}
