/** The tokens by which callers reach a server: of each only the hash of its secret is kept. */
export const SERVER_TOKENS: readonly string[] = [
  `CREATE TABLE server_tokens (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
    secret_hash TEXT NOT NULL, last_four TEXT NOT NULL, created_at BIGINT NOT NULL, created_by TEXT NOT NULL,
    expires_at BIGINT, revoked_at BIGINT, used_at BIGINT
  )`,
];
