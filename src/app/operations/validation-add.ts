import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addValidation } from "../procedures/add-definition.ts";
import { ValidationDetails, validationDetails } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document, replace: z.boolean().default(false) }),
  output: z.union([z.strictObject({ validation: ValidationDetails }), z.strictObject({ added: z.literal(false) })]),
  run: async (app, { definition, replace }, call) => {
    const added = await addValidation(app, definition, { replace }, call);
    return added === undefined ? { added: false as const } : { validation: validationDetails(added) };
  },
});
