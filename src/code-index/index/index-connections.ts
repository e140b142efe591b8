/**
 * Idle connections of this thread to indexes. A plan asks again and again: to open an index, with its schema and its
 * log, took a tenth of a context after an edit, and the process that closes the last connection copies the log into the
 * file. A connection is to a file and not to a name: when an index was rebuilt meanwhile, the connection to the old
 * file is closed.
 */
import { statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openForReading } from "./index-database.ts";

export interface IndexConnection {
  readonly indexFile: string;
  /**
   * Identifies the open file, even after its name points to another one; no other file can have this identity while the
   * connection is open. "" if it cannot be determined.
   */
  readonly identity: string;
  readonly database: DatabaseSync;
  readonly statements: Map<string, StatementSync>;
  /** Whether the table of its words exists. */
  hasInstances: boolean;
}

const MOST = 4;
/** By name; the latest last. */
const idle = new Map<string, IndexConnection>();

/** Outside of any transaction. Undefined when there is no index. */
export function takeConnection(indexFile: string): IndexConnection | undefined {
  const known = idle.get(indexFile);
  idle.delete(indexFile);
  const identity = identityOf(indexFile);
  if (known !== undefined && identity !== "" && known.identity === identity) return known;
  known?.database.close();
  const database = openForReading(indexFile);
  if (database === undefined) return undefined;
  const isSure = identity === identityOf(indexFile);
  return { indexFile, identity: isSure ? identity : "", database, statements: new Map(), hasInstances: false };
}

/** Ends what it was reading. */
export function returnConnection(connection: IndexConnection): void {
  const { database, indexFile } = connection;
  if (!database.isOpen) return;
  if (database.isTransaction) database.exec("COMMIT");
  idle.get(indexFile)?.database.close();
  idle.delete(indexFile);
  idle.set(indexFile, connection);
  const [oldest] = idle.values();
  if (idle.size <= MOST || oldest === undefined) return;
  idle.delete(oldest.indexFile);
  oldest.database.close();
}

function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev} ${found.ino}`;
}
