/** The facts of a server's token, without its secret. */
import * as z from "zod";
import { isValid } from "../../catalog/server-token-service.ts";
import { SERVER_ROLES } from "../../domain/names/server-roles.ts";
import type { ServerToken } from "../../store/tables/server-tokens.ts";
import { Instant, instant } from "../base/schemas.ts";

export const TokenFacts = z.strictObject({
  tokenId: z.string(),
  name: z.string(),
  role: z.enum(SERVER_ROLES),
  /** The end of its secret, by which its holder knows it. */
  lastFour: z.string(),
  state: z.enum(["valid", "expired", "revoked"]),
  createdAt: Instant,
  createdBy: z.string(),
  expiresAt: Instant.nullable(),
  /** To the minute. */
  usedAt: Instant.nullable(),
});

export function tokenFacts(token: ServerToken, now: number): z.output<typeof TokenFacts> {
  const { id, name, role, lastFour, createdAt, createdBy, expiresAt, usedAt, revokedAt } = token;
  const ended = revokedAt === undefined ? ("expired" as const) : ("revoked" as const);
  return {
    tokenId: id,
    name,
    role,
    lastFour,
    state: isValid(token, now) ? "valid" : ended,
    createdAt: instant(createdAt),
    createdBy,
    expiresAt: expiresAt === undefined ? null : instant(expiresAt),
    usedAt: usedAt === undefined ? null : instant(usedAt),
  };
}
