import * as z from "zod";
import { UsageError, ValidationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { findSetting, shownValue } from "../../domain/settings/settings.ts";
import { requireProfile } from "../../store/tables/profiles.ts";
import { defineOperation } from "../base/operation.ts";
import { settingProject, storeSetting } from "../procedures/stored-settings.ts";

export const operation = defineOperation({
  input: z.strictObject({ key: z.string(), value: z.string(), project: z.string().optional() }),
  output: z.strictObject({
    key: z.string(),
    value: z.string(),
    previous: z.string().nullable(),
    project: z.string().nullable(),
    configPath: z.string(),
  }),
  run: async (app, input) => {
    const setting = findSetting(input.key);
    const { key } = setting;
    const { value } = input;
    const shown = shownValue(setting, value);
    const project = await settingProject(app, input.project);
    const problem = setting.problem(value);
    if (problem !== undefined) {
      throw new ValidationError(
        `"${shown}" cannot be the value of ${key}: ${problem}`,
        [{ path: key, message: problem }],
        {
          kept: "Nothing was changed.",
          next: [nextStep(/^(none)?$/.test(value) ? "config.unset" : "config.get", { key })],
        },
      );
    }
    if (project !== undefined && !setting.perProject) {
      throw new UsageError(`${key} cannot be set for a single project.`, {
        kept: "Nothing was changed.",
        next: [nextStep("config.set", { key, value: shown })],
      });
    }
    // The setting itself knows only the built-in profiles.
    if (key === "core.automation-profile") {
      await (await app.store()).read((reader) => requireProfile(reader, value, key));
    }
    const { previous, file } = await storeSetting(app, setting, { value, project });
    return { key, value: shown, previous: previous ?? null, project: project ?? null, configPath: file };
  },
});
