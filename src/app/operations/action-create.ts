import * as z from "zod";
import { parseActionFile } from "../../catalog/action-file.ts";
import { findOwnProfiles } from "../../store/tables/profiles.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { ActionFacts, actionFacts } from "../queries/action-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document }),
  output: z.strictObject({ action: ActionFacts }),
  run: async (app, { definition: { text, file } }) => {
    const own = await (await app.store()).read((reader) => findOwnProfiles(reader));
    const action = await (await app.plans()).createAction(parseActionFile(text, file, own));
    return { action: actionFacts(action) };
  },
});
