/** A database as an earlier version of the program left it. */
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../schema/migrations.ts";
import { spellSqlite } from "../sqlite/open-store.ts";

/** With every migration before the one of this name. */
export function olderStore(file: string, before: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.function("now_ms", () => 0n);
  database.exec(
    "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)",
  );
  const end = MIGRATIONS.findIndex(({ name }) => name === before);
  if (end < 0) throw new Error(`there is no migration "${before}"`);
  for (const { version, name, statements } of MIGRATIONS.slice(0, end)) {
    for (const statement of statements) database.exec(spellSqlite(statement));
    database.prepare("INSERT INTO schema_migrations VALUES (?, ?, 0)").run(version, name);
  }
  return database;
}
