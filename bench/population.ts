/**
 * Fills a store with many plans in a short time. One plan is led through its whole life by the service; all others are
 * copies of what its rows looked like at some point of that life, with ids and times of their own and with audit chains
 * and seals that verify. Written through a raw connection without waiting for the disk: a million plans through the
 * service would take an hour.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { monotonicIds, type PlanId } from "../src/domain/names/ids.ts";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../src/plans/plan-lifecycle-service.ts";
import { ProjectService } from "../src/catalog/project-service.ts";
import { runStep } from "../src/ledger/steps.ts";
import { verifyAudit } from "../src/store/tables/audit-verification.ts";
import type { Store } from "../src/store/port.ts";
import { entryHash, FIRST_HASH, sealHash, type AuditRow, type SealHead } from "../src/store/tables/audit.ts";
import { completeApply } from "../src/testing/complete-apply.ts";

/**
 * At which version of its life each of ten plans stands: two applied, one executed, one waiting to be executed, one
 * strategized, five new. That is 3.6 audit entries and as many events for each plan on average, about 4 kB on disk.
 */
const VERSIONS = [9, 1, 1, 1, 6, 1, 9, 3, 1, 4] as const;

const SEAL_EVERY = 256;
const SPAN_MS = 365 * 24 * 3_600_000;
const PLANS_PER_COMMIT = 20_000;

type Row = Record<string, SQLInputValue>;

/** Makes `file` a store of `count` plans; returns how many audit entries it has. */
export async function populate(file: string, count: number): Promise<number> {
  const model = await liveOnce(file);
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; PRAGMA wal_autocheckpoint = 20000");
    copyPlans(database, model, count);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return lastSequence(database);
  } finally {
    database.close();
  }
}

/** The rows of the model plan after each of its transitions. */
interface Moment {
  readonly plan: Row;
  readonly lease: Row | undefined;
}

interface Model {
  readonly createdAt: number;
  readonly moments: readonly Moment[];
  /** Rows that belong to the plan from its beginning. */
  readonly belongings: Readonly<Record<"plan_projects" | "plan_arguments" | "plan_invariants", readonly Row[]>>;
  readonly steps: readonly Row[];
  readonly events: readonly Row[];
  readonly audit: readonly AuditRow[];
  readonly seal: { readonly number: number; readonly hash: string };
}

async function liveOnce(file: string): Promise<Model> {
  await using store = await openStore(`sqlite:${file}`);
  const service = new PlanLifecycleService({ store });
  const projects = new ProjectService({ store });
  for (const name of ["local/shop", "local/warehouse"]) await projects.createProject({ name });
  await service.createAction({
    name: "local/fix-bug",
    description: "Fix issue {issue} in the shop",
    definitionOfDone: "A test fails without the change and passes with it; nothing else changed its behavior.",
    strategyActor: "local/planner",
    executionActor: "local/coder",
    arguments: [
      { name: "issue", type: "integer", required: true },
      { name: "branch", default: "main" },
    ],
    invariants: ["The public interface stays as it is."],
  });
  const { id } = await service.useAction({
    action: "local/fix-bug",
    projects: ["local/shop", "local/warehouse"],
    arguments: { issue: 42 },
  });
  const moments: Moment[] = [];
  const remember = async (): Promise<void> => void moments.push(await momentOf(store, id));
  await remember();
  const strategize = await service.startStrategize(id);
  await remember();
  await service.completeStrategize(strategize);
  await remember();
  await service.executePlan(id);
  await remember();
  const execute = await service.startExecute(id);
  await remember();
  for (const step of ["read", "change", "test"]) await runStep(execute, step, () => ({ step, ok: true }));
  await service.completeExecute(execute);
  await remember();
  await service.applyPlan(id);
  await remember();
  const apply = await service.startApply(id);
  await remember();
  await completeApply(apply);
  await remember();

  const { head, seals } = await verifyAudit(store, { at: Date.now() });
  const rows = <T = Row>(sql: string): Promise<T[]> => store.read((reader) => reader.all<T>(sql, id));
  return {
    createdAt: Number(moments[0]?.plan["created_at"]),
    moments,
    belongings: {
      plan_projects: await rows("SELECT * FROM plan_projects WHERE plan_id = ?"),
      plan_arguments: await rows("SELECT * FROM plan_arguments WHERE plan_id = ?"),
      plan_invariants: await rows("SELECT * FROM plan_invariants WHERE plan_id = ?"),
    },
    steps: await rows("SELECT * FROM steps WHERE plan_id = ?"),
    events: await rows("SELECT id, type, plan_id, at, details FROM events WHERE plan_id = ? ORDER BY sequence"),
    audit: await rows<AuditRow>("SELECT * FROM audit_entries WHERE chain = ? ORDER BY position"),
    seal: { number: seals, hash: head ?? FIRST_HASH },
  };
}

function momentOf(store: Store, id: PlanId): Promise<Moment> {
  return store.read(async (reader) => ({
    plan: (await reader.get<Row>("SELECT * FROM plans WHERE id = ?", id)) ?? {},
    lease: await reader.get<Row>("SELECT * FROM leases WHERE plan_id = ?", id),
  }));
}

function copyPlans(database: DatabaseSync, model: Model, count: number): void {
  const insert = inserter(database);
  const audit = new AuditCopier(insert, model.seal, lastSequence(database));
  const start = Date.now() - SPAN_MS;
  let now = start;
  const ids = monotonicIds(() => now);

  database.exec("BEGIN IMMEDIATE");
  // The model itself is one of the plans.
  for (let index = 1; index < count; index += 1) {
    now = start + Math.floor((index * SPAN_MS) / count);
    const version = VERSIONS[index % VERSIONS.length] ?? 1;
    const moment = model.moments[version - 1];
    if (moment === undefined) throw new Error(`the model plan has no version ${version}`);
    const id = ids();
    const move = shiftTimes(now - model.createdAt);
    const name = `local/fix-bug-${id.slice(-8).toLowerCase()}`;
    insert("plans", { ...move(moment.plan), id, name, sequence: index + 1 });
    insertAll(insert, "plan_projects", model.belongings.plan_projects, id);
    insertAll(insert, "plan_arguments", model.belongings.plan_arguments, id);
    insertAll(insert, "plan_invariants", model.belongings.plan_invariants, id);
    if (moment.lease !== undefined) insert("leases", { ...moment.lease, plan_id: id, expires_at: 0 });
    if (version >= 6) insertAll(insert, "steps", model.steps.map(move), id);
    for (const event of model.events.slice(0, version)) insert("events", { ...move(event), id: ids(), plan_id: id });
    audit.copy(model.audit.slice(0, version), id, ids, now - model.createdAt);
    if (index % PLANS_PER_COMMIT === 0) database.exec("COMMIT; BEGIN IMMEDIATE");
  }
  audit.finish();
  database.exec("COMMIT");
}

/** Moves every instant of a row (columns `at` and `…_at`) by the same time. */
function shiftTimes(by: number): (row: Row) => Row {
  return (row) => {
    const moved: Row = {};
    for (const [column, value] of Object.entries(row)) {
      const instant = typeof value === "number" && (column === "at" || column.endsWith("_at"));
      moved[column] = instant ? value + by : value;
    }
    return moved;
  };
}

type Insert = (table: string, row: Row) => number;

function inserter(database: DatabaseSync): Insert {
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  return (table, row) => {
    let statement = statements.get(table);
    if (statement === undefined) {
      const columns = Object.keys(row);
      const places = columns.map(() => "?").join(", ");
      statement = database.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`);
      statements.set(table, statement);
    }
    return Number(statement.run(...Object.values(row)).lastInsertRowid);
  };
}

function insertAll(insert: Insert, table: string, rows: readonly Row[], planId: string): void {
  for (const row of rows) insert(table, { ...row, plan_id: planId });
}

function lastSequence(database: DatabaseSync): number {
  return Number(database.prepare("SELECT MAX(sequence) AS last FROM audit_entries").get()?.["last"]);
}

/**
 * Chains and seals as the audit log itself would have written them: a seal with every 256th entry, over the chains that
 * grew.
 */
class AuditCopier {
  readonly #insert: Insert;
  #seal: { number: number; hash: string };
  #sequence: number;
  #complete: { chain: string; length: number; hash: string; sealed: number }[] = [];

  constructor(insert: Insert, seal: { number: number; hash: string }, sequence: number) {
    this.#insert = insert;
    this.#seal = seal;
    this.#sequence = sequence;
  }

  copy(rows: readonly AuditRow[], chain: string, ids: () => string, shift: number): void {
    const growing = { chain, length: 0, hash: FIRST_HASH, sealed: 0 };
    for (const { sequence: _, hash: __, ...row } of rows) {
      const entry = { ...row, id: ids(), chain, plan_id: chain, at: row.at + shift, previous_hash: growing.hash };
      growing.hash = entryHash(entry);
      growing.length = entry.position;
      this.#sequence = this.#insert("audit_entries", { ...entry, hash: growing.hash });
      if (this.#sequence % SEAL_EVERY === 0) {
        this.#sealHeads([...this.#complete, growing], entry.at);
        growing.sealed = growing.length;
      }
    }
    this.#complete.push(growing);
  }

  finish(): void {
    for (const { chain, length, hash, sealed } of this.#complete) {
      this.#insert("audit_chains", { chain, length, head_hash: hash, sealed_length: sealed });
    }
    this.#complete = [];
  }

  #sealHeads(chains: readonly { chain: string; length: number; hash: string; sealed: number }[], at: number): void {
    const heads: SealHead[] = chains
      .filter(({ length, sealed }) => length > sealed)
      .map(({ chain, length, hash }) => ({ chain, length, hash }))
      .toSorted((a, b) => (a.chain < b.chain ? -1 : 1));
    const seal = { number: this.#seal.number + 1, at, previous_hash: this.#seal.hash };
    const hash = sealHash(seal, heads);
    this.#insert("audit_seals", { ...seal, hash });
    for (const head of heads) this.#insert("audit_seal_heads", { seal: seal.number, ...head });
    this.#seal = { number: seal.number, hash };
    for (const one of this.#complete) one.sealed = one.length;
    this.finish();
  }
}
