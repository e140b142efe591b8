/** Conformance: a unit happens as a whole or not at all. */
import { describe, expect, test } from "vitest";
import { UnitOfWorkError } from "../../domain/errors/errors.ts";
import { failure } from "./fixtures.ts";
import { allNotes, note, notes, type OpenFixture } from "./notes.ts";

export function describeAtomicity(open: OpenFixture): void {
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

    test("a statement that fails ends its unit, also when the unit catches the error", async () => {
      await using fixture = await notes(open);
      const later: unknown[] = [];
      const error = await failure(
        fixture.store.transaction(async (tx) => {
          later.length = 0;
          await note(tx, "before");
          later.push(await failure(tx.run("INSERT INTO no_such_table VALUES (1)")));
          later.push(await failure(note(tx, "after")), await failure(tx.get("SELECT 1 AS one")));
          return "a result that counts for nothing";
        }),
      );
      expect(error).toMatchObject({ name: "StoreError", code: "store_failed" });
      expect(later).toEqual([error, error, error]);
      expect(await allNotes(fixture.store)).toEqual([]);
    });

    test("the same holds for a parameter that no column holds, and for a read", async () => {
      await using fixture = await notes(open);
      const caught = async (attempt: Promise<unknown>): Promise<string> => String(await failure(attempt));
      const unit = fixture.store.transaction(async (tx) => {
        await note(tx, "before");
        return caught(note(tx, "a\0b"));
      });
      expect(await failure(unit)).toBeInstanceOf(UnitOfWorkError);
      const read = fixture.store.read((reader) => caught(reader.get("SELECT * FROM no_such_table")));
      expect(await failure(read)).toMatchObject({ name: "StoreError", code: "store_failed" });
      expect(await allNotes(fixture.store)).toEqual([]);
    });

    test("an error that the unit throws after a failed statement is the one that its caller gets", async () => {
      await using fixture = await notes(open);
      const thrown = new Error("mine");
      const unit = fixture.store.transaction(async (tx) => {
        await failure(tx.run("INSERT INTO no_such_table VALUES (1)"));
        throw thrown;
      });
      expect(await failure(unit)).toBe(thrown);
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
}
