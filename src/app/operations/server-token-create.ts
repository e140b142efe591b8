import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { SERVER_ROLES } from "../../domain/names/server-roles.ts";
import { defineOperation } from "../base/operation.ts";
import { TokenFacts, tokenFacts } from "../queries/token-facts.ts";

const LIFE = /^(\d{1,6})([hdw])$/;
const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

export const operation = defineOperation({
  input: z.strictObject({
    role: z.enum(SERVER_ROLES),
    name: z.string().default("token"),
    /** How long it holds: "12h", "30d", "8w"; until it is revoked unless given. */
    expires: z.string().optional(),
  }),
  output: TokenFacts.extend({
    /** The whole token; it is never shown again. */
    token: z.string(),
  }),
  run: async (app, { role, name, expires }) => {
    const expiresAt = expires === undefined ? undefined : Date.now() + lifeOf(expires);
    const { token, stored } = await (await app.serverTokens()).create({ role, name, expiresAt });
    return { ...tokenFacts(stored, Date.now()), token };
  },
});

function lifeOf(text: string): number {
  const [, amount, unit = ""] = LIFE.exec(text) ?? [];
  const life = Number(amount) * (UNITS[unit] ?? 0);
  if (life > 0) return life;
  throw new UsageError(`A token lives for a time such as 12h, 30d or 8w, not "${text}".`, {
    kept: "Nothing was written.",
  });
}
