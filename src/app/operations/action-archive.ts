import * as z from "zod";
import { ACTION_STATES } from "../../domain/action/action-state.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ action: z.string() }),
  output: z.strictObject({ action: z.strictObject({ name: z.string(), state: z.enum(ACTION_STATES) }) }),
  run: async (app, { action }) => {
    const { name, state } = await (await app.plans()).archiveAction(action);
    return { action: { name, state } };
  },
});
