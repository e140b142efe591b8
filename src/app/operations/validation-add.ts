import * as z from "zod";
import { checkValidation, parseValidationFile } from "../../catalog/validation-file.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { acceptDefinition } from "../procedures/accept-definition.ts";
import { ValidationDetails, validationDetails } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document }),
  output: z.union([z.strictObject({ validation: ValidationDetails }), z.strictObject({ added: z.literal(false) })]),
  run: async (app, { definition: source }, call) => {
    const definition = parseValidationFile(source.text, source.file);
    const { check } = checkValidation(definition);
    const commands = check.kind === "command" ? [check.command] : [];
    const wants = { commands, endpoints: [], variables: [], unsafe: [] };
    if (!(await acceptDefinition(app, { ...source, wants, allowEnv: [] }, call))) return { added: false as const };
    return { validation: validationDetails(await (await app.validations()).addValidation(definition)) };
  },
});
