import * as z from "zod";
import { findSetting, knownSetting } from "../../domain/settings/settings.ts";
import { defineOperation } from "../base/operation.ts";
import { removeSetting, settingProject, shownSetting } from "../procedures/stored-settings.ts";

/** Removes a value from the file it is in. A misspelled key can be removed too. */
export const operation = defineOperation({
  input: z.strictObject({ key: z.string(), project: z.string().optional() }),
  output: z.strictObject({
    key: z.string(),
    /** False: there was no value to remove. */
    removed: z.boolean(),
    previous: z.string().nullable(),
    project: z.string().nullable(),
    /** The value that holds from now on, and the level it comes from; null for a key that is not a setting. */
    value: z.string().nullable(),
    level: z.string().nullable(),
    configPath: z.string(),
  }),
  run: async (app, input) => {
    const { key } = input;
    const project = await settingProject(app, input.project);
    const setting = knownSetting(key);
    const done = await removeSetting(app, { key, setting, project });
    // Says that there is no such setting, and which one is near.
    if (done === undefined && setting === undefined) findSetting(key);
    const now = setting === undefined ? undefined : await shownSetting(app, key, project);
    return {
      key,
      removed: done !== undefined,
      previous: done?.previous ?? null,
      project: project ?? null,
      value: now?.value ?? null,
      level: now?.level ?? null,
      configPath: done?.file ?? app.paths.config,
    };
  },
});
