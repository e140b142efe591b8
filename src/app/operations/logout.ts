import { existsSync } from "node:fs";
import * as z from "zod";
import { COPILOT } from "../../actors/providers/copilot.ts";
import { credentialsFile } from "../../platform/settings/credentials.ts";
import { takeConfigKeys } from "../../platform/settings/config-file.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ provider: z.enum([COPILOT]) }),
  output: z.strictObject({ provider: z.string(), wasLoggedIn: z.boolean() }),
  run: async (app, { provider }) => {
    const file = credentialsFile(app.paths.dataDir);
    if (!existsSync(file)) return { provider, wasLoggedIn: false };
    let wasLoggedIn = false;
    await takeConfigKeys(
      file,
      (key) => key === `provider.${provider}.api-key`,
      async (taken) => {
        wasLoggedIn = taken.size > 0;
      },
    );
    return { provider, wasLoggedIn };
  },
});
