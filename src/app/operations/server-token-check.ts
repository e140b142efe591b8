import * as z from "zod";
import { SERVER_ROLES } from "../../domain/names/server-roles.ts";
import { defineOperation } from "../base/operation.ts";

/** A server asks for whom a request speaks. */
export const operation = defineOperation({
  input: z.strictObject({ token: z.string() }),
  output: z.discriminatedUnion("valid", [
    z.strictObject({ valid: z.literal(false) }),
    z.strictObject({ valid: z.literal(true), tokenId: z.string(), name: z.string(), role: z.enum(SERVER_ROLES) }),
  ]),
  run: async (app, { token }) => {
    const found = await (await app.serverTokens()).check(token);
    if (found === undefined) return { valid: false as const };
    return { valid: true as const, tokenId: found.id, name: found.name, role: found.role };
  },
});
