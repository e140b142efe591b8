import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ValidationDetails, validationDetails } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ namespace: z.string().optional() }),
  output: z.strictObject({
    validations: z.array(ValidationDetails),
    filters: z.strictObject({ namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int(), attachments: z.int() }),
  }),
  run: async (app, { namespace }) => {
    const validations = await (await app.validations()).listValidations(namespace);
    return {
      validations: validations.map(validationDetails),
      filters: { namespace: namespace ?? null },
      summary: {
        total: validations.length,
        attachments: validations.reduce((sum, { attachments }) => sum + attachments.length, 0),
      },
    };
  },
});
