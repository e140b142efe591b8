import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addProfile } from "../procedures/add-definition.ts";
import { ProfileFacts, profileFacts } from "../queries/profile-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document, replace: z.boolean().default(false) }),
  output: z.strictObject({ profile: ProfileFacts }),
  run: async (app, { definition, replace }) => ({
    profile: profileFacts(await addProfile(app, definition, { replace })),
  }),
});
