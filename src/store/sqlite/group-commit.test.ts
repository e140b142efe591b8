/** Several units, one commit: how few commits there are, and what happens to all of them when that one fails. */
import { describe, expect, test } from "vitest";
import { StoreError } from "../../domain/errors/errors.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Store } from "../port.ts";
import { failure, notHung, StoreFixture, TestDirectory } from "../testing/fixtures.ts";

describe("how many commits", () => {
  test("64 units at once share a few, and 10 one after another have one each", async () => {
    await using fixture = await StoreFixture.file();
    const { store } = fixture;
    await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
    let commits = 0;
    store.onCommit(() => (commits += 1));
    const add = (): Promise<number> => store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));

    await Promise.all(Array.from({ length: 64 }, add));
    expect(commits).toBeLessThanOrEqual(4);
    expect(commits).toBeGreaterThanOrEqual(1);

    commits = 0;
    for (let i = 0; i < 10; i += 1) await add();
    expect(commits).toBe(10);
  });

  test("SQLite itself counts as few: another connection's data version moves once for a whole batch", async () => {
    await using directory = await TestDirectory.make();
    await using store = await storeOf(directory.file());
    await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
    const watcher = new SqliteConnection(directory.file(), Date.now, { memory: false });
    try {
      const version = (): number | undefined =>
        watcher.get<{ data_version: number }>("PRAGMA data_version", [])?.data_version;
      const seen = new Set([version()]);
      const units = Array.from({ length: 64 }, async () => {
        await store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));
        seen.add(version());
      });
      await Promise.all(units);
      expect(seen.size - 1).toBeGreaterThanOrEqual(1);
      expect(seen.size - 1).toBeLessThanOrEqual(4);
    } finally {
      watcher.close();
    }
  });

  test("more units than one batch takes are all carried out", async () => {
    await using fixture = await StoreFixture.file();
    const { store } = fixture;
    await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
    let commits = 0;
    store.onCommit(() => (commits += 1));
    const add = (): Promise<number> => store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));
    await Promise.all(Array.from({ length: 1_000 }, add));
    expect(commits).toBeGreaterThanOrEqual(4);
    expect(commits).toBeLessThanOrEqual(10);
    expect(await rows(store)).toBe(1_000);
  });

  test("none is acknowledged before the commit", async () => {
    await using directory = await TestDirectory.make();
    const told: string[] = [];
    await using store = await storeOf(directory.file(), (sql, exec) => {
      exec();
      if (sql === "COMMIT") told.push("committed");
    });
    await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
    told.length = 0;
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        await store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));
        told.push(`acknowledged ${i}`);
      }),
    );
    expect(told).toEqual(["committed", ...Array.from({ length: 5 }, (_, i) => `acknowledged ${i}`)]);
  });
});

describe("when SQLite itself ends the transaction", () => {
  test("every unit of the batch is rejected, also one that swallowed the error, and nothing of it is there", async () => {
    for (const swallow of [false, true]) {
      await using fixture = await StoreFixture.file();
      const { store } = fixture;
      await store.transaction(async (tx) => {
        await tx.run("CREATE TABLE notes (text TEXT)");
        await tx.run("CREATE TABLE once (id INTEGER PRIMARY KEY)");
        await tx.run("INSERT INTO once (id) VALUES (1)");
      });
      const units = Array.from({ length: 9 }, (_, i) =>
        store.transaction(async (tx) => {
          await tx.run("INSERT INTO notes (text) VALUES ('x')");
          if (i !== 4) return;
          const ending = tx.run("INSERT OR ROLLBACK INTO once (id) VALUES (1)");
          await (swallow ? ending.catch(() => undefined) : ending);
        }),
      );
      const outcomes = await notHung(Promise.allSettled(units));
      expect(outcomes.map((outcome) => outcome.status)).toEqual(outcomes.map(() => "rejected"));
      for (const outcome of outcomes) {
        expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(StoreError);
      }
      expect(await rows(store)).toBe(0);
      await store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('later')"));
      expect(await rows(store)).toBe(1);
    }
  });

  test.each([
    [13, "store_full"],
    [8, "store_read_only"],
    [11, "store_corrupt"],
    [10, "store_failed"],
    [7, "store_failed"],
  ])("result code %i of a statement rejects the whole batch with %s", async (errcode, code) => {
    await using directory = await TestDirectory.make();
    const failing = new FailingConnection(directory.file());
    await using store = storeAround(directory.file(), failing);
    await prepareNotes(store);
    const units = ["a", "fails here", "c"].map((text) =>
      store.transaction(async (tx) => {
        await tx.run("INSERT INTO notes (text) VALUES ('x')");
        failing.failNext = text === "fails here" ? { sql: "SELECT 1", errcode } : undefined;
        await tx.get("SELECT 1").catch(() => undefined);
      }),
    );
    const outcomes = await notHung(Promise.allSettled(units));
    expect(outcomes).toEqual(
      outcomes.map(() => ({ status: "rejected", reason: expect.objectContaining({ name: "StoreError", code }) })),
    );
    expect(await rows(store)).toBe(0);
    await store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('later')"));
    expect(await rows(store)).toBe(1);
  });

  test.each(["BEGIN IMMEDIATE", "COMMIT", "RELEASE unit"])(
    "a failing %s rejects every unit, and the next one works",
    async (sql) => {
      await using directory = await TestDirectory.make();
      const failing = new FailingConnection(directory.file());
      await using store = storeAround(directory.file(), failing);
      await prepareNotes(store);
      failing.failNext = { sql, errcode: 13 };
      const units = Array.from({ length: 3 }, () =>
        store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')")),
      );
      for (const unit of units) expect(await notHung(failure(unit))).toMatchObject({ code: "store_full" });
      expect(await rows(store)).toBe(0);
      await notHung(store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('later')")));
      expect(await rows(store)).toBe(1);
    },
  );

  test("a failing SAVEPOINT rejects every unit, also the one it was for", async () => {
    await using directory = await TestDirectory.make();
    const failing = new FailingConnection(directory.file());
    await using store = storeAround(directory.file(), failing);
    await prepareNotes(store);
    failing.failNext = { sql: "SAVEPOINT unit", errcode: 7 };
    const units = Array.from({ length: 3 }, () => store.transaction((tx) => tx.get("SELECT 1")));
    const outcomes = await Promise.all(units.map((unit) => notHung(failure(unit))));
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining({ code: "store_failed" })));
    await notHung(store.transaction((tx) => tx.get("SELECT 1")));
  });

  test("a failing ROLLBACK does not stop the store: its units are rejected, and later ones work", async () => {
    await using directory = await TestDirectory.make();
    const failing = new FailingConnection(directory.file());
    const store = storeAround(directory.file(), failing);
    await prepareNotes(store);
    failing.failNext = { sql: "COMMIT", errcode: 10 };
    failing.failAfterwards = { sql: "ROLLBACK", errcode: 10 };
    const unit = store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));
    expect(await notHung(failure(unit))).toMatchObject({ code: "store_failed" });
    await notHung(store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('later')")));
    expect(await rows(store)).toBe(1);
    await store.close();
  });

  test("a read whose transaction SQLite ended is rejected with the statement's own error", async () => {
    await using directory = await TestDirectory.make();
    const failing = new FailingConnection(directory.file());
    await using store = storeAround(directory.file(), undefined, failing);
    await prepareNotes(store);
    failing.failNext = { sql: "SELECT 2", errcode: 11, endsTransaction: true };
    expect(await failure(store.read((reader) => reader.get("SELECT 2")))).toMatchObject({ code: "store_corrupt" });
    expect(await rows(store)).toBe(0);
  });
});

describe("a lock that another process holds", () => {
  test("is waited for, and then every waiting unit continues", async () => {
    await using directory = await TestDirectory.make();
    await using store = await storeOf(directory.file());
    await prepareNotes(store);
    const holder = new SqliteConnection(directory.file(), Date.now, { memory: false });
    holder.exec("BEGIN IMMEDIATE");
    const units = Array.from({ length: 5 }, () =>
      store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')")),
    );
    setTimeout(() => {
      holder.exec("COMMIT");
      holder.close();
    }, 100);
    await Promise.all(units);
    expect(await rows(store)).toBe(5);
  });

  test("does not keep readers from reading, and is reported as busy when patience ends", async () => {
    await using directory = await TestDirectory.make();
    await using store = await storeOf(directory.file(), undefined, 60);
    await prepareNotes(store);
    const holder = new SqliteConnection(directory.file(), Date.now, { memory: false });
    holder.exec("BEGIN IMMEDIATE");
    const units = Array.from({ length: 3 }, () =>
      store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')")),
    );
    expect(await rows(store)).toBe(0);
    for (const unit of units) {
      expect(await failure(unit)).toMatchObject({
        name: "StoreError",
        code: "store_busy",
        kept: "Nothing was written.",
        next: expect.arrayContaining([{ text: "try again" }]),
      });
    }
    holder.exec("COMMIT");
    holder.close();
    await store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('later')"));
    expect(await rows(store)).toBe(1);
  });

  test("does not freeze the event loop: timers continue while a unit waits", async () => {
    await using directory = await TestDirectory.make();
    await using store = await storeOf(directory.file());
    await prepareNotes(store);
    const holder = new SqliteConnection(directory.file(), Date.now, { memory: false });
    holder.exec("BEGIN IMMEDIATE");
    const started = performance.now();
    let last = started;
    let longestGap = 0;
    const ticking = setInterval(() => {
      const now = performance.now();
      longestGap = Math.max(longestGap, now - last);
      last = now;
    }, 1);
    const unit = store.transaction((tx) => tx.run("INSERT INTO notes (text) VALUES ('x')"));
    setTimeout(() => {
      holder.exec("COMMIT");
      holder.close();
    }, 800);
    await unit;
    clearInterval(ticking);
    const waited = performance.now() - started;
    // Relative: a loop frozen for the whole wait has one gap as long as the wait itself.
    expect(longestGap / waited).toBeLessThan(0.5);
  });
});

interface Fault {
  readonly sql: string;
  readonly errcode: number;
  readonly endsTransaction?: boolean;
}

/** A connection whose next statement of a given text fails the way SQLite would. */
class FailingConnection extends SqliteConnection {
  failNext: Fault | undefined;
  failAfterwards: Fault | undefined;

  constructor(file: string) {
    super(file, Date.now, { memory: false });
  }

  override exec(sql: string): void {
    this.#mayFail(sql);
    super.exec(sql);
  }

  override get<Row>(sql: string, parameters: Parameters<SqliteConnection["get"]>[1]): Row | undefined {
    this.#mayFail(sql);
    return super.get<Row>(sql, parameters);
  }

  #mayFail(sql: string): void {
    const fault = this.failNext;
    if (fault === undefined || fault.sql !== sql) return;
    this.failNext = this.failAfterwards;
    this.failAfterwards = undefined;
    // SQLite reports a failing ROLLBACK only after it has rolled back.
    if (fault.endsTransaction === true || sql === "ROLLBACK") super.exec("ROLLBACK");
    throw Object.assign(new Error(`result code ${fault.errcode}`), { errcode: fault.errcode });
  }
}

type Spy = (sql: string, exec: () => void) => void;

class SpiedConnection extends SqliteConnection {
  readonly #spy: Spy;

  constructor(file: string, spy: Spy) {
    super(file, Date.now, { memory: false });
    this.#spy = spy;
  }

  override exec(sql: string): void {
    this.#spy(sql, () => super.exec(sql));
  }
}

async function storeOf(file: string, spy?: Spy, patienceMs?: number): Promise<Store> {
  const writer = spy === undefined ? undefined : new SpiedConnection(file, spy);
  return storeAround(file, writer, undefined, patienceMs);
}

function storeAround(
  file: string,
  writer = new SqliteConnection(file, Date.now, { memory: false }),
  reader?: SqliteConnection,
  patienceMs = 5_000,
): Store {
  writer.get("PRAGMA journal_mode = WAL", []);
  writer.exec("CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY)");
  return new SqliteStore({
    url: `sqlite:${file}`,
    file,
    writer,
    reader: reader ?? new SqliteConnection(file, Date.now, { memory: false }),
    memory: false,
    patienceMs,
    rerun: false,
  });
}

async function prepareNotes(store: Store): Promise<void> {
  await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
}

async function rows(store: Store): Promise<number | undefined> {
  const row = await store.read((reader) => reader.get<{ n: number }>("SELECT COUNT(*) AS n FROM notes"));
  return row?.n;
}
