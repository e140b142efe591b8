import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ActionFacts, actionFacts } from "../queries/action-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ action: z.string() }),
  output: z.strictObject({ action: ActionFacts }),
  run: async (app, { action }) => ({ action: actionFacts(await (await app.plans()).getAction(action)) }),
});
