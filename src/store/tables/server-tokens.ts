/** The owner of the table `server_tokens`: who may reach a server, until when. Secrets are not in it. */
import type { ServerRole } from "../../domain/names/server-roles.ts";
import type { Reader, Tx } from "../port.ts";

export interface ServerToken {
  readonly id: string;
  readonly name: string;
  readonly role: ServerRole;
  /** SHA-256 of the secret, in hexadecimal. */
  readonly secretHash: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** When it was last used, to the minute. */
  readonly usedAt: number | undefined;
}

interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly role: ServerRole;
  readonly secret_hash: string;
  readonly last_four: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly used_at: number | null;
}

export async function insertServerToken(tx: Tx, token: Omit<ServerToken, "revokedAt" | "usedAt">): Promise<void> {
  await tx.run(
    `INSERT INTO server_tokens (id, name, role, secret_hash, last_four, created_at, created_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    token.id,
    token.name,
    token.role,
    token.secretHash,
    token.lastFour,
    token.createdAt,
    token.createdBy,
    token.expiresAt ?? null,
  );
}

export async function findServerToken(reader: Reader, id: string): Promise<ServerToken | undefined> {
  const row = await reader.get<TokenRow>("SELECT * FROM server_tokens WHERE id = ?", id);
  return row === undefined ? undefined : readToken(row);
}

/** The newest first. */
export async function findServerTokens(reader: Reader): Promise<ServerToken[]> {
  const rows = await reader.all<TokenRow>("SELECT * FROM server_tokens ORDER BY created_at DESC, id DESC");
  return rows.map(readToken);
}

/** Takes the token back; false when that was done before. Exactly one of any number of concurrent callers gets true. */
export async function revokeServerToken(tx: Tx, id: string, at: number): Promise<boolean> {
  return (await tx.run("UPDATE server_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", at, id)) === 1;
}

/** A use is written down at most once in `everyMs`, also by several processes. */
export async function markServerTokenUsed(tx: Tx, id: string, at: number, everyMs: number): Promise<void> {
  await tx.run(
    "UPDATE server_tokens SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at <= ?)",
    at,
    id,
    at - everyMs,
  );
}

function readToken(row: TokenRow): ServerToken {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    secretHash: row.secret_hash,
    lastFour: row.last_four,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    usedAt: row.used_at ?? undefined,
  };
}
