/**
 * The schema, one list for all drivers. A released migration never changes; a new one is added at the end. `BIGINT`,
 * `BYTES` and `IDENTITY` are spelled by each driver in its own dialect; `THIS_HOST` is the name of the machine that
 * migrates.
 */
import { hostname } from "node:os";
import { CANDIDATE_GROUPS } from "./candidate-groups.ts";
import { GATEWAY_CALLS } from "./gateway-calls.ts";
import { MCP_SERVERS } from "./mcp-server-tables.ts";
import { MONEY_CHECKS } from "./money-checks.ts";
import { PLAN_ENGINE } from "./plan-engine.ts";
import { RECORD_COLUMNS } from "./record-columns.ts";
import { JOBS } from "./job-tables.ts";
import { REVIEWS } from "./review-tables.ts";
import { SERVER_TOKENS } from "./server-tokens.ts";
import { SESSIONS } from "./session-tables.ts";
import { STEP_ACTORS } from "./step-actor-tables.ts";
import type { Tx } from "../port.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: "plan engine",
    statements: PLAN_ENGINE,
  },
  {
    version: 2,
    name: "resources, actors, contents",
    statements: [
      `CREATE TABLE resources (
        key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL, type TEXT NOT NULL, description TEXT,
        path TEXT NOT NULL, branch TEXT, version BIGINT NOT NULL, created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE project_resources (
        project_key TEXT NOT NULL, alias TEXT NOT NULL, resource_key TEXT NOT NULL REFERENCES resources (key),
        read_only BIGINT NOT NULL, linked_at BIGINT NOT NULL, PRIMARY KEY (project_key, alias),
        UNIQUE (project_key, resource_key)
      )`,
      `CREATE INDEX project_resources_by_resource ON project_resources (resource_key)`,
      `CREATE TABLE actors (
        key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL, type TEXT NOT NULL,
        description TEXT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE actor_steps (
        actor_key TEXT NOT NULL REFERENCES actors (key), position BIGINT NOT NULL, id TEXT NOT NULL,
        tool TEXT NOT NULL, parameters TEXT NOT NULL, needs TEXT NOT NULL,
        PRIMARY KEY (actor_key, position), UNIQUE (actor_key, id)
      )`,
    ],
  },
  {
    version: 3,
    name: "apply and undo",
    statements: [
      `CREATE TABLE sandboxes (
        plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, alias TEXT NOT NULL,
        strategy TEXT NOT NULL, path TEXT NOT NULL, ref TEXT, base_commit TEXT, dirty BIGINT NOT NULL,
        made_at BIGINT NOT NULL, PRIMARY KEY (plan_id, attempt, alias)
      )`,
      `CREATE TABLE journals (
        id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), kind TEXT NOT NULL, host TEXT NOT NULL,
        boot TEXT NOT NULL, holder TEXT NOT NULL, direction TEXT, outcome TEXT, undone_steps TEXT NOT NULL,
        landings TEXT NOT NULL, kept TEXT NOT NULL, created_at BIGINT NOT NULL, sealed_at BIGINT, tidied_at BIGINT,
        finished_at BIGINT
      )`,
      `CREATE UNIQUE INDEX journals_unsealed ON journals (plan_id) WHERE outcome IS NULL`,
      `CREATE INDEX journals_unfinished ON journals (id) WHERE finished_at IS NULL`,
      `CREATE INDEX journals_by_plan ON journals (plan_id, id)`,
      `ALTER TABLE plans ADD COLUMN undone_at BIGINT`,
    ],
  },
  {
    version: 4,
    name: "validations",
    statements: [
      `CREATE TABLE validations (
        key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL, description TEXT NOT NULL, mode TEXT NOT NULL,
        command TEXT, cwd TEXT, timeout_ms BIGINT, tool TEXT, parameters TEXT, version BIGINT NOT NULL,
        created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE validation_attachments (
        id TEXT PRIMARY KEY, validation_key TEXT NOT NULL REFERENCES validations (key),
        resource_key TEXT NOT NULL REFERENCES resources (key), scope TEXT NOT NULL,
        project_key TEXT REFERENCES projects (key), plan_id TEXT REFERENCES plans (id), created_at BIGINT NOT NULL,
        UNIQUE (validation_key, resource_key, scope)
      )`,
      `CREATE INDEX validation_attachments_by_resource ON validation_attachments (resource_key, id)`,
      `CREATE TABLE validation_runs (
        plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, number BIGINT NOT NULL,
        place TEXT NOT NULL, tree TEXT NOT NULL, epoch BIGINT NOT NULL, started_at BIGINT NOT NULL,
        PRIMARY KEY (plan_id, attempt, number)
      )`,
      `CREATE TABLE validation_results (
        plan_id TEXT NOT NULL, attempt BIGINT NOT NULL, run BIGINT NOT NULL, alias TEXT NOT NULL,
        attachment_id TEXT NOT NULL, position BIGINT NOT NULL, validation_name TEXT NOT NULL, mode TEXT NOT NULL,
        passed BIGINT NOT NULL, message TEXT NOT NULL, output TEXT NOT NULL, output_cut BIGINT NOT NULL,
        changed_files TEXT NOT NULL, duration_ms BIGINT NOT NULL, epoch BIGINT NOT NULL, at BIGINT NOT NULL,
        PRIMARY KEY (plan_id, attempt, run, alias, attachment_id),
        FOREIGN KEY (plan_id, attempt, run) REFERENCES validation_runs (plan_id, attempt, number)
      )`,
    ],
  },
  {
    version: 5,
    name: "decisions, tool calls, rollback",
    statements: [
      `CREATE TABLE decisions (
        id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL,
        sequence BIGINT NOT NULL, type TEXT NOT NULL, phase TEXT NOT NULL, step_id TEXT,
        question TEXT NOT NULL, chosen TEXT NOT NULL, parent_id TEXT REFERENCES decisions (id), needs TEXT NOT NULL,
        created_at BIGINT NOT NULL, superseded_at BIGINT, superseded_by TEXT, UNIQUE (plan_id, sequence)
      )`,
      `CREATE UNIQUE INDEX decisions_of_steps ON decisions (plan_id, attempt, step_id)
        WHERE step_id IS NOT NULL AND superseded_at IS NULL`,
      `CREATE UNIQUE INDEX decisions_at_the_root ON decisions (plan_id, attempt)
        WHERE parent_id IS NULL AND superseded_at IS NULL`,
      `CREATE TABLE tool_invocations (
        id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL,
        changeset_id TEXT NOT NULL REFERENCES changesets (id), decision_id TEXT NOT NULL REFERENCES decisions (id),
        tool TEXT NOT NULL, parameters TEXT, epoch BIGINT, started_at BIGINT NOT NULL, duration_ms BIGINT,
        outcome TEXT, error TEXT, result_size BIGINT, superseded_at BIGINT
      )`,
      `CREATE INDEX tool_invocations_by_plan ON tool_invocations (plan_id, attempt, id)`,
      `ALTER TABLE changesets ADD COLUMN superseded_at BIGINT`,
    ],
  },
  {
    version: 6,
    name: "kept diffs",
    statements: [
      `CREATE TABLE diffs (fingerprint TEXT PRIMARY KEY, content_hash TEXT NOT NULL REFERENCES contents (hash))`,
    ],
  },
  {
    version: 7,
    name: "work in place",
    statements: [
      `ALTER TABLE resources ADD COLUMN sandbox TEXT`,
      `ALTER TABLE journals ADD COLUMN step TEXT`,
      `CREATE INDEX journals_of_steps ON journals (plan_id, id) WHERE step IS NOT NULL`,
    ],
  },
  {
    version: 8,
    name: "context policies",
    statements: [
      `CREATE TABLE context_policies (
        project_key TEXT NOT NULL REFERENCES projects (key), view TEXT NOT NULL, setting TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (project_key, view, setting)
      )`,
      `CREATE TABLE plan_stages (
        plan_id TEXT NOT NULL REFERENCES plans (id), stage TEXT NOT NULL, module TEXT NOT NULL,
        PRIMARY KEY (plan_id, stage)
      )`,
    ],
  },
  {
    version: 9,
    name: "circuit breakers",
    statements: [
      `CREATE TABLE breakers (
        strategy TEXT NOT NULL, project TEXT NOT NULL, phase TEXT NOT NULL, failures BIGINT NOT NULL, step BIGINT NOT NULL,
        generation BIGINT NOT NULL, version BIGINT NOT NULL, ends_at BIGINT, changed_at BIGINT NOT NULL,
        PRIMARY KEY (strategy, project)
      )`,
    ],
  },
  {
    version: 10,
    name: "budgets, questions",
    statements: [
      `CREATE TABLE plan_budgets (plan_id TEXT PRIMARY KEY REFERENCES plans (id), cap BIGINT NOT NULL)`,
      `CREATE TABLE spending (
        scope TEXT PRIMARY KEY, spent BIGINT NOT NULL, reserved BIGINT NOT NULL, warned_cap BIGINT, exceeded_cap BIGINT
      )`,
      `CREATE TABLE reservations (
        id TEXT PRIMARY KEY, plan_id TEXT REFERENCES plans (id), epoch BIGINT, day BIGINT NOT NULL, provider TEXT NOT NULL,
        model TEXT NOT NULL, bound BIGINT, state TEXT NOT NULL, cost BIGINT, at BIGINT NOT NULL, lapses_at BIGINT,
        ended_at BIGINT
      )`,
      `CREATE INDEX reservations_by_plan ON reservations (plan_id, id)`,
      `CREATE INDEX reservations_by_day ON reservations (day, id)`,
      `CREATE TABLE questions (
        id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, phase TEXT NOT NULL,
        key TEXT NOT NULL, question TEXT NOT NULL, alternatives TEXT NOT NULL, assessment TEXT, asked_at BIGINT NOT NULL,
        closed_at BIGINT, answer_id TEXT REFERENCES decisions (id)
      )`,
      `CREATE UNIQUE INDEX questions_open ON questions (plan_id) WHERE closed_at IS NULL`,
      `CREATE INDEX questions_by_key ON questions (plan_id, attempt, key)`,
      `CREATE INDEX tool_invocations_by_tool ON tool_invocations (tool, id)`,
    ],
  },
  {
    version: 11,
    name: "thoughts and model calls",
    statements: [
      `ALTER TABLE decisions ADD COLUMN confidence TEXT`,
      `ALTER TABLE decisions ADD COLUMN rationale TEXT`,
      `ALTER TABLE decisions ADD COLUMN alternatives TEXT`,
      `ALTER TABLE decisions ADD COLUMN reasoning TEXT`,
      `ALTER TABLE decisions ADD COLUMN snapshot TEXT REFERENCES contents (hash)`,
      `CREATE TABLE model_calls (
        id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, phase TEXT NOT NULL,
        step_key TEXT NOT NULL, decision_id TEXT REFERENCES decisions (id), provider TEXT NOT NULL, model TEXT NOT NULL,
        input_tokens BIGINT NOT NULL, cached_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL,
        estimated BIGINT NOT NULL, cost BIGINT, duration_ms BIGINT NOT NULL, tries BIGINT NOT NULL,
        masked BIGINT NOT NULL, error TEXT, at BIGINT NOT NULL
      )`,
      `CREATE INDEX model_calls_by_plan ON model_calls (plan_id, id)`,
      `CREATE INDEX model_calls_by_decision ON model_calls (decision_id)`,
    ],
  },
  {
    version: 12,
    name: "actors with models",
    statements: [`ALTER TABLE actors ADD COLUMN definition TEXT`],
  },
  {
    version: 13,
    name: "automation profiles, guards, masked decisions",
    statements: [
      `CREATE TABLE automation_profiles (
        key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL, extended TEXT, profile TEXT NOT NULL,
        version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE plan_guards (
        plan_id TEXT NOT NULL REFERENCES plans (id), guard TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (plan_id, guard, value)
      )`,
      `CREATE TABLE plan_approvals (
        plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, subject TEXT NOT NULL,
        asked_at BIGINT NOT NULL, approved_at BIGINT, approved_by TEXT, PRIMARY KEY (plan_id, attempt, subject)
      )`,
      `ALTER TABLE tool_invocations ADD COLUMN step TEXT`,
      `ALTER TABLE tool_invocations ADD COLUMN refused_by TEXT`,
      `CREATE INDEX tool_invocations_let_through ON tool_invocations (plan_id, tool, attempt, step, superseded_at)
        WHERE step IS NOT NULL AND refused_by IS NULL`,
      `CREATE INDEX tool_invocations_failed ON tool_invocations (decision_id, tool)
        WHERE outcome = 'failed' AND refused_by IS NULL`,
      `ALTER TABLE decisions ADD COLUMN exact_hash TEXT`,
    ],
  },
  { version: 14, name: "money is never negative", statements: MONEY_CHECKS },
  {
    version: 15,
    name: "order without a clock",
    statements: [
      ...numbered("plans"),
      ...numbered("journals"),
      ...numbered("tool_invocations"),
      ...numbered("validation_attachments"),
      ...numberedByPlan("changesets"),
      ...numberedByPlan("questions"),
      ...numberedByPlan("model_calls"),
      ...numberedByPlan("plan_approvals", ["asked_at", "subject"], ["attempt", "subject"]),
      `DROP INDEX plans_by_state`,
      `DROP INDEX plans_by_phase`,
      `DROP INDEX plans_by_action`,
      `DROP INDEX journals_unfinished`,
      `DROP INDEX journals_by_plan`,
      `DROP INDEX journals_of_steps`,
      `DROP INDEX tool_invocations_by_plan`,
      `DROP INDEX tool_invocations_by_tool`,
      `DROP INDEX validation_attachments_by_resource`,
      `DROP INDEX changesets_by_plan`,
      `DROP INDEX model_calls_by_plan`,
      `CREATE INDEX plans_by_state ON plans (state, sequence)`,
      `CREATE INDEX plans_by_phase ON plans (phase, sequence)`,
      `CREATE INDEX plans_by_action ON plans (action_key, sequence)`,
      `CREATE INDEX journals_unfinished ON journals (sequence) WHERE finished_at IS NULL`,
      `CREATE INDEX journals_by_plan ON journals (plan_id, sequence)`,
      `CREATE INDEX journals_of_steps ON journals (plan_id, sequence) WHERE step IS NOT NULL`,
      `CREATE INDEX tool_invocations_by_plan ON tool_invocations (plan_id, attempt, sequence)`,
      `CREATE INDEX tool_invocations_by_tool ON tool_invocations (tool, sequence)`,
      `CREATE INDEX validation_attachments_by_resource ON validation_attachments (resource_key, sequence)`,
      `ALTER TABLE leases ADD COLUMN ttl_ms BIGINT`,
      `ALTER TABLE leases ADD COLUMN host TEXT`,
      `ALTER TABLE leases ADD COLUMN boot TEXT`,
      `ALTER TABLE leases ADD COLUMN process TEXT`,
      `ALTER TABLE leases ADD COLUMN renewed_tick BIGINT`,
    ],
  },
  { version: 16, name: "records by columns", statements: RECORD_COLUMNS },
  {
    version: 17,
    name: "cache writes of model calls, effort of plans",
    statements: [
      `ALTER TABLE model_calls ADD COLUMN cache_write_tokens BIGINT NOT NULL DEFAULT 0 CHECK (cache_write_tokens >= 0)`,
      `CREATE TABLE plan_efforts (plan_id TEXT PRIMARY KEY REFERENCES plans (id), effort TEXT NOT NULL)`,
    ],
  },
  {
    version: 18,
    name: "images of plans",
    statements: [
      `CREATE TABLE plan_images (
         plan_id TEXT NOT NULL REFERENCES plans (id),
         position BIGINT NOT NULL CHECK (position >= 1),
         name TEXT NOT NULL,
         hash TEXT NOT NULL REFERENCES contents (hash),
         type TEXT NOT NULL,
         size BIGINT NOT NULL,
         width BIGINT NOT NULL,
         height BIGINT NOT NULL,
         PRIMARY KEY (plan_id, position))`,
    ],
  },
  { version: 19, name: "calls through a gateway", statements: GATEWAY_CALLS },
  {
    version: 20,
    name: "added tools of plans",
    statements: [
      `CREATE TABLE plan_tools (
         plan_id TEXT NOT NULL REFERENCES plans (id),
         attempt BIGINT NOT NULL,
         tools TEXT NOT NULL,
         at BIGINT NOT NULL,
         PRIMARY KEY (plan_id, attempt))`,
    ],
  },
  { version: 21, name: "sessions", statements: SESSIONS },
  { version: 22, name: "candidates", statements: CANDIDATE_GROUPS },
  { version: 23, name: "MCP servers", statements: MCP_SERVERS },
  {
    version: 24,
    name: "own tools and skills",
    statements: [
      `CREATE TABLE extensions (
         kind TEXT NOT NULL CHECK (kind IN ('tool', 'skill')),
         key TEXT NOT NULL,
         name TEXT NOT NULL,
         namespace TEXT NOT NULL,
         definition TEXT NOT NULL,
         created_at BIGINT NOT NULL,
         PRIMARY KEY (kind, key))`,
    ],
  },
  { version: 25, name: "actors of single steps", statements: STEP_ACTORS },
  { version: 26, name: "reviews", statements: REVIEWS },
  { version: 27, name: "tokens of servers", statements: SERVER_TOKENS },
  { version: 28, name: "jobs", statements: JOBS },
];

/**
 * Gives a table a number that goes up by one with each row, also when the clock steps back; the rows that are there get
 * theirs in the order of their ids, by which they were sorted until then.
 */
function numbered(table: string): string[] {
  return [...sequence(table, "ORDER BY id", ["id"]), `CREATE UNIQUE INDEX ${table}_in_order ON ${table} (sequence)`];
}

/** The same with numbers of their own for each plan: plans that work at the same time do not wait for each other's. */
function numberedByPlan(table: string, order: string[] = ["id"], key: string[] = ["id"]): string[] {
  return [
    ...sequence(table, `PARTITION BY plan_id ORDER BY ${order.join(", ")}`, ["plan_id", ...key]),
    `CREATE UNIQUE INDEX ${table}_in_order ON ${table} (plan_id, sequence)`,
  ];
}

function sequence(table: string, window: string, key: readonly string[]): string[] {
  const same = key.map((column) => `counted.${column} = ${table}.${column}`).join(" AND ");
  return [
    `ALTER TABLE ${table} ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0`,
    `UPDATE ${table} SET sequence = counted.place FROM (
       SELECT ${key.join(", ")}, ROW_NUMBER() OVER (${window}) AS place FROM ${table}) AS counted WHERE ${same}`,
  ];
}

export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)?.version ?? 0;

/**
 * Brings the schema up to date inside the caller's transaction: the second of two processes finds nothing left to do.
 * Directories that rows name without their host are on this one, where the database was in use until now.
 */
export async function migrate(tx: Tx, current: number, spell: (statement: string) => string): Promise<void> {
  const host = `'${hostname().replaceAll("'", "''")}'`;
  for (const migration of MIGRATIONS.filter(({ version }) => version > current)) {
    for (const statement of migration.statements) await tx.run(spell(statement).replaceAll("THIS_HOST", () => host));
    await tx.run(
      "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, now_ms())",
      migration.version,
      migration.name,
    );
  }
}
