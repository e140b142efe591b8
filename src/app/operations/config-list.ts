import * as z from "zod";
import { providerSettingKeys } from "../../domain/settings/provider-settings.ts";
import { findSetting, SETTINGS } from "../../domain/settings/settings.ts";
import { defineOperation } from "../base/operation.ts";
import { settingProject, shownSetting } from "../procedures/stored-settings.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string().optional() }),
  output: z.strictObject({
    settings: z.array(
      z.strictObject({ key: z.string(), value: z.string().nullable(), level: z.string(), description: z.string() }),
    ),
    configPath: z.string(),
  }),
  run: async (app, input) => {
    const project = await settingProject(app, input.project);
    const { global } = await app.config();
    const settings = [];
    for (const key of [...SETTINGS.map((setting) => setting.key), ...providerSettingKeys(global.keys())]) {
      const { value, level } = await shownSetting(app, key, project);
      settings.push({ key, value: value ?? null, level, description: findSetting(key).description });
    }
    return { settings, configPath: app.paths.config };
  },
});
