import * as z from "zod";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ validation: z.string() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({ removed: z.literal(true), validation: z.string() }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { validation }, call) => {
    const validations = await app.validations();
    const { name } = await validations.getValidation(validation);
    if (!(await confirmed(call, `Remove the validation ${name}?`))) return { removed: false as const };
    await validations.removeValidation(name);
    return { removed: true as const, validation: name };
  },
});
