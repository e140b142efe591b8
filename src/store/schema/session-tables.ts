/**
 * Sessions and the order of their plans. A plan belongs to the one session it was made in; a fork of that session
 * shares it, up to the decision that was its last at the time.
 */
export const SESSIONS: readonly string[] = [
  `CREATE TABLE sessions (
    id TEXT PRIMARY KEY, number BIGINT NOT NULL UNIQUE, version BIGINT NOT NULL, title TEXT NOT NULL,
    project_key TEXT NOT NULL, project_name TEXT NOT NULL, directory TEXT NOT NULL, host TEXT NOT NULL,
    created_at BIGINT NOT NULL, told_at BIGINT NOT NULL, told BIGINT NOT NULL, forked_from TEXT REFERENCES sessions (id)
  )`,
  `CREATE INDEX sessions_by_directory ON sessions (directory, told)`,
  `CREATE INDEX sessions_by_told ON sessions (told)`,
  `CREATE TABLE session_plans (
    session_id TEXT NOT NULL REFERENCES sessions (id), position BIGINT NOT NULL CHECK (position >= 1),
    plan_id TEXT NOT NULL REFERENCES plans (id), shared BIGINT NOT NULL CHECK (shared IN (0, 1)),
    attempt BIGINT, decisions BIGINT, answer_id TEXT REFERENCES decisions (id),
    PRIMARY KEY (session_id, position), CHECK ((shared = 1) = (attempt IS NOT NULL AND decisions IS NOT NULL))
  )`,
  `CREATE UNIQUE INDEX session_plans_once ON session_plans (plan_id) WHERE shared = 0`,
];
