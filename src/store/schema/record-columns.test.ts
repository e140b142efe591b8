/**
 * A store that was written when records were told apart by their keys: it is carried over, and none of its records is
 * lost.
 */
import { copyFileSync } from "node:fs";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../../domain/names/ids.ts";
import { findStepRecords, stepsOutside } from "../../ledger/steps.ts";
import { openStore } from "../sqlite/open-store.ts";
import { entryHash, listAudit } from "../tables/audit.ts";
import { verifyAudit } from "../tables/audit-verification.ts";
import { findLinks } from "../tables/resources.ts";
import { TestDirectory } from "../testing/fixtures.ts";
import { olderStore } from "../testing/older-store.ts";

const id = monotonicIds();
const PLAN = id() as PlanId;
const OTHER = id() as PlanId;
const KEYS = ["tool-step:add", "ask:add/1", "context:add/1", "hook:api:pre-commit", "worked:add", "gave-up:add/1"];

/** Two plans; the first was rolled back twice, at its versions 3 and 4. */
function makeOlderStore(file: string): void {
  using database = olderStore(file, "records by columns");
  database.exec("PRAGMA foreign_keys = OFF");
  for (const [at, plan] of [PLAN, OTHER].entries()) {
    database
      .prepare(
        `INSERT INTO plans (sequence, id, name, action_key, action_name, attempt, reversion_count, version, phase, state,
           description, definition_of_done, read_only, profile, profile_source, created_at, updated_at)
         VALUES (?, ?, 'local/p', 'local/a', 'local/a', 1, 0, ?, 'execute', 'queued', '', '', 0, '{}', 'default', 0, 0)`,
      )
      .run(at, plan, plan === PLAN ? 4 : 1);
  }
  const step = database.prepare(
    "INSERT INTO steps (plan_id, phase, attempt, key, epoch, result, at) VALUES (?, 'execute', 1, ?, 1, ?, 7)",
  );
  for (const [at, key] of [...KEYS, "once:add/1"].entries()) step.run(PLAN, key, JSON.stringify({ order: [0, at] }));
  step.run(PLAN, "own", '"of a program"');
  step.run(PLAN, "superseded\u00013\u0001tool-step:add", '{"order":[0,0],"output":"first"}');
  step.run(PLAN, "superseded\u00014\u0001tool-step:add", '{"order":[0,0],"output":"second"}');
  step.run(OTHER, "superseded\u000112\u000112:odd", null);
  audit(database);
  database.exec(`INSERT INTO resources (key, name, namespace, type, path, version, created_at, updated_at)
    VALUES ('local/r', 'local/r', 'local', 'fs-directory', '/somewhere', 1, 0, 0)`);
  database.exec(`INSERT INTO projects (key, name, namespace, version, created_at, updated_at)
    VALUES ('local/p', 'local/p', 'local', 1, 0, 0)`);
  database.exec("INSERT INTO project_resources VALUES ('local/p', 'r', 'local/r', 0, 0)");
  database
    .prepare("INSERT INTO sandboxes VALUES (?, 1, 'r', 'filesystem_copy', '/somewhere', NULL, NULL, 0, 0)")
    .run(PLAN);
}

function audit(database: ReturnType<typeof olderStore>): void {
  const heads = new Map<string, { position: number; hash: string }>();
  const append = (chain: string, details: object, status: string | null): void => {
    const { position: last, hash: previous_hash } = heads.get(chain) ?? { position: 0, hash: "0".repeat(64) };
    const position = last + 1;
    const plan_version = status === null ? null : position;
    const facts = { id: id(), chain, position, type: "t", plan_version, status, user_name: "ann", at: position * 100 };
    const entry = { ...facts, details: JSON.stringify(details), previous_hash };
    const hash = entryHash(entry);
    database
      .prepare(
        `INSERT INTO audit_entries (id, chain, position, type, plan_version, status, user_name, at, details,
           previous_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(...Object.values(entry), hash);
    heads.set(chain, { position, hash });
  };
  for (let version = 1; version <= 4; version += 1) append(PLAN, {}, "execute/queued");
  append(OTHER, { plan_id: PLAN }, "execute/queued");
  append("system", { plan_id: PLAN, from: null }, null);
  append("system", { note: '{"plan_id":"' + PLAN + '"}' }, null);
  append("system", { plan_id: OTHER }, null);
  for (const [chain, { position, hash }] of heads)
    database.prepare("INSERT INTO audit_chains VALUES (?, ?, ?, 0)").run(chain, position, hash);
}

test("an older store is carried over: kinds, superseded records, plans of audit entries and hosts", async () => {
  await using directory = await TestDirectory.make();
  makeOlderStore(directory.file("old.db"));
  copyFileSync(directory.file("old.db"), directory.file());
  await using store = await openStore(`sqlite:${directory.file()}`);
  const plan = { id: PLAN, attempt: 1 };
  const records = await store.read((reader) => findStepRecords(reader, plan));
  expect(new Set(records.map(({ kind, key, id }) => `${kind} ${key} ${id}`))).toEqual(
    new Set([
      "tool_call tool-step:add add",
      "answer ask:add/1 add/1",
      "context context:add/1 add/1",
      "hook hook:api:pre-commit api:pre-commit",
      "step_end worked:add add",
      "gave_up gave-up:add/1 add/1",
      "once once:add/1 add/1",
    ]),
  );
  expect(await store.read((reader) => stepsOutside(reader, plan, new Set(KEYS)))).toEqual([
    { phase: "execute", key: "once:add/1" },
    { phase: "execute", key: "own" },
  ]);
  const superseded = await store.read((reader) =>
    reader.all(
      "SELECT plan_id, key, kind, result, superseded_at FROM steps WHERE superseded_at IS NOT NULL ORDER BY at, result",
    ),
  );
  expect(superseded).toEqual([
    { plan_id: OTHER, key: "12:odd", kind: "other", result: null, superseded_at: 7 },
    {
      plan_id: PLAN,
      key: "tool-step:add",
      kind: "tool_call",
      result: '{"order":[0,0],"output":"first"}',
      superseded_at: 300,
    },
    {
      plan_id: PLAN,
      key: "tool-step:add",
      kind: "tool_call",
      result: '{"order":[0,0],"output":"second"}',
      superseded_at: 400,
    },
  ]);
  expect((await verifyAudit(store, { at: 1_000 })).problem).toBeUndefined();
  const entries = await store.read((reader) => listAudit(reader, 100, PLAN));
  expect(entries.map(({ chain, position }) => `${chain} ${position}`)).toEqual([
    "system 1",
    ...[4, 3, 2, 1].map((position) => `${PLAN} ${position}`),
  ]);
  const [link] = await store.read((reader) => findLinks(reader, { project: "local/p" as never }));
  expect(link?.host).toBe(hostname());
  expect(await store.read((reader) => reader.get("SELECT host FROM sandboxes"))).toEqual({ host: hostname() });
});
