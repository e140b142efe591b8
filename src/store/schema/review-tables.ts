/** The decisions of people about single changes of a plan, and the part that a landing applied. */
export const REVIEWS: readonly string[] = [
  `CREATE TABLE reviews (
    plan_id TEXT PRIMARY KEY REFERENCES plans (id), revision BIGINT NOT NULL, updated_at BIGINT NOT NULL
  )`,
  `CREATE TABLE review_marks (
    plan_id TEXT NOT NULL REFERENCES plans (id), attempt BIGINT NOT NULL, unit TEXT NOT NULL,
    verdict TEXT CHECK (verdict IN ('accepted', 'rejected')), reason TEXT, comment TEXT,
    marked_by TEXT NOT NULL, marked_at BIGINT NOT NULL, PRIMARY KEY (plan_id, attempt, unit)
  )`,
  `ALTER TABLE journals ADD COLUMN review TEXT`,
];
