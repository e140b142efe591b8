import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { TokenFacts, tokenFacts } from "../queries/token-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({ tokens: z.array(TokenFacts), nextSteps: NextSteps.optional() }),
  run: async (app) => {
    const now = Date.now();
    const tokens = (await (await app.serverTokens()).list()).map((token) => tokenFacts(token, now));
    return tokens.length > 0
      ? { tokens }
      : { tokens, nextSteps: [nextStep("server.token.create", { role: "viewer", name: "<name>" })] };
  },
});
