/**
 * Money and counts are never negative: the tables say so themselves, so that no claim of an endpoint can move a cap,
 * whichever code it comes through. A check cannot be added to an existing table, so the four tables are written again.
 *
 * A cost below zero was such a claim. The real cost of such a call is unknown, so it counts as reserved and is shown as
 * assumed; the sums are added up again from the calls.
 */
export const MONEY_CHECKS: readonly string[] = [
  `CREATE TABLE reservations_checked (
    id TEXT PRIMARY KEY, plan_id TEXT REFERENCES plans (id), epoch BIGINT, day BIGINT NOT NULL, provider TEXT NOT NULL,
    model TEXT NOT NULL, bound BIGINT CHECK (bound >= 0),
    state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'estimated', 'assumed', 'released')),
    cost BIGINT CHECK (cost >= 0), at BIGINT NOT NULL, lapses_at BIGINT, ended_at BIGINT
  )`,
  `INSERT INTO reservations_checked
   SELECT id, plan_id, epoch, day, provider, model, CASE WHEN bound < 0 THEN 0 ELSE bound END,
          CASE WHEN cost < 0 THEN 'assumed' ELSE state END,
          CASE WHEN cost >= 0 THEN cost WHEN cost < 0 AND bound >= 0 THEN bound END, at, lapses_at, ended_at
     FROM reservations`,
  `DROP TABLE reservations`,
  `ALTER TABLE reservations_checked RENAME TO reservations`,
  `CREATE INDEX reservations_by_plan ON reservations (plan_id, id)`,
  `CREATE INDEX reservations_by_day ON reservations (day, id)`,
  `CREATE TABLE spending_checked (
    scope TEXT PRIMARY KEY, spent BIGINT NOT NULL CHECK (spent >= 0), reserved BIGINT NOT NULL CHECK (reserved >= 0),
    warned_cap BIGINT, exceeded_cap BIGINT
  )`,
  `INSERT INTO spending_checked
   SELECT spending.scope, COALESCE(sums.spent, 0), COALESCE(sums.reserved, 0), spending.warned_cap, spending.exceeded_cap
     FROM spending LEFT JOIN (
       SELECT scope, SUM(CASE WHEN state = 'reserved' THEN 0 ELSE cost END) AS spent,
              SUM(CASE WHEN state = 'reserved' THEN bound ELSE 0 END) AS reserved
         FROM (SELECT 'day:' || day AS scope, state, cost, bound FROM reservations
               UNION ALL
               SELECT 'plan:' || plan_id, state, cost, bound FROM reservations WHERE plan_id IS NOT NULL) AS calls
        GROUP BY scope) AS sums ON sums.scope = spending.scope`,
  `DROP TABLE spending`,
  `ALTER TABLE spending_checked RENAME TO spending`,
  `CREATE TABLE plan_budgets_checked (
    plan_id TEXT PRIMARY KEY REFERENCES plans (id), cap BIGINT NOT NULL CHECK (cap >= 0)
  )`,
  `INSERT INTO plan_budgets_checked SELECT plan_id, CASE WHEN cap < 0 THEN 0 ELSE cap END FROM plan_budgets`,
  `DROP TABLE plan_budgets`,
  `ALTER TABLE plan_budgets_checked RENAME TO plan_budgets`,
  `CREATE TABLE model_calls_checked (
    id TEXT PRIMARY KEY, plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, phase TEXT NOT NULL,
    step_key TEXT NOT NULL, decision_id TEXT REFERENCES decisions (id), provider TEXT NOT NULL, model TEXT NOT NULL,
    input_tokens BIGINT NOT NULL CHECK (input_tokens >= 0), cached_tokens BIGINT NOT NULL CHECK (cached_tokens >= 0),
    output_tokens BIGINT NOT NULL CHECK (output_tokens >= 0), estimated BIGINT NOT NULL, cost BIGINT CHECK (cost >= 0),
    duration_ms BIGINT NOT NULL, tries BIGINT NOT NULL CHECK (tries >= 0), masked BIGINT NOT NULL CHECK (masked >= 0),
    error TEXT, at BIGINT NOT NULL
  )`,
  `INSERT INTO model_calls_checked
   SELECT id, plan_id, attempt, phase, step_key, decision_id, provider, model,
          CASE WHEN input_tokens < 0 THEN 0 ELSE input_tokens END, CASE WHEN cached_tokens < 0 THEN 0 ELSE cached_tokens END,
          CASE WHEN output_tokens < 0 THEN 0 ELSE output_tokens END, estimated, CASE WHEN cost < 0 THEN 0 ELSE cost END,
          duration_ms, tries, masked, error, at
     FROM model_calls`,
  `DROP TABLE model_calls`,
  `ALTER TABLE model_calls_checked RENAME TO model_calls`,
  `CREATE INDEX model_calls_by_plan ON model_calls (plan_id, id)`,
  `CREATE INDEX model_calls_by_decision ON model_calls (decision_id)`,
];
