import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ValidationDetails, validationDetails } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ validation: z.string() }),
  output: z.strictObject({ validation: ValidationDetails }),
  run: async (app, { validation }) => ({
    validation: validationDetails(await (await app.validations()).getValidation(validation)),
  }),
});
