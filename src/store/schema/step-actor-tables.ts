/** The actors that single steps of plans may be given to. */
export const STEP_ACTORS: readonly string[] = [
  `CREATE TABLE action_step_actors (
         action_key TEXT NOT NULL REFERENCES actions (key), position BIGINT NOT NULL, actor TEXT NOT NULL,
         PRIMARY KEY (action_key, position))`,
  `CREATE TABLE plan_step_actors (
         plan_id TEXT NOT NULL REFERENCES plans (id), position BIGINT NOT NULL, actor TEXT NOT NULL,
         PRIMARY KEY (plan_id, position))`,
];
