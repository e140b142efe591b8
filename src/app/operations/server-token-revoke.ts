import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { TokenFacts, tokenFacts } from "../queries/token-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ token: z.string() }),
  output: TokenFacts,
  run: async (app, { token }) => tokenFacts(await (await app.serverTokens()).revoke(token), Date.now()),
});
