/** Conformance: units and reads do not see each other half done. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createCounters, incrementBoth } from "./elsewhere.ts";
import { allNotes, counter, counters, note, notes, type OpenFixture } from "./notes.ts";
import { inThread } from "./run-elsewhere.ts";

const FULL = process.env["CLEVERAGENTS_TEST_FULL"] === "1";

export function describeIsolation(open: OpenFixture): void {
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
      const writing = inThread({ kind: "increment", url: fixture.store.url, times: FULL ? 2_000 : 150, together: 3 });
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
      // Otherwise nothing was written while the reads went on and this proved nothing.
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
}
