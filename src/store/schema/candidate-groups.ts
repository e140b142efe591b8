/**
 * Several plans of one request, of which at most one is chosen: the group has the choice and the budget of all of them,
 * so that choosing is one conditional statement and a call of any candidate counts against one cap.
 */
export const CANDIDATE_GROUPS: readonly string[] = [
  `CREATE TABLE candidate_groups (
    id TEXT PRIMARY KEY, cap BIGINT CHECK (cap >= 0), judge TEXT, rule TEXT, directory TEXT,
    chosen_plan TEXT REFERENCES plans (id),
    chosen_at BIGINT, created_at BIGINT NOT NULL, CHECK ((chosen_plan IS NULL) = (chosen_at IS NULL))
  )`,
  `CREATE TABLE candidates (
    plan_id TEXT PRIMARY KEY REFERENCES plans (id), group_id TEXT NOT NULL REFERENCES candidate_groups (id),
    position BIGINT NOT NULL CHECK (position >= 1), UNIQUE (group_id, position)
  )`,
  `CREATE TABLE candidate_verdicts (
    group_id TEXT NOT NULL REFERENCES candidate_groups (id), results TEXT NOT NULL, judge TEXT NOT NULL,
    plan_id TEXT NOT NULL REFERENCES plans (id), decision_id TEXT NOT NULL REFERENCES decisions (id),
    reasons TEXT NOT NULL, sequence BIGINT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (group_id, judge, results)
  )`,
  `ALTER TABLE reservations ADD COLUMN group_id TEXT`,
  `CREATE INDEX reservations_by_group ON reservations (group_id, id)`,
];
