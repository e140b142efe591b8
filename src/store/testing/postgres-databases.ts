/** One database for each test, copied from one that was migrated once. */
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { openStore } from "../sqlite/open-store.ts";
import { serverAddress, type ServerKind } from "./postgres-server.ts";

const TEMPLATE = "migrated";

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

export async function makeDatabase(kind: ServerKind): Promise<TestDatabase> {
  const address = await serverAddress(kind);
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  const admin = address("postgres");
  await command(admin, async (client) => {
    // Of several workers the first one makes the template; the lock ends with the connection.
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [TEMPLATE]);
    if (rowCount === 0) {
      await client.query("DROP DATABASE IF EXISTS being_migrated");
      await client.query("CREATE DATABASE being_migrated");
      await (await openStore(address("being_migrated"))).close();
      await client.query(`ALTER DATABASE being_migrated RENAME TO ${TEMPLATE}`);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
  });
  const remove = (): Promise<void> => command(admin, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
  return { url: address(name), [Symbol.asyncDispose]: remove };
}

/** An empty database, as an operator makes one. */
export async function makeEmptyDatabase(kind: ServerKind): Promise<TestDatabase> {
  const address = await serverAddress(kind);
  const name = `e_${randomUUID().replaceAll("-", "")}`;
  const admin = address("postgres");
  await command(admin, (client) => client.query(`CREATE DATABASE ${name}`));
  const remove = (): Promise<void> => command(admin, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
  return { url: address(name), [Symbol.asyncDispose]: remove };
}

/** Carried out on a connection of its own. */
export async function command(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
