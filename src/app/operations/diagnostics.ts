import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { providerSettingKeys } from "../../domain/settings/provider-settings.ts";
import { SETTINGS } from "../../domain/settings/settings.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";

const Check = z.strictObject({ name: z.string(), status: z.enum(["ok", "warning", "error"]), message: z.string() });
type Check = z.output<typeof Check>;

const LEAST_SPACE = 200 * 1024 * 1024;

/** Checks everything the program stands on, and continues when one check fails. */
export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    checks: z.array(Check),
    summary: z.strictObject({ ok: z.int(), warnings: z.int(), errors: z.int() }),
    hasErrors: z.boolean(),
    hasWarnings: z.boolean(),
    dataDir: z.string(),
    confinement: z.string(),
  }),
  run: async (app) => {
    const checks = [
      await check("runtime", async () => `Node ${process.versions.node}, SQLite ${process.versions["sqlite"] ?? "?"}`),
      await check("configuration", () => configuration(app)),
      await check("data directory", async () => dataDirectory(app.paths.dataDir)),
      await check("disk space", async () => diskSpace(app.paths.dataDir)),
      await check("database", () => database(app)),
      await check("git", git),
      await check("search", search),
      await check("confinement", confinement),
      await check("tool directories", () => toolDirectories(app)),
    ];
    const { confinementHere } = await import("../../confinement/availability.ts");
    const { kind } = await confinementHere();
    const errors = checks.filter(({ status }) => status === "error").length;
    const warnings = checks.filter(({ status }) => status === "warning").length;
    return {
      checks,
      summary: { ok: checks.length - errors - warnings, warnings, errors },
      hasErrors: errors > 0,
      hasWarnings: warnings > 0,
      dataDir: app.paths.dataDir,
      confinement: kind,
    };
  },
});

/** A finding that is not a failure, but that the user should know. */
class Warning extends Error {}

async function check(name: string, probe: () => Promise<string>): Promise<Check> {
  try {
    return { name, status: "ok", message: await probe() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { name, status: error instanceof Warning ? "warning" : "error", message };
  }
}

async function configuration(app: App): Promise<string> {
  for (const { key } of SETTINGS) await app.setting(key);
  const keys = [...(await app.config()).global.keys()];
  const ofProviders = new Set(providerSettingKeys(keys));
  const unknown = keys.filter((key) => !ofProviders.has(key) && !SETTINGS.some((known) => known.key === key));
  if (unknown.length > 0) throw new Warning(`${app.paths.config} has unknown keys: ${unknown.join(", ")}`);
  return existsSync(app.paths.config) ? app.paths.config : `${app.paths.config} is not there; defaults apply`;
}

function dataDirectory(dataDir: string): string {
  if (!existsSync(dataDir)) throw new Warning(`${dataDir} is not there yet; "agents init" creates it`);
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & 0o077) !== 0) throw new Warning(`${dataDir} can be read by others (mode ${mode.toString(8)})`);
  return `${dataDir} (mode ${mode.toString(8)})`;
}

function diskSpace(dataDir: string): string {
  let existing = dataDir;
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1024 / 1024)} MiB free`;
  if (free < LEAST_SPACE) throw new Warning(text);
  return text;
}

async function database(app: App): Promise<string> {
  if (!existsSync(app.paths.database)) throw new Warning(`${app.paths.database} is not there yet`);
  const store = await app.store();
  const result = await store.read(async (reader) => ({
    check: await reader.get<{ quick_check: string }>("PRAGMA quick_check(1)"),
    schema: await reader.get<{ version: number }>("SELECT MAX(version) AS version FROM schema_migrations"),
  }));
  if (result.check?.quick_check !== "ok")
    throw new AgentsError("store_corrupt", `damaged: ${result.check?.quick_check}`);
  return `${app.paths.database} (schema ${result.schema?.version}, intact)`;
}

async function confinement(): Promise<string> {
  const { confinementHere } = await import("../../confinement/availability.ts");
  const { kind, says, next } = await confinementHere();
  if (kind !== "none") return says;
  const remedy = next === undefined ? "" : `; next: ${next}`;
  throw new Warning(
    `${says}: plans refuse to run commands, unless their profile does not require confinement${remedy}`,
  );
}

async function toolDirectories(app: App): Promise<string> {
  await app.commandPolicy();
  const { shownTools } = await import("../../confinement/mounts.ts");
  const shown = shownTools();
  const found = shown.length === 0 ? "none besides those of the system" : shown.join(", ");
  return `commands of plans can read: ${found}`;
}

async function search(): Promise<string> {
  const { ripgrepProgram } = await import("../../execution/tools/ripgrep.ts");
  const program = ripgrepProgram();
  if (program !== undefined) return `ripgrep (${program})`;
  throw new Warning("ripgrep is not installed for this platform; files are searched by a slower scan");
}

async function git(): Promise<string> {
  const { requireGit } = await import("../../git/git.ts");
  const version = await requireGit().catch((error: unknown) => {
    throw new Warning(error instanceof Error ? error.message : String(error));
  });
  return `git ${version}`;
}
