/**
 * Records are told apart by columns: `steps.kind` and `steps.superseded_at` replace prefixes of keys,
 * `audit_entries.plan_id` replaces a search in the details, and `host` names the machine to which a directory belongs.
 *
 * A superseded step had its key replaced by "superseded", U+0001, the plan's version at the rollback, U+0001 and the
 * old key. The time of the rollback is that of the audit entry at that version. The table has no primary key: of the
 * records that count there is one for each key, of the superseded ones any number.
 *
 * No hash of the audit log covers the new column: it only repeats the chain's name or the beginning of the details,
 * which are covered, and `audit verify` compares them.
 */
const SUPERSEDED = "superseded\u0001";

export const RECORD_COLUMNS: readonly string[] = [
  `CREATE TABLE steps_by_kind (
    plan_id TEXT NOT NULL REFERENCES plans (id), phase TEXT NOT NULL, attempt BIGINT NOT NULL, key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('tool_call', 'answer', 'context', 'hook', 'step_end', 'gave_up', 'once', 'other')),
    epoch BIGINT NOT NULL, result TEXT, at BIGINT NOT NULL, superseded_at BIGINT
  )`,
  `INSERT INTO steps_by_kind (plan_id, phase, attempt, key, kind, epoch, result, at, superseded_at)
   SELECT plan_id, phase, attempt, plain,
          CASE WHEN plain LIKE 'tool-step:%' THEN 'tool_call' WHEN plain LIKE 'ask:%' THEN 'answer'
               WHEN plain LIKE 'context:%' THEN 'context' WHEN plain LIKE 'hook:%' THEN 'hook'
               WHEN plain LIKE 'worked:%' THEN 'step_end' WHEN plain LIKE 'gave-up:%' THEN 'gave_up'
               WHEN plain LIKE 'once:%' THEN 'once' ELSE 'other' END,
          epoch, result, at,
          CASE WHEN key = plain THEN NULL ELSE COALESCE(
            (SELECT audit_entries.at FROM audit_entries WHERE audit_entries.chain = found.plan_id
                AND found.key LIKE '${SUPERSEDED}' || CAST(audit_entries.position AS TEXT) || '\u0001%'), at) END
     FROM (SELECT steps.*, CASE WHEN key LIKE '${SUPERSEDED}%'
                                THEN SUBSTR(LTRIM(SUBSTR(key, ${SUPERSEDED.length + 1}), '0123456789'), 2)
                                ELSE key END AS plain FROM steps) AS found`,
  `DROP TABLE steps`,
  `ALTER TABLE steps_by_kind RENAME TO steps`,
  `CREATE UNIQUE INDEX steps_that_count ON steps (plan_id, phase, attempt, key) WHERE superseded_at IS NULL`,
  `CREATE INDEX steps_by_plan ON steps (plan_id)`,
  `ALTER TABLE audit_entries ADD COLUMN plan_id TEXT`,
  `UPDATE audit_entries SET plan_id = CASE WHEN chain <> 'system' THEN chain ELSE SUBSTR(details, 13, 26) END
    WHERE chain <> 'system' OR details LIKE '{"plan_id":"__________________________"%'`,
  `CREATE INDEX audit_entries_by_plan ON audit_entries (plan_id, sequence) WHERE plan_id IS NOT NULL`,
  `ALTER TABLE sandboxes ADD COLUMN host TEXT NOT NULL DEFAULT ''`,
  `UPDATE sandboxes SET host = THIS_HOST`,
  `ALTER TABLE resources ADD COLUMN host TEXT NOT NULL DEFAULT ''`,
  `UPDATE resources SET host = THIS_HOST`,
];
