/** The first migration: actions, plans, leases, steps, changesets, events and the audit log. */
export const PLAN_ENGINE: readonly string[] = [
  `CREATE TABLE actions (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL,
    description TEXT NOT NULL, long_description TEXT, definition_of_done TEXT NOT NULL,
    strategy_actor TEXT, execution_actor TEXT, estimation_actor TEXT, review_actor TEXT, apply_actor TEXT,
    invariant_actor TEXT, automation_profile TEXT, reusable BIGINT NOT NULL, read_only BIGINT NOT NULL,
    state TEXT NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
  )`,
  `CREATE TABLE action_arguments (
    action_key TEXT NOT NULL REFERENCES actions (key), position BIGINT NOT NULL, name TEXT NOT NULL,
    type TEXT NOT NULL, required BIGINT NOT NULL, description TEXT NOT NULL, default_value TEXT,
    min_value TEXT, max_value TEXT, pattern TEXT, PRIMARY KEY (action_key, position), UNIQUE (action_key, name)
  )`,
  `CREATE TABLE action_invariants (
    action_key TEXT NOT NULL REFERENCES actions (key), position BIGINT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (action_key, position)
  )`,
  `CREATE TABLE projects (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, namespace TEXT NOT NULL, description TEXT,
    version BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
  )`,
  `CREATE TABLE plans (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, action_key TEXT NOT NULL REFERENCES actions (key),
    action_name TEXT NOT NULL, attempt BIGINT NOT NULL, reversion_count BIGINT NOT NULL, version BIGINT NOT NULL,
    phase TEXT NOT NULL, state TEXT NOT NULL, description TEXT NOT NULL, definition_of_done TEXT NOT NULL,
    read_only BIGINT NOT NULL, strategy_actor TEXT, execution_actor TEXT, estimation_actor TEXT,
    review_actor TEXT, apply_actor TEXT, invariant_actor TEXT, profile TEXT NOT NULL,
    profile_source TEXT NOT NULL, cancel_reason TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    strategize_started_at BIGINT, strategize_ended_at BIGINT, execute_started_at BIGINT,
    execute_ended_at BIGINT, apply_started_at BIGINT, apply_ended_at BIGINT
  )`,
  `CREATE INDEX plans_by_state ON plans (state, id)`,
  `CREATE INDEX plans_by_phase ON plans (phase, id)`,
  `CREATE INDEX plans_by_action ON plans (action_key, id)`,
  `CREATE TABLE plan_projects (
    plan_id TEXT NOT NULL REFERENCES plans (id), position BIGINT NOT NULL, project_key TEXT NOT NULL,
    project_name TEXT NOT NULL, alias TEXT NOT NULL, read_only BIGINT NOT NULL,
    PRIMARY KEY (plan_id, position), UNIQUE (plan_id, alias)
  )`,
  `CREATE INDEX plan_projects_by_project ON plan_projects (project_key, plan_id)`,
  `CREATE TABLE plan_arguments (
    plan_id TEXT NOT NULL REFERENCES plans (id), position BIGINT NOT NULL, name TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (plan_id, position)
  )`,
  `CREATE TABLE plan_invariants (
    plan_id TEXT NOT NULL REFERENCES plans (id), position BIGINT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (plan_id, position)
  )`,
  `CREATE TABLE plan_failures (
    plan_id TEXT NOT NULL REFERENCES plans (id), position BIGINT NOT NULL, phase TEXT NOT NULL,
    attempt BIGINT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, category TEXT NOT NULL,
    at BIGINT NOT NULL, PRIMARY KEY (plan_id, position)
  )`,
  `CREATE TABLE leases (
    plan_id TEXT PRIMARY KEY REFERENCES plans (id), phase TEXT NOT NULL, holder TEXT NOT NULL,
    epoch BIGINT NOT NULL, expires_at BIGINT NOT NULL
  )`,
  `CREATE TABLE steps (
    plan_id TEXT NOT NULL REFERENCES plans (id), phase TEXT NOT NULL, attempt BIGINT NOT NULL, key TEXT NOT NULL,
    epoch BIGINT NOT NULL, result TEXT, at BIGINT NOT NULL, PRIMARY KEY (plan_id, phase, attempt, key)
  )`,
  `CREATE TABLE changesets (
    id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), epoch BIGINT, entry_count BIGINT NOT NULL,
    opened_at BIGINT NOT NULL, closed_at BIGINT
  )`,
  `CREATE INDEX changesets_by_plan ON changesets (plan_id, id)`,
  `CREATE TABLE change_entries (
    changeset_id TEXT NOT NULL REFERENCES changesets (id), sequence BIGINT NOT NULL, resource TEXT NOT NULL,
    path TEXT NOT NULL, from_path TEXT, operation TEXT NOT NULL, before_hash TEXT, before_mode BIGINT,
    after_hash TEXT, after_mode BIGINT, tool_invocation TEXT, decision TEXT, at BIGINT NOT NULL,
    PRIMARY KEY (changeset_id, sequence)
  )`,
  `CREATE TABLE contents (hash TEXT PRIMARY KEY, size BIGINT NOT NULL, bytes BYTES)`,
  `CREATE TABLE events (
    sequence IDENTITY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, plan_id TEXT, at BIGINT NOT NULL,
    details TEXT NOT NULL
  )`,
  `CREATE INDEX events_by_plan ON events (plan_id, sequence)`,
  `CREATE TABLE audit_entries (
    sequence IDENTITY, id TEXT NOT NULL UNIQUE, chain TEXT NOT NULL, position BIGINT NOT NULL, type TEXT NOT NULL,
    plan_version BIGINT, status TEXT, user_name TEXT NOT NULL, at BIGINT NOT NULL, details TEXT NOT NULL,
    previous_hash TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (chain, position)
  )`,
  `CREATE TABLE audit_chains (
    chain TEXT PRIMARY KEY, length BIGINT NOT NULL, head_hash TEXT NOT NULL, sealed_length BIGINT NOT NULL
  )`,
  `CREATE INDEX audit_chains_unsealed ON audit_chains (chain) WHERE length > sealed_length`,
  `CREATE TABLE audit_seals (
    number BIGINT PRIMARY KEY, at BIGINT NOT NULL, previous_hash TEXT NOT NULL, hash TEXT NOT NULL
  )`,
  `CREATE TABLE audit_seal_heads (
    seal BIGINT NOT NULL REFERENCES audit_seals (number), chain TEXT NOT NULL, length BIGINT NOT NULL,
    hash TEXT NOT NULL, PRIMARY KEY (seal, chain)
  )`,
];
