/** Stores from before money was checked: what was negative in them becomes what it should have been, and stays so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { daySpending } from "../../ledger/budget-report.ts";
import { openStore } from "../sqlite/open-store.ts";
import { olderStore } from "../testing/older-store.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "money-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const CAPS = { perPlan: undefined, perDay: { amount: 1_000, raise: { text: "raise it" } } };

test("a cost below zero becomes what was reserved, the sums are right again, and everything else is kept", async () => {
  const file = join(directory, "old.db");
  {
    using database = olderStore(file, "money is never negative");
    database.exec(`
      INSERT INTO reservations (id, day, provider, model, bound, state, cost, at, lapses_at, ended_at) VALUES
        ('a', 3, 'house', 'm', 100, 'settled', -1799989500, 1, 2, 3), ('b', 3, 'house', 'm', 200, 'settled', 150, 1, 2, 3),
        ('c', 3, 'house', 'm', 300, 'reserved', NULL, 1, 99999999999999, NULL), ('d', 3, 'house', 'm', 400, 'released', 0, 1, 2, 3),
        ('e', 3, 'house', 'm', NULL, 'settled', NULL, 1, 2, 3);
      INSERT INTO spending VALUES ('day:3', -1799989350, 300, 7, 8), ('day:2', -5, -5, NULL, NULL);`);
  }
  await using store = await openStore(`sqlite:${file}`, { clock: () => 3 * 86_400_000 });
  expect(await store.read((reader) => reader.all("SELECT * FROM spending ORDER BY scope"))).toEqual([
    { scope: "day:2", spent: 0, reserved: 0, warned_cap: null, exceeded_cap: null },
    { scope: "day:3", spent: 250, reserved: 300, warned_cap: 7, exceeded_cap: 8 },
  ]);
  const kept = await store.read((reader) => reader.all("SELECT id, bound, state, cost, ended_at FROM reservations"));
  expect(kept).toEqual([
    { id: "a", bound: 100, state: "assumed", cost: 100, ended_at: 3 },
    { id: "b", bound: 200, state: "settled", cost: 150, ended_at: 3 },
    { id: "c", bound: 300, state: "reserved", cost: null, ended_at: null },
    { id: "d", bound: 400, state: "released", cost: 0, ended_at: 3 },
    { id: "e", bound: null, state: "settled", cost: null, ended_at: 3 },
  ]);
  const today = await store.read((reader) => daySpending(reader, CAPS));
  expect(today).toMatchObject({ calls: 4, spent: 150, estimated: 0, assumed: 100, reserved: 300, unpriced: 1 });
});

test.each([
  "INSERT INTO spending (scope, spent, reserved) VALUES ('day:1', -1, 0)",
  "INSERT INTO spending (scope, spent, reserved) VALUES ('day:1', 0, -1)",
  "INSERT INTO plan_budgets (plan_id, cap) VALUES ('p', -1)",
  ...["-1, 'settled', 0", "1, 'settled', -1", "1, 'spent', 0"].map(
    (values) =>
      `INSERT INTO reservations (id, day, provider, model, at, bound, state, cost) VALUES ('r', 1, 'p', 'm', 0, ${values})`,
  ),
  ...["-1, 0, 0, 0", "0, -1, 0, 0", "0, 0, -1, 0", "0, 0, 0, -1"].map(
    (values) =>
      `INSERT INTO model_calls (id, plan_id, attempt, phase, step_key, provider, model, estimated, duration_ms, tries, masked, at,
         input_tokens, cached_tokens, output_tokens, cost) VALUES ('c', 'p', 1, 'execute', 's', 'p', 'm', 0, 0, 1, 0, 0, ${values})`,
  ),
])("the table itself refuses: %s", async (statement) => {
  await using store = await openStore("memory:");
  const refused: unknown = await store.transaction((tx) => tx.run(statement)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(String((refused as Error).cause ?? refused)).toMatch(/CHECK/);
});
