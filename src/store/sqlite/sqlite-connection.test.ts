import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { StoreError } from "../../domain/errors/errors.ts";
import { assertSqliteVersion, SqliteConnection } from "./sqlite-connection.ts";
import { endsTransaction, isBusy, storeError } from "../../platform/sqlite-errors.ts";
import { TestDirectory } from "../testing/fixtures.ts";

describe("the version of SQLite", () => {
  test.each(["3.51.3", "3.51.4", "3.52.0", "3.53.4", "4.0.0", "3.100.0", "10.0"])(
    "%s is fit for two writers",
    (version) => {
      expect(() => assertSqliteVersion(version)).not.toThrow();
    },
  );

  test.each(["3.51.2", "3.51", "3.50.99", "3.7.0", "2.99.99", "3", ""])("%s is refused", (version) => {
    expect(() => assertSqliteVersion(version)).toThrow(StoreError);
    expect(() => assertSqliteVersion(version)).toThrow(/3\.51\.3 or newer/);
  });

  test("what is built into this Node is fit", () => {
    const { version } = new DatabaseSync(":memory:").prepare("SELECT sqlite_version() AS version").get() as {
      version: string;
    };
    expect(() => assertSqliteVersion(version)).not.toThrow();
  });
});

describe("a connection", () => {
  test("is durable, checks foreign keys, and waits only briefly inside SQLite", async () => {
    await using directory = await TestDirectory.make();
    const connection = new SqliteConnection(directory.file(), () => 5, { memory: false });
    expect(connection.get("PRAGMA synchronous", [])).toMatchObject({ synchronous: 2 });
    expect(connection.get("PRAGMA foreign_keys", [])).toMatchObject({ foreign_keys: 1 });
    const waits = connection.get<{ timeout: number }>("PRAGMA busy_timeout", []);
    expect(waits?.timeout).toBeLessThanOrEqual(50);
    expect(connection.get("SELECT now_ms() AS now", [])).toMatchObject({ now: 5 });
    connection.close();
  });

  test("that cannot be set up is closed again", async () => {
    await using directory = await TestDirectory.make();
    const clock = (): number => 0;
    expect(() => new SqliteConnection(directory.path, clock, { memory: false })).toThrow(/unable to open/);
  });

  test("never takes an object for a bag of named parameters", () => {
    const connection = new SqliteConnection(":memory:", Date.now, { memory: true });
    connection.exec("CREATE TABLE t (a)");
    const bad = [new Date(), { a: 1 }] as unknown[] as string[];
    for (const value of bad)
      expect(() => connection.run("INSERT INTO t (a) VALUES (?)", [value])).toThrow(/parameter 1/);
    expect(connection.all("SELECT * FROM t", [])).toEqual([]);
    connection.close();
  });
});

describe("what SQLite's result codes mean", () => {
  const raisedError = (errcode: number): Error => Object.assign(new Error("as SQLite says"), { errcode });

  test.each([
    [5, "store_busy"],
    [5 | (2 << 8), "store_busy"],
    [13, "store_full"],
    [8, "store_read_only"],
    [8 | (3 << 8), "store_read_only"],
    [11, "store_corrupt"],
    [26, "store_corrupt"],
    [14, "store_failed"],
    [10, "store_failed"],
    [1, "store_failed"],
    [19, "store_failed"],
  ])("%i is %s", (errcode, code) => {
    const cause = raisedError(errcode);
    const error = storeError(cause, "/data/store.db");
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code, cause, kept: expect.any(String), detail: { file: "/data/store.db" } });
    expect((error as StoreError).message).toContain("/data/store.db");
  });

  test("anything else stays what it is", () => {
    const own = new StoreError("store_failed", "mine");
    for (const error of [
      own,
      new Error("a defect"),
      "text",
      undefined,
      Object.assign(new Error("x"), { errcode: "5" }),
    ]) {
      expect(storeError(error, "f")).toBe(error);
      expect(isBusy(error)).toBe(false);
      expect(endsTransaction(error)).toBe(false);
    }
  });

  test("which of them leave nothing of the transaction to trust", () => {
    expect([7, 8, 10, 11, 13].map((code) => endsTransaction(raisedError(code)))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect([1, 5, 14, 19, 26].map((code) => endsTransaction(raisedError(code)))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
