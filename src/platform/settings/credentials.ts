import { chmodSync, existsSync } from "node:fs";
import { STORE_SETTING } from "./store-setting.ts";
import { DataDirectory } from "../data-directory.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { providerSetting } from "../../domain/settings/provider-settings.ts";
import { readConfig, removeConfigValue, setConfigValue, takeConfigKeys, type ConfigValues } from "./config-file.ts";
import { isReadableByOthers, requireOwn } from "../ownership.ts";

/**
 * API keys that the user set are kept apart from the configuration: in the data directory, which is hidden from the
 * commands of plans, in a file that only the user can read. A configuration is shown to others and kept in
 * repositories; keys are not.
 */
const TEMPLATE = "# API keys of CleverAgents; `agents config set provider.<name>.api-key <key>` writes them.\n";

export function credentialsFile(dataDir: string): string {
  return new DataDirectory(dataDir).credentials;
}

/** Whether the value of this key of the configuration belongs there. */
export function isCredential(key: string): boolean {
  // The address of a shared store may hold a password.
  return key === STORE_SETTING || providerSetting(key)?.secret === true;
}

export async function setCredential(
  dataDir: string,
  change: { readonly key: string; readonly value: string },
  before: (previous: string | undefined) => Promise<void>,
): Promise<void> {
  await setConfigValue(credentialsFile(dataDir), change, before, TEMPLATE);
}

export async function removeCredential(
  dataDir: string,
  key: string,
  before: (previous: string) => Promise<void>,
): Promise<boolean> {
  return removeConfigValue(credentialsFile(dataDir), { key }, before);
}

/**
 * The configuration with its keys. Keys that an older version, or a person, wrote into the configuration file are
 * moved; a file of keys that others could read is made private. Both are told.
 */
export async function withCredentials(
  config: ConfigValues,
  paths: { readonly config: string; readonly dataDir: string },
): Promise<{ readonly values: ConfigValues; readonly notices: readonly string[] }> {
  const notices: string[] = [];
  const misplaced = [...config.global.keys()].filter(isCredential);
  if (misplaced.length > 0) notices.push(await moved(paths, misplaced));
  const file = credentialsFile(paths.dataDir);
  if (!existsSync(file)) return { values: config, notices };
  requireOwn(file, "The file of API keys");
  if (isReadableByOthers(file)) {
    chmodSync(file, 0o600);
    notices.push(`${file} was readable by others and is private now; the keys in it may be known, so renew them.`);
  }
  // One that could not be moved is newer than what was kept before.
  const keys = [...readConfig(file).global].filter(([key]) => !key.startsWith(SERVER_PREFIX));
  const global = new Map([...keys, ...config.global]);
  return { values: { ...config, global }, notices };
}

/** Of MCP servers: no settings, so they are not among those. */
const SERVER_PREFIX = "mcp.";

/** A value of an MCP server, such as a token; `key` is the server's scope, its name and that of the value. */
export async function setServerCredential(dataDir: string, key: readonly string[], value: string): Promise<void> {
  await setCredential(dataDir, { key: serverKey(key), value }, async () => undefined);
}

/** The values whose keys begin so, by the rest of their keys. */
export function serverCredentials(dataDir: string, key: readonly string[]): ReadonlyMap<string, string> {
  const file = credentialsFile(dataDir);
  if (!existsSync(file)) return new Map();
  requireOwn(file, "The file of API keys");
  const begin = `${serverKey(key)}.`;
  const own = [...readConfig(file).global].filter(([name]) => name.startsWith(begin));
  return new Map(own.map(([name, value]) => [name.slice(begin.length), value]));
}

/** Removes the values whose keys begin so; whether there were any. */
export async function removeServerCredentials(dataDir: string, key: readonly string[]): Promise<boolean> {
  const file = credentialsFile(dataDir);
  if (!existsSync(file)) return false;
  let removed = false;
  const begin = serverKey(key);
  await takeConfigKeys(
    file,
    (name) => name === begin || name.startsWith(`${begin}.`),
    async (taken) => void (removed = taken.size > 0),
  );
  return removed;
}

function serverKey(parts: readonly string[]): string {
  return `${SERVER_PREFIX}${parts.join(".")}`;
}

async function moved(
  { config, dataDir }: { readonly config: string; readonly dataDir: string },
  keys: readonly string[],
): Promise<string> {
  const what = keys.length === 1 ? `The key ${keys[0]}` : `${keys.length} API keys`;
  const file = credentialsFile(dataDir);
  try {
    await takeConfigKeys(config, isCredential, async (taken) => {
      for (const [key, value] of taken) await setCredential(dataDir, { key, value }, async () => undefined);
    });
    return `${what} moved from ${config} to ${file}, where commands of plans cannot read.`;
  } catch (error) {
    if (!(error instanceof AgentsError)) throw error;
    return `${what} in ${config} could not be moved to ${file}: ${error.message} Move it yourself.`;
  }
}
