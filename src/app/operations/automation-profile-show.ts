import * as z from "zod";
import { findProfile } from "../../domain/profile/automation-profile.ts";
import { defineOperation } from "../base/operation.ts";
import { ProfileFacts, profileFacts } from "../queries/profile-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ profile: z.string() }),
  output: z.strictObject({ profile: ProfileFacts }),
  run: async (app, { profile }) => ({
    profile: profileFacts(findProfile(profile, "profile", await (await app.profiles()).listProfiles())),
  }),
});
