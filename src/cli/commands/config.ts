import { UsageError, ValidationError } from "../../domain/errors.ts";
import { parseQualifiedName } from "../../domain/qualified-name.ts";
import { providerSettingKeys } from "../../domain/provider-settings.ts";
import { findSetting, SETTINGS, shownValue, type ResolvedSetting, type Setting } from "../../domain/settings.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";

export async function configGet(context: CommandContext, input: Input): Promise<Outcome> {
  const setting = findSetting(input.argument(0));
  const project = await projectName(context, input);
  const { key, value, level, chain } = await shownSetting(context, setting.key, project);
  const verbose = context.options.verbose > 0;
  return {
    data: { key, value: value ?? null, level, ...(verbose ? { chain } : {}), description: setting.description },
    view: [
      {
        kind: "fields",
        title: key,
        rows: [
          ["value", value ?? "(not set)"],
          ["from", level],
          ...(verbose ? chain.map((one) => [`  ${one.level}`, one.value] as const) : []),
          ["meaning", setting.description],
        ],
      },
    ],
    messages: [],
  };
}

export async function configList(context: CommandContext, input: Input): Promise<Outcome> {
  const project = await projectName(context, input);
  const resolved = [];
  const { global } = await context.config();
  for (const key of [...SETTINGS.map((setting) => setting.key), ...providerSettingKeys(global.keys())]) {
    resolved.push({ ...(await shownSetting(context, key, project)), description: findSetting(key).description });
  }
  return {
    data: {
      settings: resolved.map(({ key, value, level, description }) => ({
        key,
        value: value ?? null,
        level,
        description,
      })),
      config_path: context.paths.config,
    },
    view: [
      {
        kind: "table",
        title: "Configuration",
        columns: ["Key", "Value", "From", "Meaning"],
        rows: resolved.map(({ key, value, level, description }) => [key, orDash(value), level, description]),
        empty: "",
      },
    ],
    messages: info(`Read from ${context.paths.config}.`),
  };
}

export async function configSet(context: CommandContext, input: Input): Promise<Outcome> {
  const setting = findSetting(input.argument(0));
  const value = input.argument(1);
  const project = await projectName(context, input);
  const problem = setting.problem(value);
  if (problem !== undefined) {
    throw new ValidationError(`"${shownValue(setting, value)}" cannot be the value of ${setting.key}: ${problem}`, [
      { path: setting.key, message: problem },
    ]);
  }
  if (project !== undefined && !setting.perProject) {
    throw new UsageError(`${setting.key} cannot be set for a single project.`, {
      kept: "Nothing was changed.",
      next: [`agents config set ${setting.key} ${shownValue(setting, value)}`],
    });
  }
  if (setting.key === "core.automation-profile") await requireKnownProfile(context, value);
  const shown = shownValue(setting, value);
  const { previous, file } = await storeSetting(context, setting, value, project);
  const where = file === context.paths.config ? "" : `, kept in ${file}`;
  return {
    data: { key: setting.key, value: shown, previous: previous ?? null, project: project ?? null, config_path: file },
    view: [],
    messages: info(`${setting.key} is now ${shown}${project === undefined ? "" : ` for ${project}`}${where}.`),
  };
}

/** Writes a value that fits, with its audit entry: a key into the file of keys, everything else into the configuration file. */
export async function storeSetting(
  context: CommandContext,
  setting: Setting,
  value: string,
  project?: string,
): Promise<{ readonly previous: string | undefined; readonly file: string }> {
  const { setConfigValue } = await import("../../store/config-file.ts");
  const { credentialsFile, isCredential, setCredential } = await import("../../store/credentials.ts");
  const { recordConfigChange } = await import("../../plans/config-audit.ts");
  const store = await context.store();
  const user = await context.user();
  const shown = shownValue(setting, value);
  // What it was before, as it may be shown.
  let previous: string | undefined;
  const record = async (old: string | undefined): Promise<void> => {
    previous = old === undefined ? undefined : shownValue(setting, old);
    // Durable before the file changes: a change without its entry would be worse than an entry without its change.
    await recordConfigChange(store, user, { key: setting.key, from: previous, to: shown, project });
  };
  const { config, dataDir } = context.paths;
  if (isCredential(setting.key)) {
    await setCredential(dataDir, { key: setting.key, value }, record);
    return { previous, file: credentialsFile(dataDir) };
  }
  await setConfigValue(config, { key: setting.key, value, project }, record);
  return { previous, file: config };
}

/** The setting itself knows only the built-in ones. */
async function requireKnownProfile(context: CommandContext, name: string): Promise<void> {
  const { requireProfile } = await import("../../store/profiles.ts");
  await (await context.store()).read((reader) => requireProfile(reader, name, "core.automation-profile"));
}

/** A setting as it may be seen: values of keys are not. */
async function shownSetting(
  context: CommandContext,
  key: string,
  project: string | undefined,
): Promise<ResolvedSetting> {
  const setting = findSetting(key);
  const resolved = await context.setting(key, { project });
  return {
    ...resolved,
    value: resolved.value === undefined ? undefined : shownValue(setting, resolved.value),
    chain: resolved.chain.map((one) => ({ ...one, value: shownValue(setting, one.value) })),
  };
}

/** The project must exist: a value for a mistyped one would never be used. */
async function projectName(context: CommandContext, input: Input): Promise<string | undefined> {
  const text = input.text("project");
  if (text === undefined) return undefined;
  const { name } = await (await context.projects()).getProject(parseQualifiedName(text, "project"));
  return name;
}
