/** Several processes on one data directory, and file systems that are really full or really read-only. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MIGRATIONS } from "../schema/migrations.ts";
import { openStore } from "./open-store.ts";
import { createCounters, type ElsewhereAnswer, type ElsewhereError } from "../testing/elsewhere.ts";
import { TestDirectory } from "../testing/fixtures.ts";
import { inNamespace, inProcess } from "../testing/run-elsewhere.ts";
import { sized } from "../../testing/size.ts";

describe("processes", () => {
  test("4 that start on the same empty data directory all succeed, and each migration is recorded once", async () => {
    await using directory = await TestDirectory.make();
    for (let round = 0; round < 10; round += 1) {
      const url = `sqlite:${join(directory.path, `round ${round}`, "store.db")}`;
      const answers = await Promise.all([1, 2, 3, 4].map(() => inProcess({ kind: "open", url })));
      expect(answers).toEqual(answers.map(() => ({ acknowledged: 0 })));
      await using store = await openStore(url);
      const versions = await store.read((reader) =>
        reader.all<{ version: number }>("SELECT version FROM schema_migrations"),
      );
      expect(versions.map(({ version }) => version)).toEqual(MIGRATIONS.map(({ version }) => version));
    }
  });

  test("6 that hammer one file lose no count, and none of them is turned away", async () => {
    await using directory = await TestDirectory.make();
    const url = `sqlite:${directory.file()}`;
    const times = sized({ normal: 100, full: 2_000 });
    await using store = await openStore(url);
    await createCounters(store);
    const command = { kind: "increment", url, times, together: 4 } as const;
    const answers = await Promise.all(Array.from({ length: 6 }, () => inProcess(command)));
    expect(answers).toEqual(answers.map(() => ({ acknowledged: times })));
    const rows = await store.read((reader) => reader.all<{ n: number }>("SELECT n FROM counters"));
    expect(rows.map(({ n }) => n)).toEqual([6 * times, 6 * times]);
  });
});

describe("a full disk", () => {
  test("fails the unit with one clear error, keeps what was acknowledged, and the same store continues once there is space", async (ctx) => {
    await using directory = await TestDirectory.make();
    const place = directory.path;
    const answer = await inNamespace(
      // The ballast is what gets freed; the rest of the 3 MB is for the store.
      `mount -t tmpfs -o mode=0700,size=3m tmpfs '${place}'; head -c 1500000 /dev/zero > '${place}/ballast'`,
      { kind: "fill", url: `sqlite:${directory.file()}`, bytes: 50_000, rows: 1_000, free: `${place}/ballast` },
    );
    if (answer === undefined) return ctx.skip("this machine allows no mount namespaces");
    const { acknowledged, error, found } = answer;
    expect(acknowledged).toBeGreaterThan(0);
    expect(clear(error)).toMatchObject({
      code: "store_full",
      kept: expect.stringContaining("acknowledged before is kept"),
    });
    expect(JSON.stringify(error?.next)).toContain("free some space");
    expect(found).toEqual([acknowledged, acknowledged + 1, acknowledged + 1]);
  });

  test("without a byte to begin with, no store is opened and the error says why", async (ctx) => {
    await using directory = await TestDirectory.make();
    const place = directory.path;
    const answer = await inNamespace(
      `mount -t tmpfs -o mode=0700,size=64k tmpfs '${place}'; head -c 100000 /dev/zero > '${place}/ballast' || true`,
      { kind: "open", url: `sqlite:${directory.file()}` },
    );
    if (answer === undefined) return ctx.skip("this machine allows no mount namespaces");
    expect(clear(answer.error)).toMatchObject({ code: "store_full" });
  });
});

describe("a file system that cannot be written", () => {
  test("an existing store is not opened, with one clear error", async (ctx) => {
    await using directory = await TestDirectory.make();
    const url = `sqlite:${directory.file()}`;
    await (await openStore(url)).close();
    const answer = await inNamespace(readOnly(directory.path), { kind: "open", url });
    if (answer === undefined) return ctx.skip("this machine allows no mount namespaces");
    expect(clear(answer.error)).toMatchObject({ code: "store_read_only", kept: "Nothing was changed." });
    await (await openStore(url)).close();
  });

  test("a new store is not made, with the same error", async (ctx) => {
    await using directory = await TestDirectory.make();
    const url = `sqlite:${join(directory.path, "new", "store.db")}`;
    const answer = await inNamespace(readOnly(directory.path), { kind: "open", url });
    if (answer === undefined) return ctx.skip("this machine allows no mount namespaces");
    expect(clear(answer.error)).toMatchObject({ code: "store_read_only", kept: "Nothing was changed." });
  });
});

describe("missing permission", () => {
  test("for the data directory is one clear error that names the path", async (ctx) => {
    await using directory = await TestDirectory.make();
    const data = join(directory.path, "data");
    mkdirSync(data);
    chmodSync(data, 0o000);
    const url = `sqlite:${join(data, "store.db")}`;
    const answer = await withoutPrivileges({ kind: "open", url });
    chmodSync(data, 0o700);
    if (answer === undefined) return ctx.skip("this machine offers no way to give up root's rights");
    expect(clear(answer.error)).toMatchObject({ code: "store_failed", kept: "Nothing was changed." });
    expect(answer.error?.message).toContain(data);
    expect(JSON.stringify(answer.error?.next)).toContain("permissions");
  });
});

function readOnly(path: string): string {
  return `mount --bind '${path}' '${path}'; mount -o remount,bind,ro '${path}'`;
}

function clear(error: ElsewhereError | undefined): ElsewhereError | undefined {
  expect(error).toMatchObject({ class: "StoreError", kept: expect.stringMatching(/\.$/) });
  expect(error?.next.length).toBeGreaterThan(0);
  return error;
}

/** Root may do anything, whichever mode bits are set; so the test runs in a process that gave those rights up. */
async function withoutPrivileges(command: Parameters<typeof inProcess>[0]): Promise<ElsewhereAnswer | undefined> {
  if (process.getuid?.() !== 0) return inProcess(command);
  return inProcess(command, ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]).catch(
    () => undefined,
  );
}
