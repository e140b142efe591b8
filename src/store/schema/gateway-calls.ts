/**
 * A model call belongs to a plan or to one run of a gateway. `NOT NULL` cannot be taken off a column of an existing
 * table, so the table is written again; a check says that a call has exactly one of the two.
 */
export const GATEWAY_CALLS: readonly string[] = [
  `ALTER TABLE reservations ADD COLUMN gateway_id TEXT`,
  `CREATE INDEX reservations_by_gateway ON reservations (gateway_id, id)`,
  `CREATE TABLE model_calls_checked (
    id TEXT PRIMARY KEY, plan_id TEXT REFERENCES plans (id), gateway_id TEXT, attempt BIGINT, phase TEXT, step_key TEXT,
    decision_id TEXT REFERENCES decisions (id), provider TEXT NOT NULL, model TEXT NOT NULL,
    input_tokens BIGINT NOT NULL CHECK (input_tokens >= 0), cached_tokens BIGINT NOT NULL CHECK (cached_tokens >= 0),
    cache_write_tokens BIGINT NOT NULL DEFAULT 0 CHECK (cache_write_tokens >= 0),
    output_tokens BIGINT NOT NULL CHECK (output_tokens >= 0), estimated BIGINT NOT NULL, cost BIGINT CHECK (cost >= 0),
    duration_ms BIGINT NOT NULL, tries BIGINT NOT NULL CHECK (tries >= 0), masked BIGINT NOT NULL CHECK (masked >= 0),
    error TEXT, at BIGINT NOT NULL, sequence BIGINT NOT NULL DEFAULT 0,
    CHECK ((plan_id IS NULL) <> (gateway_id IS NULL)),
    CHECK (plan_id IS NULL OR (attempt IS NOT NULL AND phase IS NOT NULL AND step_key IS NOT NULL))
  )`,
  `INSERT INTO model_calls_checked (id, plan_id, attempt, phase, step_key, decision_id, provider, model, input_tokens,
     cached_tokens, cache_write_tokens, output_tokens, estimated, cost, duration_ms, tries, masked, error, at, sequence)
   SELECT id, plan_id, attempt, phase, step_key, decision_id, provider, model, input_tokens, cached_tokens,
          cache_write_tokens, output_tokens, estimated, cost, duration_ms, tries, masked, error, at, sequence
     FROM model_calls`,
  `DROP TABLE model_calls`,
  `ALTER TABLE model_calls_checked RENAME TO model_calls`,
  `CREATE INDEX model_calls_by_decision ON model_calls (decision_id)`,
  `CREATE UNIQUE INDEX model_calls_in_order ON model_calls (plan_id, sequence)`,
  `CREATE UNIQUE INDEX model_calls_of_gateway ON model_calls (gateway_id, sequence)`,
];
