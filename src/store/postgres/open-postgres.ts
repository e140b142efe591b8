/**
 * Opens stores on PostgreSQL, from version 15. A database of an older version of the program is migrated; one of a
 * newer version, or of another program, is left as it is. Every session ends what hangs in it by itself, well within a
 * lease, so that a machine that stands still or is cut off holds nothing up.
 */
import type { Client } from "pg";
import { StoreError, UsageError } from "../../domain/errors/errors.ts";
import type { Clock } from "../../domain/names/ids.ts";
import type { Store } from "../port.ts";
import { migrate, SCHEMA_VERSION } from "../schema/migrations.ts";
import { translate } from "./dialect.ts";
import { storeError } from "./postgres-errors.ts";
import { CONNECTIONS, PostgresStore } from "./postgres-store.ts";
import { PostgresTx } from "./postgres-tx.ts";
import { LIFT_EVENTS, PREAMBLE } from "./preamble.ts";
import { valueTypes } from "./value-types.ts";

export interface OpenPostgresOptions {
  readonly clock: Clock | undefined;
  readonly patienceMs: number;
  readonly rerun: boolean;
}

const OLDEST_SERVER = 150_000;

/** "cleverag", as a number: other programs of the same database lock others. */
const MIGRATION_LOCK = "7164775574434536807";

/** For `transaction_timeout`, which servers know from version 17. */
const SESSION = `SELECT set_config(name, value, false)
  FROM (VALUES ('idle_in_transaction_session_timeout', '5s'), ('statement_timeout', '30s'), ('lock_timeout', '10s'),
               ('transaction_timeout', '60s')) AS wanted (name, value)
 WHERE EXISTS (SELECT 1 FROM pg_settings WHERE pg_settings.name = wanted.name)`;

export async function openPostgres(url: string, options: OpenPostgresOptions): Promise<Store> {
  const place = placeOf(url);
  const { default: pg } = await import("pg");
  const session = {
    connectionString: url,
    application_name: "cleveragents",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: valueTypes(pg.types),
  };
  const first = new pg.Client(session);
  first.on("error", ignore);
  try {
    await first.connect();
    await prepare(first, place);
  } catch (error) {
    throw storeError(error, place);
  } finally {
    await first.end().catch(ignore);
  }
  const pool = new pg.Pool({
    ...session,
    pipeline: true,
    max: CONNECTIONS,
    // Longer than any statement may take: only a network that swallows everything is noticed by it.
    query_timeout: 35_000,
    allowExitOnIdle: true,
  });
  // An idle connection that the server ends is replaced; one in use reports it by its statements. Without a listener
  // either would end the process.
  pool.on("error", ignore);
  pool.on("connect", (client) => {
    client.on("error", ignore);
    client.query(SESSION).catch(ignore);
  });
  const connect = (): Client => new pg.Client(session);
  return new PostgresStore({ url, place, pool, connect, ...options });
}

/** The address as it may be shown: without its password and its options. */
function placeOf(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    // The address itself is left out: it may hold a password.
    throw new UsageError("The address of the PostgreSQL store cannot be read.", {
      next: [{ text: "use postgres://user@host:5432/database" }],
    });
  }
  const user = parsed.username === "" ? "" : `${parsed.username}@`;
  return `postgres://${user}${parsed.host}${parsed.pathname}`;
}

interface Found {
  readonly server: number;
  readonly encoding: string;
  readonly tables: number;
  readonly ours: number;
}

async function prepare(client: Client, place: string): Promise<void> {
  const { rows } = await client.query<Found>(
    `SELECT CAST(current_setting('server_version_num') AS BIGINT) AS server,
            current_setting('server_encoding') AS encoding,
            (SELECT COUNT(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
              WHERE nspname = current_schema() AND relkind IN ('r', 'p')) AS tables,
            (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = current_schema()
                AND table_name = 'schema_migrations' AND column_name IN ('version', 'name', 'applied_at')) AS ours`,
  );
  for (const found of rows) requireUsable(found, place);
  const isEmpty = rows.every(({ tables }) => tables === 0);
  const version = isEmpty ? 0 : await schemaVersion(client, place);
  if (version < SCHEMA_VERSION) await migrateInTurn(client, place);
  await client.query(LIFT_EVENTS);
}

function requireUsable({ server, encoding, tables, ours }: Found, place: string): void {
  if (server < OLDEST_SERVER) {
    throw new StoreError("store_failed", `The server of ${place} is older than PostgreSQL 15.`, {
      kept: "Nothing was changed.",
      next: [{ text: "use PostgreSQL 15 or newer" }],
    });
  }
  if (encoding !== "UTF8" || (tables > 0 && ours < 3)) {
    const why = encoding === "UTF8" ? "holds tables of another program" : `is encoded as ${encoding}, not as UTF8`;
    throw new StoreError("store_corrupt", `The database ${place} ${why}.`, {
      kept: "It was left as it is.",
      next: [{ text: "create a database of its own: createdb --encoding=UTF8 --template=template0 cleveragents" }],
    });
  }
}

async function schemaVersion(client: Client, place: string): Promise<number> {
  const { rows } = await client.query<{ version: number | null }>(
    "SELECT MAX(version) AS version FROM schema_migrations",
  );
  const version = rows[0]?.version ?? 0;
  if (version <= SCHEMA_VERSION) return version;
  throw new StoreError(
    "store_too_new",
    `The database ${place} was written by a newer version of CleverAgents (schema ${version}, this one knows ${SCHEMA_VERSION}).`,
    { kept: "It was left as it is.", next: [{ text: "update CleverAgents" }] },
  );
}

/** Of several processes that open a database at once, one migrates it, and the others find nothing left to do. */
async function migrateInTurn(client: Client, place: string): Promise<void> {
  await client.query("BEGIN");
  await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  for (const statement of PREAMBLE) await client.query(translate(statement).text);
  const tx = new PostgresTx({ client, begin: undefined, place, clock: undefined });
  const version = await schemaVersion(client, place);
  await migrate(tx, version, (statement) => statement);
  await client.query("COMMIT");
}

function ignore(): void {
  // The statement that was under way, or the next one, reports it.
}
