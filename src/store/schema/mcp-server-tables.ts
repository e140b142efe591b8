/** The servers of the Model Context Protocol that users defined. Uniqueness is decided by scope and key. */
export const MCP_SERVERS: readonly string[] = [
  `CREATE TABLE mcp_servers (
     scope TEXT NOT NULL,
     key TEXT NOT NULL,
     name TEXT NOT NULL,
     project TEXT,
     definition TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     PRIMARY KEY (scope, key))`,
];
