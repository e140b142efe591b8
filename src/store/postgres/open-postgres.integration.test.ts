/** Which databases are opened, what a session is like, and what is special about PostgreSQL behind the port. */
import { describe, expect, test } from "vitest";
import { openStore } from "../sqlite/open-store.ts";
import { SCHEMA_VERSION } from "../schema/migrations.ts";
import { failure, StoreFixture } from "../testing/fixtures.ts";
import { note, notes } from "../testing/notes.ts";
import { command, makeEmptyDatabase } from "../testing/postgres-databases.ts";
import { missingServer, serverAddress } from "../testing/postgres-server.ts";

const missing = missingServer("packaged");

describe.skipIf(missing !== undefined)(`PostgreSQL (${missing ?? "found"})`, () => {
  test("of several that open an empty database at once one migrates it", async () => {
    await using database = await makeEmptyDatabase("packaged");
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(database.url)));
    for (const store of stores) {
      const rows = await store.read((reader) =>
        reader.all<{ version: number }>("SELECT version FROM schema_migrations"),
      );
      expect(rows).toHaveLength(SCHEMA_VERSION);
      await store.close();
    }
  });

  test("a newer schema, tables of another program and another encoding are left as they are", async () => {
    await using database = await makeEmptyDatabase("packaged");
    await command(database.url, (client) => client.query("CREATE TABLE invoices (n BIGINT)"));
    expect(await failure(openStore(database.url))).toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining("holds tables of another program"),
    });
    await using fixture = await StoreFixture.postgres("packaged");
    const newer = "INSERT INTO schema_migrations (version, name, applied_at) VALUES (100000, 'newer', 0)";
    await command(fixture.store.url, (client) => client.query(newer));
    expect(await failure(openStore(fixture.store.url))).toMatchObject({ code: "store_too_new" });
    const address = await serverAddress("packaged");
    const create = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0";
    await command(address("postgres"), (client) => client.query(create));
    expect(await failure(openStore(address("latin")))).toMatchObject({
      message: expect.stringContaining("is encoded as LATIN1"),
    });
  });

  test("no error shows the password", async () => {
    const address = await serverAddress("packaged");
    const url = new URL(address("no_such_database"));
    url.password = "open-sesame";
    const missingDatabase = await failure(openStore(url.href));
    expect(missingDatabase).toMatchObject({ code: "store_failed", message: expect.stringContaining("does not exist") });
    url.port = "1";
    const unreachable = await failure(openStore(url.href));
    expect(unreachable).toMatchObject({ message: expect.stringContaining("does not answer") });
    const unreadable = await failure(openStore("postgres://user:open-sesame@[/x"));
    for (const error of [missingDatabase, unreachable, unreadable]) {
      expect(error).toBeInstanceOf(Error);
      const { message, next, kept, detail } = error as Error & Record<string, unknown>;
      expect(JSON.stringify({ message, next, kept, detail })).not.toContain("sesame");
    }
  });

  test("its sessions end what hangs in them, and the store says which server it is", async () => {
    await using fixture = await StoreFixture.postgres("packaged");
    const { store } = fixture;
    const settings = await store.read((reader) =>
      reader.all(
        "SELECT name, setting FROM pg_settings WHERE name LIKE '%_timeout' AND source = 'session' ORDER BY name",
      ),
    );
    expect(settings).toEqual([
      { name: "idle_in_transaction_session_timeout", setting: "5000" },
      { name: "lock_timeout", setting: "10000" },
      { name: "statement_timeout", setting: "30000" },
      { name: "transaction_timeout", setting: "60000" },
    ]);
    expect(await store.check()).toMatch(/^PostgreSQL 18\./);
    expect(store.place).not.toContain("?");
  });

  test("a store in the words of another language sorts and finds as SQLite does", async () => {
    await using database = await makeEmptyDatabase("packaged");
    await using store = await openStore(database.url);
    const collations = await store.read((reader) =>
      reader.all<{ collation_name: string | null }>(
        `SELECT DISTINCT collation_name FROM information_schema.columns
          WHERE table_schema = current_schema() AND data_type = 'text'`,
      ),
    );
    expect(collations).toEqual([{ collation_name: "C" }]);
  });

  test("another process's commit is heard of without a poll", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const other = await fixture.again();
    const heard = Promise.withResolvers<void>();
    fixture.store.onCommit(heard.resolve);
    let told = false;
    void heard.promise.then(() => (told = true));
    // Until it listens it hears of nothing.
    let commits = 0;
    while (!told) await other.transaction((tx) => note(tx, `note ${(commits += 1)}`));
    expect(commits).toBeGreaterThan(0);
  });

  test("a content of several megabytes comes back as it was, and one that was never stored is none", async () => {
    await using fixture = await StoreFixture.postgres("packaged");
    const { contents } = fixture.store;
    const bytes = new Uint8Array(2_500_000).map((_, index) => index % 251);
    expect(await contents.place("a".repeat(64), bytes)).toBe(false);
    expect(await contents.place("a".repeat(64), bytes)).toBe(false);
    expect(Buffer.compare((await contents.fetch("a".repeat(64))) ?? new Uint8Array(), bytes)).toBe(0);
    expect(await contents.place("b".repeat(64), bytes.subarray(0, 1_000_000))).toBe(true);
    expect(await contents.fetch("b".repeat(64))).toBeUndefined();
  });

  test("events of a restored database come behind those that are there", async () => {
    await using fixture = await StoreFixture.postgres("packaged");
    const insert = "INSERT INTO events (id, type, at, details) VALUES (?, 'test', 0, '{}')";
    await fixture.store.transaction((tx) =>
      tx.run("INSERT INTO events (sequence, id, type, at, details) VALUES (?, 'old', 'test', 0, '{}')", 2 ** 50),
    );
    const restored = await fixture.again();
    await restored.transaction((tx) => tx.run(insert, "new"));
    const rows = await restored.read((reader) => reader.all<{ id: string }>("SELECT id FROM events ORDER BY sequence"));
    expect(rows.map(({ id }) => id)).toEqual(["old", "new"]);
  });
});
