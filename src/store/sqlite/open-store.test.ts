/** Opening: what a store's file has to be, and the one clear error for everything it is not. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { StoreError, UsageError } from "../../domain/errors/errors.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../schema/migrations.ts";
import { openStore } from "./open-store.ts";
import { failure, TestDirectory } from "../testing/fixtures.ts";

describe("the name of a store", () => {
  test.each([
    "",
    "sqlite:",
    "memory",
    "mysql://x",
    "/some/file.db",
    "file:x",
    "memory:../x",
    "memory:a b",
    "memory:a?b",
  ])("%j names none", async (url) => {
    expect(await failure(openStore(url))).toBeInstanceOf(UsageError);
  });

  test("memory: is a new one each time; its url opens the same one again, until every handle is closed", async () => {
    const first = await openStore("memory:");
    await using stranger = await openStore("memory:");
    expect(first.url).toMatch(/^memory:.+/);
    expect(stranger.url).not.toBe(first.url);
    await first.transaction((tx) => tx.run("CREATE TABLE mine (id INTEGER)"));
    const again = await openStore(first.url);
    await first.close();
    expect(await again.read((reader) => reader.all("SELECT * FROM mine"))).toEqual([]);
    expect(await failure(stranger.read((reader) => reader.all("SELECT * FROM mine")))).toBeInstanceOf(StoreError);
    await again.close();
    await using afresh = await openStore(first.url);
    expect(await failure(afresh.read((reader) => reader.all("SELECT * FROM mine")))).toBeInstanceOf(StoreError);
  });

  test("a file's url is absolute, so that it means the same in every working directory", async () => {
    await using directory = await TestDirectory.make();
    const roundabout = `sqlite:${join(directory.path, "sub", "..", "store.db")}`;
    await using store = await openStore(roundabout);
    expect(store.url).toBe(`sqlite:${directory.file()}`);
  });
});

describe("a new file", () => {
  test("and its directories, its log and its shared memory are for the owner only", async () => {
    await using directory = await TestDirectory.make();
    const file = join(directory.path, "a", "b", "store.db");
    await using store = await openStore(`sqlite:${file}`);
    await store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT)"));
    const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    expect([mode(dirname(dirname(file))), mode(dirname(file))]).toEqual(["700", "700"]);
    const files = readdirSync(dirname(file)).sort();
    expect(files).toEqual(["store.db", "store.db-shm", "store.db-wal"]);
    expect(files.map((name) => mode(join(dirname(file), name)))).toEqual(["600", "600", "600"]);
  });

  test.runIf(existsSync("/proc/locks"))(
    "is locked as long as it is open, also when other handles open and close it here",
    async () => {
      await using directory = await TestDirectory.make();
      const file = join(directory.path, "store.db");
      await using _ = await openStore(`sqlite:${file}`);
      expect(locksOn(file)).not.toEqual([]);
      await (await openStore(`sqlite:${file}`)).close();
      expect(locksOn(file)).not.toEqual([]);
    },
  );

  test("has every migration recorded once, and opening it again changes nothing", async () => {
    await using directory = await TestDirectory.make();
    const url = `sqlite:${directory.file()}`;
    await (await openStore(url, { clock: () => 42 })).close();
    const before = fingerprint(directory.file());
    await (await openStore(url, { clock: () => 43 })).close();
    expect(fingerprint(directory.file())).toBe(before);
    await using store = await openStore(url);
    const rows = await store.read((reader) => reader.all("SELECT version, name, applied_at FROM schema_migrations"));
    expect(rows.map((row) => ({ ...(row as object) }))).toEqual(
      MIGRATIONS.map(({ version, name }) => ({ version, name, applied_at: 42 })),
    );
    expect(SCHEMA_VERSION).toBe(MIGRATIONS.at(-1)?.version);
  });

  test("an empty file is a new store", async () => {
    await using directory = await TestDirectory.make();
    writeFileSync(directory.file(), "");
    await using store = await openStore(`sqlite:${directory.file()}`);
    expect(await store.read((reader) => reader.all("SELECT * FROM plans"))).toEqual([]);
  });

  test("its tables take only what their columns are for", async () => {
    await using directory = await TestDirectory.make();
    await using store = await openStore(`sqlite:${directory.file()}`);
    const wrong = store.transaction((tx) =>
      tx.run(
        "INSERT INTO projects (key, name, namespace, version, created_at, updated_at) VALUES ('k', 'n', 'l', 'one', 0, 0)",
      ),
    );
    expect(await failure(wrong)).toMatchObject({ code: "store_failed" });
    const orphan = store.transaction((tx) =>
      tx.run("INSERT INTO plan_invariants (plan_id, position, text) VALUES ('unknown', 1, 'x')"),
    );
    expect(await failure(orphan)).toMatchObject({
      code: "store_failed",
      message: expect.stringMatching(/FOREIGN KEY/),
    });
  });

  test("a schema half made by a process that died is completed", async () => {
    await using directory = await TestDirectory.make();
    const raw = new DatabaseSync(directory.file());
    raw.exec(
      "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)",
    );
    raw.close();
    await using store = await openStore(`sqlite:${directory.file()}`);
    expect(await store.read((reader) => reader.all("SELECT * FROM plans"))).toEqual([]);
  });
});

describe("refused", () => {
  test("a newer schema; the file keeps every byte and nothing is left beside it", async () => {
    await using directory = await TestDirectory.make();
    const file = directory.file();
    await (await openStore(`sqlite:${file}`)).close();
    const raw = new DatabaseSync(file);
    raw.exec(`INSERT INTO schema_migrations VALUES (${SCHEMA_VERSION + 1}, 'from the future', 0)`);
    raw.close();
    const before = fingerprint(file);
    const error = await clearError(openStore(`sqlite:${file}`));
    expect(error).toMatchObject({ code: "store_too_new", kept: "It was left as it is." });
    expect(error.message).toContain(`schema ${SCHEMA_VERSION + 1}`);
    expect(fingerprint(file)).toBe(before);
    expect(readdirSync(directory.path)).toEqual(["store.db"]);
  });

  test.each([
    ["text", () => Buffer.from("This is not a database.\n".repeat(400))],
    ["random bytes", () => createHash("shake256", { outputLength: 20_000 }).update("seed").digest()],
    ["a database's header and then nothing that fits", () => Buffer.concat([header(), Buffer.alloc(8_192, 0xff)])],
  ])("%s; the file keeps every byte", async (_, content) => {
    await using directory = await TestDirectory.make();
    writeFileSync(directory.file(), content());
    const before = fingerprint(directory.file());
    expect(await clearError(openStore(`sqlite:${directory.file()}`))).toMatchObject({ code: "store_corrupt" });
    expect(fingerprint(directory.file())).toBe(before);
    expect(readdirSync(directory.path)).toEqual(["store.db"]);
  });

  test("another program's database, which stays as it was", async () => {
    await using directory = await TestDirectory.make();
    const raw = new DatabaseSync(directory.file());
    raw.exec("CREATE TABLE bookmarks (title TEXT); INSERT INTO bookmarks VALUES ('precious')");
    raw.close();
    const before = fingerprint(directory.file());
    const opening = openStore(`sqlite:${directory.file()}`);
    const error = await failure(opening.then((store) => store.close()));
    expect(fingerprint(directory.file())).toBe(before);
    expect(error).toMatchObject({ name: "StoreError", code: "store_corrupt" });
  });

  test("a directory in its place", async () => {
    await using directory = await TestDirectory.make();
    mkdirSync(directory.file());
    expect(await clearError(openStore(`sqlite:${directory.file()}`))).toMatchObject({ code: "store_failed" });
  });

  test("a file in the place of its directory", async () => {
    await using directory = await TestDirectory.make();
    writeFileSync(directory.file("data"), "");
    expect(await clearError(openStore(`sqlite:${directory.file("data")}/store.db`))).toMatchObject({
      code: "store_failed",
    });
  });

  test("a directory in the place of its log", async () => {
    await using directory = await TestDirectory.make();
    mkdirSync(`${directory.file()}-wal`);
    expect(await clearError(openStore(`sqlite:${directory.file()}`))).toMatchObject({ code: "store_failed" });
  });

  test("a path with a NUL character", async () => {
    await using directory = await TestDirectory.make();
    expect(await clearError(openStore(`sqlite:${directory.file("a\0b")}`))).toMatchObject({ code: "store_failed" });
  });

  test("a database that another process keeps locked for too long, and it opens once the lock is free", async () => {
    await using directory = await TestDirectory.make();
    const holder = new DatabaseSync(directory.file());
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (id)");
    const url = `sqlite:${directory.file()}`;
    expect(await clearError(openStore(url, { patienceMs: 60 }))).toMatchObject({ code: "store_busy" });
    setTimeout(() => {
      holder.exec("ROLLBACK");
      holder.close();
    }, 100);
    await (await openStore(url)).close();
  });
});

describe("damaged later", () => {
  test("pages overwritten in the middle are reported when they are read, and the file is left", async () => {
    await using directory = await TestDirectory.make();
    const file = directory.file();
    const pages = await filled(file);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 4_096 * Math.floor(pages / 3), 4_096 * (pages - 2));
    writeFileSync(file, bytes);
    expect(await clearError(readEverything(file))).toMatchObject({ code: "store_corrupt" });
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test("a file cut in the middle is reported, and left as it is", async () => {
    await using directory = await TestDirectory.make();
    const file = directory.file();
    const pages = await filled(file);
    truncateSync(file, 4_096 * Math.floor(pages / 2));
    const before = fingerprint(file);
    expect(await clearError(readEverything(file))).toMatchObject({ code: "store_corrupt" });
    expect(fingerprint(file)).toBe(before);
  });

  test("a write that meets a damaged page rejects the whole batch and writes nothing", async () => {
    await using directory = await TestDirectory.make();
    const file = directory.file();
    const pages = await filled(file);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 4_096 * Math.floor(pages / 3), 4_096 * (pages - 2));
    writeFileSync(file, bytes);
    await using store = await openStore(`sqlite:${file}`);
    const outcomes = await Promise.allSettled([
      store.transaction((tx) => tx.run("INSERT INTO projects VALUES ('k', 'n', 'l', NULL, 1, 0, 0)")),
      store.transaction((tx) => tx.run("UPDATE notes SET text = 'new'")),
    ]);
    expect(outcomes).toEqual(
      outcomes.map(() => ({ status: "rejected", reason: expect.objectContaining({ code: "store_corrupt" }) })),
    );
    expect(await store.read((reader) => reader.all("SELECT * FROM projects"))).toEqual([]);
  });
});

/**
 * Fills the store until its rows span so many pages that the tables of ours are in the first third; the number of
 * pages.
 */
async function filled(file: string): Promise<number> {
  await using store = await openStore(`sqlite:${file}`);
  await store.transaction(async (tx) => {
    await tx.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    for (let i = 0; i < 6_000; i += 1) await tx.run("INSERT INTO notes (text) VALUES (?)", `${i} `.repeat(50));
  });
  await store.close();
  return statSync(file).size / 4_096;
}

async function readEverything(file: string): Promise<void> {
  await using store = await openStore(`sqlite:${file}`);
  await store.read((reader) => reader.all("SELECT * FROM notes"));
}

function header(): Buffer {
  const bytes = Buffer.alloc(100);
  bytes.write("SQLite format 3\0", "latin1");
  bytes.writeUInt16BE(4_096, 16);
  bytes.set([1, 1, 0, 64, 32, 32], 18);
  return bytes;
}

function fingerprint(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/** The error, which has everything a user needs: one class, a code, what is kept and what to do next. */
async function clearError(work: Promise<unknown>): Promise<StoreError> {
  const error = await failure(work);
  expect(error).toBeInstanceOf(StoreError);
  const found = error as StoreError;
  expect(found.code).toMatch(/^store_/);
  expect(found.kept).toMatch(/\.$/);
  expect(found.next.length).toBeGreaterThan(0);
  return found;
}

/**
 * The kernel's list of this process's locks on a file. Without any, the last connection of another process takes itself
 * for the last of all.
 */
function locksOn(file: string): string[] {
  const { ino } = statSync(file);
  const mine = new RegExp(` ${process.pid} \\S+:${ino} `);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => mine.test(line));
}
