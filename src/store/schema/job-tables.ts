/**
 * Plans that are carried out in the background. A job is a pointer: everything else is read from the plan, so that an
 * old or repeated job does no harm. A plan has at most one queued job; another may wait while one is being worked on.
 */
export const JOBS: readonly string[] = [
  `CREATE TABLE jobs (
    id TEXT PRIMARY KEY, sequence BIGINT NOT NULL UNIQUE, plan_id TEXT NOT NULL REFERENCES plans (id),
    kind TEXT NOT NULL CHECK (kind IN ('run', 'execute')),
    state TEXT NOT NULL CHECK (state IN ('queued', 'active', 'waiting', 'done', 'failed', 'dead', 'cancelled')),
    priority BIGINT NOT NULL, project_key TEXT NOT NULL, options TEXT NOT NULL, agreed_version BIGINT,
    asked_by TEXT NOT NULL, created_at BIGINT NOT NULL, not_before BIGINT NOT NULL, attempts BIGINT NOT NULL,
    recorded BIGINT NOT NULL DEFAULT 0,
    served BIGINT NOT NULL, claim TEXT UNIQUE, claimed_until BIGINT, host TEXT, boot TEXT, process TEXT,
    error TEXT, ended_at BIGINT, CHECK ((state = 'active') = (claim IS NOT NULL))
  )`,
  `CREATE UNIQUE INDEX jobs_queued_once ON jobs (plan_id) WHERE state = 'queued'`,
  `CREATE INDEX jobs_by_plan ON jobs (plan_id)`,
  `CREATE INDEX jobs_by_state ON jobs (state, project_key)`,
  `CREATE INDEX jobs_by_project ON jobs (project_key, served)`,
  `CREATE TABLE plan_workers (
    id TEXT PRIMARY KEY, host TEXT NOT NULL, boot TEXT NOT NULL, process TEXT NOT NULL, slots BIGINT NOT NULL,
    beat_at BIGINT NOT NULL
  )`,
];
