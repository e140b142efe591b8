import * as z from "zod";
import { COPILOT } from "../../actors/providers/copilot.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({ logins: z.array(z.strictObject({ provider: z.string(), loggedIn: z.boolean() })) }),
  run: async (app) => {
    const { global } = await app.config();
    return {
      logins: [COPILOT].map((provider) => ({ provider, loggedIn: global.has(`provider.${provider}.api-key`) })),
    };
  },
});
