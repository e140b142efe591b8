import * as z from "zod";
import { findSetting } from "../../domain/settings/settings.ts";
import { defineOperation } from "../base/operation.ts";
import { settingProject, shownSetting } from "../procedures/stored-settings.ts";

export const operation = defineOperation({
  input: z.strictObject({ key: z.string(), project: z.string().optional() }),
  output: z.strictObject({
    key: z.string(),
    value: z.string().nullable(),
    level: z.string(),
    /** Every level that sets it, the strongest first. */
    chain: z.array(z.strictObject({ level: z.string(), value: z.string() })),
    description: z.string(),
  }),
  run: async (app, { key: named, project }) => {
    const setting = findSetting(named);
    const { key, value, level, chain } = await shownSetting(app, setting.key, await settingProject(app, project));
    return {
      key,
      value: value ?? null,
      level,
      chain: chain.map((one) => ({ level: one.level, value: one.value })),
      description: setting.description,
    };
  },
});
