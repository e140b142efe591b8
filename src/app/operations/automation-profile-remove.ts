import * as z from "zod";
import { settingsNaming } from "../../catalog/profile-service.ts";
import { findProfile, isBuiltIn } from "../../domain/profile/automation-profile.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import type { App } from "../base/app.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ profile: z.string() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({ removed: z.literal(true), profile: z.string() }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { profile }, call) => {
    const profiles = await app.profiles();
    const { name } = findProfile(profile, "profile", await profiles.listProfiles());
    if (!(await confirmed(call, `Remove the automation profile ${name}?`))) return { removed: false as const };
    await profiles.removeProfile(name, isBuiltIn(name) ? [] : await settingsThatName(app, name));
    return { removed: true as const, profile: name };
  },
});

async function settingsThatName(app: App, name: string): Promise<ReturnType<typeof settingsNaming>> {
  const { key, env } = findSetting("core.automation-profile");
  const { global, projects } = await app.config();
  return settingsNaming(name, {
    environment: app.environment[env],
    global: global.get(key),
    projects: [...projects].map(([project, values]) => [project, values.get(key)] as const),
  });
}
