/** Settings as a user sees and changes them. */
import { recordConfigChange } from "../../catalog/config-audit.ts";
import { parseQualifiedName } from "../../domain/names/qualified-name.ts";
import { findSetting, shownValue, type ResolvedSetting, type Setting } from "../../domain/settings/settings.ts";
import { maskSecrets } from "../../domain/secrets/redaction.ts";
import { removeConfigValue, setConfigValue } from "../../platform/settings/config-file.ts";
import { credentialsFile, isCredential, removeCredential, setCredential } from "../../platform/settings/credentials.ts";
import { STORE_SETTING } from "../../platform/settings/store-setting.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import type { Store } from "../../store/port.ts";
import type { App } from "../base/app.ts";

/**
 * Writes a value that fits, with its audit entry: a key into the file of keys, everything else into the configuration
 * file.
 */
export async function storeSetting(
  app: App,
  setting: Setting,
  { value, project }: { readonly value: string; readonly project?: string | undefined },
): Promise<{ readonly previous: string | undefined; readonly file: string }> {
  await using own = await ownRecord(app, setting.key);
  const store = own ?? (await app.store());
  const user = await app.user();
  const shown = shownValue(setting, value);
  // The value before, as it may be shown.
  let previous: string | undefined;
  const record = async (old: string | undefined): Promise<void> => {
    previous = old === undefined ? undefined : shownValue(setting, old);
    // Durable before the file changes: a change without its entry would be worse than an entry without its change.
    await recordConfigChange(store, user, { key: setting.key, from: previous, to: shown, project });
  };
  const { config, dataDir } = app.paths;
  if (isCredential(setting.key)) {
    await setCredential(dataDir, { key: setting.key, value }, record);
    return { previous, file: credentialsFile(dataDir) };
  }
  await setConfigValue(config, { key: setting.key, value, project }, record);
  return { previous, file: config };
}

/** Removes a value where it is kept; undefined when there is none. A key that is not a setting has no secret. */
export async function removeSetting(
  app: App,
  {
    key,
    setting,
    project,
  }: { readonly key: string; readonly setting: Setting | undefined; readonly project: string | undefined },
): Promise<{ readonly previous: string; readonly file: string } | undefined> {
  await using own = await ownRecord(app, key);
  const store = own ?? (await app.store());
  const user = await app.user();
  let previous = "";
  const record = async (old: string): Promise<void> => {
    previous = setting === undefined ? maskSecrets(old).text : shownValue(setting, old);
    await recordConfigChange(store, user, { key, from: previous, to: undefined, project });
  };
  const { config, dataDir } = app.paths;
  const credential = isCredential(key);
  const file = credential ? credentialsFile(dataDir) : config;
  const removed = await (credential
    ? removeCredential(dataDir, key, record)
    : removeConfigValue(config, { key, project }, record));
  return removed ? { previous, file } : undefined;
}

/**
 * Which store a machine uses is recorded in its own one: a shared one that cannot be reached, or an address that was
 * mistyped, must not be in the way of another.
 */
async function ownRecord(app: App, key: string): Promise<Store | undefined> {
  return key === STORE_SETTING ? openStore(`sqlite:${app.paths.database}`) : undefined;
}

/** A setting as it may be seen: the values of keys are hidden. */
export async function shownSetting(app: App, key: string, project: string | undefined): Promise<ResolvedSetting> {
  const setting = findSetting(key);
  const resolved = await app.setting(key, { project });
  return {
    ...resolved,
    value: resolved.value === undefined ? undefined : shownValue(setting, resolved.value),
    chain: resolved.chain.map((one) => ({ ...one, value: shownValue(setting, one.value) })),
  };
}

/** The project must exist: a value for a mistyped one would never be used. */
export async function settingProject(app: App, named: string | undefined): Promise<string | undefined> {
  if (named === undefined) return undefined;
  const { name } = await (await app.projects()).getProject(parseQualifiedName(named, "project"));
  return name;
}
