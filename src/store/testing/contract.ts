/**
 * The part of the conformance suite that one writer at a time gives for nothing and that another driver has to work
 * for: units that may be run again, write skew, statements that fail, the order of texts, numbers, and events in the
 * order of their commits.
 */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { inLane } from "../in-lane.ts";
import type { Reader, Store, Tx } from "../port.ts";
import { failure, type StoreFixture } from "./fixtures.ts";

export function describeContract(open: () => Promise<StoreFixture>): void {
  describe("a unit that is run again", () => {
    test("is run twice and has its effect once; so has a read", async () => {
      await using fixture = await accounts(open);
      const store = await fixture.again({ rerun: true });
      let runs = 0;
      const balance = await store.transaction(async (tx) => {
        runs += 1;
        await tx.run("UPDATE accounts SET amount = amount + 1 WHERE name = 'left'");
        return amountOf(tx, "left");
      });
      expect({ runs, balance }).toEqual({ runs: 2, balance: 101 });
      runs = 0;
      const read = await store.read(async (reader) => {
        runs += 1;
        return amountOf(reader, "left");
      });
      expect({ runs, read }).toEqual({ runs: 2, read: 101 });
    });

    test("takes no number twice and numbers events in the order of its units", async () => {
      await using fixture = await open();
      const store = await fixture.again({ rerun: true });
      for (const id of ["one", "two", "three"]) await store.transaction((tx) => tellOf(tx, id));
      const events = await store.read(allEvents);
      expect(events.map(({ id }) => id)).toEqual(["one", "two", "three"]);
      expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(3);
    });

    test("that throws is rejected with its error, and leaves its neighbors as they are", async () => {
      await using fixture = await accounts(open);
      const store = await fixture.again({ rerun: true });
      const outcomes = await Promise.allSettled(
        ["left", "unknown", "right"].map((name) =>
          store.transaction(async (tx) => {
            await tx.run("UPDATE accounts SET amount = amount - 10 WHERE name = 'left'");
            if ((await tx.run("UPDATE accounts SET amount = amount + 10 WHERE name = ?", name)) !== 1)
              throw new Error(`${name} has no account`);
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(
        await store.read(async (reader) => [await amountOf(reader, "left"), await amountOf(reader, "right")]),
      ).toEqual([90, 110]);
    });
  });

  test("two units that each read both rows and write one do not both go by what the other changes", async () => {
    await using fixture = await accounts(open);
    const other = await fixture.again();
    const withdraw = (store: Store, name: string): Promise<boolean> =>
      store.transaction(async (tx) => {
        const total = (await amountOf(tx, "left")) + (await amountOf(tx, "right"));
        if (total < 150) return false;
        for (let i = 0; i < 20; i += 1) await tx.get("SELECT 1 AS one");
        await tx.run("UPDATE accounts SET amount = amount - 100 WHERE name = ?", name);
        return true;
      });
    const done = await Promise.all([withdraw(fixture.store, "left"), withdraw(other, "right")]);
    expect(done.filter(Boolean)).toHaveLength(1);
    expect(await fixture.store.read(total)).toBe(100);
  });

  test("a row that is there already is an error of its statement, however often the unit is run", async () => {
    await using fixture = await accounts(open);
    const twins = "INSERT INTO accounts (name, amount) VALUES ('new', 1), ('left', 1)";
    expect(await failure(fixture.store.transaction((tx) => tx.run(twins)))).toMatchObject({ code: "store_failed" });
    const rows = await fixture.store.read((reader) => reader.all("SELECT name, amount FROM accounts ORDER BY name"));
    expect(rows).toEqual([
      { name: "left", amount: 100 },
      { name: "right", amount: 100 },
    ]);
  });

  test("units of one lane run in the order in which they were asked for, however long they take", async () => {
    await using fixture = await open();
    const { store } = fixture;
    const numbers = Array.from({ length: 24 }, (_, i) => i);
    const lanes = ["one plan", "another plan"];
    const unit = (lane: string, i: number): Promise<void> =>
      inLane(store, lane).transaction(async (tx) => {
        // The first ones take longest.
        for (let pause = i; pause < numbers.length; pause += 1) await tx.get("SELECT 1 AS one");
        await tellOf(tx, `${lane} ${i}`);
      });
    await Promise.all(numbers.flatMap((i) => lanes.map((lane) => unit(lane, i))));
    const own = numbers.map((i) => store.transaction((tx) => tellOf(tx, `no lane ${i}`)));
    await Promise.all(own);
    const told = (await store.read(allEvents)).map(({ id }) => id);
    for (const lane of [...lanes, "no lane"]) {
      expect(told.filter((id) => id.startsWith(lane))).toEqual(numbers.map((i) => `${lane} ${i}`));
    }
  });

  test("a unit that fails does not stop the others of its lane", async () => {
    await using fixture = await accounts(open);
    const store = inLane(fixture.store, "one plan");
    const outcomes = await Promise.allSettled([
      store.transaction((tx) => tx.run("UPDATE accounts SET amount = 1 WHERE name = 'left'")),
      store.transaction((tx) => tx.run("INSERT INTO no_such_table VALUES (1)")),
      store.transaction(async (tx) => amountOf(tx, "left")),
    ]);
    expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "failed"))).toEqual([
      1,
      "failed",
      1,
    ]);
  });

  test("a row that a FENCED query found stays as it is until the unit has ended", async () => {
    await using fixture = await accounts(open);
    const other = await fixture.again();
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const fenced = fixture.store.transaction(async (tx) => {
      await tx.get("SELECT amount FROM accounts WHERE name = 'left' FENCED");
      held.resolve();
      for (let i = 0; i < 200; i += 1) await tx.get("SELECT 1 AS one");
      order.push("fenced unit ends");
    });
    await held.promise;
    await other.transaction((tx) => tx.run("UPDATE accounts SET amount = 0 WHERE name = 'left'"));
    order.push("row is changed");
    await fenced;
    expect(order.at(-1)).toBe("row is changed");
    expect(order[0]).toBe("fenced unit ends");
  });

  test("texts are sorted and compared by their bytes, not by a language's rules", async () => {
    await using fixture = await open();
    const texts = ["a", "A", "b", "Z", "_", "ä", "az", "a b", "ab", "a-b", "é", "\u{fffd}", "\u{1f991}", "", "10", "9"];
    await fixture.store.transaction(async (tx) => {
      await tx.run("CREATE TABLE words (text TEXT PRIMARY KEY)");
      for (const text of texts) await tx.run("INSERT INTO words (text) VALUES (?)", text);
    });
    const sorted = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const words = (sql: string, ...parameters: string[]): Promise<string[]> =>
      fixture.store.read(async (reader) =>
        (await reader.all<{ text: string }>(sql, ...parameters)).map(({ text }) => text),
      );
    expect(await words("SELECT text FROM words ORDER BY text")).toEqual(sorted);
    expect(await words("SELECT text FROM words WHERE text > ? ORDER BY text", "a")).toEqual(
      sorted.slice(sorted.indexOf("a") + 1),
    );
    expect(await words("SELECT MAX(text) AS text FROM words")).toEqual(["\u{1f991}"]);
  });

  test("counts and sums are numbers, exact up to 2^53, and an error beyond", async () => {
    await using fixture = await open();
    const half = 2 ** 52;
    await fixture.store.transaction(async (tx) => {
      await tx.run("CREATE TABLE numbers (n BIGINT)");
      for (const n of [half, half - 1]) await tx.run("INSERT INTO numbers (n) VALUES (?)", n);
    });
    const query = "SELECT COUNT(*) AS count, SUM(n) AS sum, MAX(n) AS most, COALESCE(SUM(n), 0) AS total FROM numbers";
    const exact = Number.MAX_SAFE_INTEGER;
    expect(await fixture.store.read((reader) => reader.get(query))).toEqual({
      count: 2,
      sum: exact,
      most: half,
      total: exact,
    });
    await fixture.store.transaction((tx) => tx.run("INSERT INTO numbers (n) VALUES (?)", half));
    expect(await failure(fixture.store.read((reader) => reader.get(query)))).toBeInstanceOf(Error);
    expect(await fixture.store.read((reader) => reader.get("SELECT COUNT(*) AS count FROM numbers"))).toEqual({
      count: 3,
    });
  });

  test("a reader that continues behind the highest event it saw never skips one, however long their units take", async () => {
    await using fixture = await open();
    const stores = [fixture.store, await fixture.again(), await fixture.again()];
    const written = Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        (stores[i % 3] as Store)
          .transaction(async (tx) => {
            // Numbered early and committed late, or the other way round.
            if (i % 2 === 0) await tellOf(tx, `event ${i}`);
            for (let pause = 0; pause < (i % 5) * 10; pause += 1) await tx.get("SELECT 1 AS one");
            if (i % 2 === 1) await tellOf(tx, `event ${i}`);
            if (i % 7 === 3) throw new Error("rolled back");
          })
          .catch(() => undefined),
      ),
    );
    let finished = false;
    void written.then(() => (finished = true));
    const seen: { sequence: number; id: string }[] = [];
    const follow = async (): Promise<void> => {
      const last = seen.at(-1)?.sequence ?? 0;
      seen.push(...(await fixture.store.read((reader) => eventsAfter(reader, last))));
    };
    while (!finished) {
      await follow();
      // The units need their turn too.
      await setImmediate();
    }
    const all = await fixture.store.read(allEvents);
    // A unit of another test may still hold back the end of the events.
    while (seen.length < all.length) await follow();
    expect(seen).toEqual(all);
    expect(seen).toHaveLength(60 - 9);
  });
}

/** A store with two accounts of 100 each. */
async function accounts(open: () => Promise<StoreFixture>): Promise<StoreFixture> {
  const fixture = await open();
  await fixture.store.transaction(async (tx) => {
    await tx.run("CREATE TABLE accounts (name TEXT PRIMARY KEY, amount BIGINT NOT NULL)");
    await tx.run("INSERT INTO accounts (name, amount) VALUES ('left', 100), ('right', 100)");
  });
  return fixture;
}

async function amountOf(reader: Reader, name: string): Promise<number> {
  const row = await reader.get<{ amount: number }>("SELECT amount FROM accounts WHERE name = ?", name);
  return row?.amount ?? Number.NaN;
}

async function total(reader: Reader): Promise<number> {
  return (await amountOf(reader, "left")) + (await amountOf(reader, "right"));
}

async function tellOf(tx: Tx, id: string): Promise<void> {
  await tx.run("INSERT INTO events (id, type, at, details) VALUES (?, 'test', now_ms(), '{}')", id);
}

/** Also those at or behind `events_end()`. */
function allEvents(reader: Reader): Promise<{ sequence: number; id: string }[]> {
  return reader.all("SELECT sequence, id FROM events ORDER BY sequence");
}

function eventsAfter(reader: Reader, sequence: number): Promise<{ sequence: number; id: string }[]> {
  return reader.all(
    "SELECT sequence, id FROM events WHERE sequence > ? AND sequence < events_end() ORDER BY sequence",
    sequence,
  );
}
