/** The owner of the table `mcp_servers`: the servers that users defined. Nothing in it is secret. */
import { scopeKey, type McpScope, type McpServerDefinition, type McpTransport } from "../../domain/mcp/mcp-server.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Reader, Tx } from "../port.ts";

export interface StoredMcpServer extends McpServerDefinition {
  readonly createdAt: number;
}

interface ServerRow {
  readonly name: string;
  readonly project: string | null;
  readonly definition: string;
  readonly created_at: number;
}

type Kept = Omit<McpServerDefinition, "name" | "scope" | "tools"> & { readonly tools: readonly string[] | null };

/**
 * Inserts the server unless its scope has one of that name; false when it has. Exactly one of any number of concurrent
 * callers gets true.
 */
export async function insertMcpServer(tx: Tx, server: McpServerDefinition, at: number): Promise<boolean> {
  const { name, scope, tools = null, transport, worksIn, confined, readOnlyTools, timeoutMs } = server;
  const kept: Kept = { transport, worksIn, confined, tools, readOnlyTools, timeoutMs };
  const inserted = await tx.run(
    `INSERT INTO mcp_servers (scope, key, name, project, definition, created_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (scope, key) DO NOTHING`,
    scopeKey(scope),
    name.toLowerCase(),
    name,
    scope.kind === "project" ? scope.project : null,
    JSON.stringify(kept),
    at,
  );
  return inserted === 1;
}

export async function deleteMcpServer(tx: Tx, scope: McpScope, name: string): Promise<boolean> {
  const deleted = await tx.run(
    "DELETE FROM mcp_servers WHERE scope = ? AND key = ?",
    scopeKey(scope),
    name.toLowerCase(),
  );
  return deleted === 1;
}

/** The user's servers first, then those of projects; by name. */
export async function findMcpServers(reader: Reader): Promise<StoredMcpServer[]> {
  const rows = await reader.all<ServerRow>(
    "SELECT name, project, definition, created_at FROM mcp_servers ORDER BY scope DESC, key",
  );
  return rows.map(readServer);
}

function readServer({ name, project, definition, created_at: createdAt }: ServerRow): StoredMcpServer {
  const { tools, ...kept } = JSON.parse(definition) as Kept;
  const scope: McpScope = project === null ? { kind: "user" } : { kind: "project", project: project as QualifiedName };
  return {
    name,
    scope,
    ...kept,
    transport: kept.transport satisfies McpTransport,
    tools: tools ?? undefined,
    createdAt,
  };
}
