import * as z from "zod";
import { BUILT_IN, isBuiltIn } from "../../domain/profile/automation-profile.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ namespace: z.string().optional() }),
  output: z.strictObject({
    profiles: z.array(z.strictObject({ name: z.string(), builtin: z.boolean(), description: z.string() })),
    filters: z.strictObject({ namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int(), builtIn: z.int(), custom: z.int() }),
  }),
  run: async (app, { namespace }) => {
    const own = await (await app.profiles()).listProfiles(namespace);
    const builtIn = namespace === undefined ? BUILT_IN : [];
    const all = [...builtIn, ...own];
    return {
      profiles: all.map(({ name, description }) => ({ name, builtin: isBuiltIn(name), description })),
      filters: { namespace: namespace ?? null },
      summary: { total: all.length, builtIn: builtIn.length, custom: own.length },
    };
  },
});
