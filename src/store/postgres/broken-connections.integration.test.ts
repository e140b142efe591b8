/** A store on PostgreSQL keeps its promises when the network or the server breaks under it. */
import { describe, expect, test } from "vitest";
import { openStore } from "../sqlite/open-store.ts";
import type { Store, Tx } from "../port.ts";
import { CuttingProxy } from "../testing/cutting-proxy.ts";
import { failure, StoreFixture } from "../testing/fixtures.ts";
import { allNotes, note, notes } from "../testing/notes.ts";
import { command } from "../testing/postgres-databases.ts";
import { missingServer } from "../testing/postgres-server.ts";

const missing = missingServer("packaged");

/** Ends the sessions of the store's units, as an operator or a failing server does. */
function endSessions(url: string): Promise<void> {
  const query = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  return command(url, (client) => client.query(query));
}

function through(proxy: CuttingProxy, url: string): string {
  const address = new URL(url);
  address.port = String(proxy.port);
  return address.href;
}

describe.skipIf(missing !== undefined)(`a connection that breaks (${missing ?? "PostgreSQL"})`, () => {
  test.each(["before", "after"] as const)(
    "%s the server has answered COMMIT: every unit is written exactly once",
    async (cut) => {
      await using fixture = await notes(() => StoreFixture.postgres("packaged"));
      await using proxy = await CuttingProxy.before(Number(new URL(fixture.store.url).port));
      await using store = await openStore(through(proxy, fixture.store.url));
      let runs = 0;
      for (let i = 0; i < 5; i += 1) {
        proxy.cutNext(cut);
        const unit = async (tx: Tx): Promise<number> => {
          runs += 1;
          await tx.run("INSERT INTO notes (text) VALUES (?)", `note ${i}`);
          return i;
        };
        expect(await store.transaction(unit)).toBe(i);
      }
      expect(proxy.cuts).toBe(5);
      expect(await allNotes(fixture.store)).toEqual([0, 1, 2, 3, 4].map((i) => `note ${i}`));
      // A unit that was committed is not run a second time; one that was not is.
      expect(runs).toBe(cut === "before" ? 10 : 5);
    },
  );

  test("for good during a commit: the caller is told that either all or nothing was written", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const proxy = await CuttingProxy.before(Number(new URL(fixture.store.url).port));
    await using store = await openStore(through(proxy, fixture.store.url), { patienceMs: 50 });
    proxy.cutNext("before");
    const unit = store.transaction((tx) => note(tx, "one"));
    while (proxy.cuts === 0) await new Promise((resolve) => setImmediate(resolve));
    await proxy[Symbol.asyncDispose]();
    expect(await failure(unit)).toMatchObject({
      code: "store_failed",
      kept: "Either all of the request was written or nothing of it.",
    });
    expect(await failure(store.changeCounter())).toMatchObject({ code: "store_failed" });
    expect(await failure(store.read((reader) => reader.get("SELECT 1 AS one")))).toMatchObject({
      message: expect.stringContaining("does not answer"),
    });
  });

  test("because the server ended the session: the unit is run again, and written once", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const { store } = fixture;
    for (const text of ["one", "two"]) {
      let ended: Promise<void> | undefined;
      let runs = 0;
      await store.transaction(async (tx) => {
        runs += 1;
        await note(tx, text);
        ended ??= endSessions(store.url);
        // Until the session is gone; the second run finds it ended once and for all.
        for (let i = 0; runs === 1 && i < 100_000; i += 1) await tx.get("SELECT 1 AS one");
      });
      await ended;
      // The second run may be among the sessions that are ended, too.
      expect(runs).toBeGreaterThan(1);
    }
    expect(await allNotes(store)).toEqual(["one", "two"]);
  });

  test("while it is idle, and after it: neither ends the process", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const { store } = fixture;
    const heard = hears(store);
    await endSessions(store.url);
    await store.transaction((tx) => note(tx, "after"));
    await heard;
    expect(await allNotes(store)).toEqual(["after"]);
  });

  test("a row that another session keeps locked is waited for, and then the store is busy", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const store = await fixture.again({ patienceMs: 0 });
    await fixture.store.transaction((tx) => note(tx, "one"));
    const change = "UPDATE notes SET text = 'two' WHERE text = 'one'";
    await command(fixture.store.url, async (client) => {
      await client.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
      await command(fixture.store.url, (other) => other.query("SELECT pg_sleep(0)"));
      const refused = failure(
        store.transaction(async (tx) => {
          await tx.run("SET LOCAL lock_timeout = '20ms'");
          await tx.run(change);
        }),
      );
      expect(await refused).toMatchObject({ code: "store_busy", kept: "Nothing was written." });
      await client.query("ROLLBACK");
    });
    expect(await store.transaction((tx) => tx.run(change))).toBe(1);
  });

  test("a statement that was parsed before the schema changed is parsed again", async () => {
    await using fixture = await notes(() => StoreFixture.postgres("packaged"));
    const { store } = fixture;
    const read = (): Promise<unknown[]> => store.read((reader) => reader.all("SELECT * FROM notes"));
    await read();
    await command(store.url, (client) => client.query("ALTER TABLE notes ADD COLUMN stars BIGINT DEFAULT 5"));
    await store.transaction((tx) => note(tx, "one"));
    expect(await read()).toEqual([{ text: "one", stars: 5 }]);
  });
});

/** Resolves once a commit through this handle was told. */
function hears(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.onCommit(() => {
      stop();
      resolve();
    });
  });
}
