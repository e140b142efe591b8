import * as z from "zod";
import { parseProfileFile } from "../../catalog/profile-file.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { ProfileFacts, profileFacts } from "../queries/profile-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ definition: Document }),
  output: z.strictObject({ profile: ProfileFacts }),
  run: async (app, { definition: { text, file } }) => {
    const profiles = await app.profiles();
    const profile = await profiles.addProfile(parseProfileFile(text, file, await profiles.listProfiles()));
    return { profile: profileFacts(profile) };
  },
});
