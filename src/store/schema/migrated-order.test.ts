/**
 * A store that was written before rows were numbered: they keep the order that they had, and new ones come behind them.
 */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { monotonicIds, type ChangesetId, type PlanId } from "../../domain/names/ids.ts";
import { insertChangeset } from "../../ledger/changesets.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openStore } from "../sqlite/open-store.ts";
import { TestDirectory } from "../testing/fixtures.ts";

const NUMBERED = 15;

function olderStore(file: string): void {
  using database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  database.exec("BEGIN");
  database.exec(
    "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)",
  );
  for (const { version, name, statements } of MIGRATIONS.filter((migration) => migration.version < NUMBERED)) {
    for (const statement of statements) {
      database.exec(
        statement
          .replaceAll("IDENTITY", "INTEGER PRIMARY KEY AUTOINCREMENT")
          .replaceAll("BIGINT", "INTEGER")
          .replaceAll("BYTES", "BLOB"),
      );
    }
    database.prepare("INSERT INTO schema_migrations VALUES (?, ?, 0)").run(version, name);
  }
  const plan = database.prepare(
    `INSERT INTO plans (id, name, action_key, action_name, attempt, reversion_count, version, phase, state, description,
       definition_of_done, read_only, profile, profile_source, created_at, updated_at)
     VALUES (?, 'local/p', 'local/a', 'local/a', 1, 0, 1, 'execute', 'queued', '', '', 0, '{}', 'default', 0, 0)`,
  );
  database.exec(
    `INSERT INTO actions (key, name, namespace, description, definition_of_done, reusable, read_only, state, version,
       created_at, updated_at) VALUES ('local/a', 'local/a', 'local', '', '', 1, 0, 'available', 1, 0, 0)`,
  );
  for (const id of ["P2", "P1", "P3"]) plan.run(id);
  const changeset = database.prepare(
    "INSERT INTO changesets (id, plan_id, entry_count, opened_at) VALUES (?, ?, 0, 0)",
  );
  for (const [id, planId] of [
    ["C4", "P1"],
    ["C2", "P2"],
    ["C1", "P1"],
    ["C3", "P1"],
  ] as const)
    changeset.run(id, planId);
  const approval = database.prepare(
    "INSERT INTO plan_approvals (plan_id, attempt, subject, asked_at) VALUES ('P1', 1, ?, ?)",
  );
  for (const [subject, at] of [
    ["writes:b", 2],
    ["writes:c", 1],
    ["writes:a", 2],
  ] as const)
    approval.run(subject, at);
  database.exec("COMMIT");
}

test("rows that are there are numbered in the order they had, each plan's from one", async () => {
  await using directory = await TestDirectory.make();
  olderStore(directory.file());
  await using store = await openStore(`sqlite:${directory.file()}`);
  const listed = (sql: string): Promise<unknown[]> =>
    store.read(async (reader) =>
      (await reader.all<{ name: string; sequence: number }>(sql)).map((row) => ({ ...row })),
    );
  expect(await listed("SELECT id AS name, sequence FROM plans ORDER BY sequence")).toEqual([
    { name: "P1", sequence: 1 },
    { name: "P2", sequence: 2 },
    { name: "P3", sequence: 3 },
  ]);
  expect(await listed("SELECT id AS name, sequence FROM changesets WHERE plan_id = 'P1' ORDER BY sequence")).toEqual([
    { name: "C1", sequence: 1 },
    { name: "C3", sequence: 2 },
    { name: "C4", sequence: 3 },
  ]);
  expect(await listed("SELECT subject AS name, sequence FROM plan_approvals ORDER BY sequence")).toEqual([
    { name: "writes:c", sequence: 1 },
    { name: "writes:a", sequence: 2 },
    { name: "writes:b", sequence: 3 },
  ]);
  // An id of a clock that is far behind all of them.
  const id = monotonicIds(() => 0)() as ChangesetId;
  await store.transaction((tx) => insertChangeset(tx, { id, planId: "P1" as PlanId, entries: [] }));
  expect(
    (await listed("SELECT id AS name, sequence FROM changesets WHERE plan_id = 'P1' ORDER BY sequence")).at(-1),
  ).toEqual({
    name: id,
    sequence: 4,
  });
});
