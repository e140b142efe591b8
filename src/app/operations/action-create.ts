import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addAction } from "../procedures/add-definition.ts";
import { ActionFacts, actionFacts } from "../queries/action-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document, replace: z.boolean().default(false) }),
  output: z.strictObject({ action: ActionFacts }),
  run: async (app, { definition, replace }) => ({
    action: actionFacts(await addAction(app, definition, { replace })),
  }),
});
