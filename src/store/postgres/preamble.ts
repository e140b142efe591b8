/**
 * PostgreSQL needs more than the common schema: the functions that SQLite gets from its driver, and the places of large
 * contents.
 *
 * Events are numbered by the transaction they are written in, and by their place in it. No transaction below the
 * oldest one that is still under way can write any more, so `events_end()` is the first number that may still be given.
 * In a restored database the numbers of transactions begin again: `event_base` lifts its new events above the old ones.
 *
 * `now_ms()` goes on inside a transaction, unlike `now()`. A session may set the time; tests do.
 */
const EVENTS_OF_A_UNIT = 4096;

export const PREAMBLE: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS event_base (base BIGINT NOT NULL)`,
  `INSERT INTO event_base (base) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM event_base)`,
  `CREATE TABLE IF NOT EXISTS content_parts (
     hash TEXT NOT NULL, position BIGINT NOT NULL, bytes BYTES NOT NULL, PRIMARY KEY (hash, position)
   )`,
  `CREATE OR REPLACE FUNCTION now_ms() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$
     SELECT COALESCE(CAST(NULLIF(current_setting('cleveragents.now', true), '') AS BIGINT),
                     CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT))
   $$`,
  `CREATE OR REPLACE FUNCTION next_event() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$
     DECLARE place BIGINT := COALESCE(NULLIF(current_setting('cleveragents.event', true), ''), '0');
     BEGIN
       IF place >= ${EVENTS_OF_A_UNIT} THEN
         RAISE EXCEPTION 'a unit of work writes at most ${EVENTS_OF_A_UNIT} events';
       END IF;
       PERFORM set_config('cleveragents.event', CAST(place + 1 AS TEXT), true);
       RETURN (SELECT base FROM event_base) + place
              + CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) * ${EVENTS_OF_A_UNIT};
     END $$`,
  `CREATE OR REPLACE FUNCTION events_end() RETURNS BIGINT LANGUAGE sql STABLE AS $$
     SELECT base + CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) * ${EVENTS_OF_A_UNIT}
       FROM event_base
   $$`,
];

/** Lifts the events to come above those that are there, if they are below. */
export const LIFT_EVENTS = `UPDATE event_base SET base = (SELECT MAX(sequence) + 1 FROM events)
  WHERE (SELECT MAX(sequence) FROM events) >=
        base + CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) * ${EVENTS_OF_A_UNIT}`;
