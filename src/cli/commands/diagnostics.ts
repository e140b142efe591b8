import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { AgentsError } from "../../domain/errors.ts";
import { providerSettingKeys } from "../../domain/provider-settings.ts";
import { SETTINGS } from "../../domain/settings.ts";
import type { CommandContext } from "../command-context.ts";
import { count } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { toned, type Tone } from "../view.ts";

/** Checks everything the program stands on, and goes on when one check fails. */
interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "error";
  readonly message: string;
}

const LEAST_SPACE = 200 * 1024 * 1024;

export async function diagnostics(context: CommandContext): Promise<Outcome> {
  const checks = [
    await check("runtime", async () => `Node ${process.versions.node}, SQLite ${process.versions["sqlite"] ?? "?"}`),
    await check("configuration", () => configuration(context)),
    await check("data directory", async () => dataDirectory(context.paths.dataDir)),
    await check("disk space", async () => diskSpace(context.paths.dataDir)),
    await check("database", () => database(context)),
    await check("git", git),
    await check("confinement", confinement),
    await check("tool directories", () => toolDirectories(context)),
  ];
  const { confinementHere } = await import("../../execution/confinement/here.ts");
  const { kind: confinedBy } = await confinementHere();
  const errors = checks.filter(({ status }) => status === "error").length;
  const warnings = checks.filter(({ status }) => status === "warning").length;
  const summary = { ok: checks.length - errors - warnings, warnings, errors };
  const tones = { ok: "good", warning: "warn", error: "bad" } as const satisfies Record<Check["status"], Tone>;
  const verdict =
    errors > 0
      ? ({ level: "error", text: `${count(errors, "check")} failed.` } as const)
      : warnings > 0
        ? ({ level: "warning", text: `It works, with ${count(warnings, "warning")}.` } as const)
        : ({ level: "info", text: "Everything works." } as const);
  return {
    data: {
      checks,
      summary,
      has_errors: errors > 0,
      has_warnings: warnings > 0,
      data_dir: context.paths.dataDir,
      confinement: confinedBy,
    },
    view: [
      {
        kind: "table",
        title: "Diagnostics",
        columns: ["Check", "Status", "Finding"],
        rows: checks.map(({ name, status, message }) => [name, toned(status, tones[status]), message]),
        empty: "",
      },
    ],
    messages: [verdict],
    status: errors > 0 ? "error" : warnings > 0 ? "warn" : "ok",
  };
}

/** A finding that is no failure, but that the user should know. */
class Warning extends Error {}

async function check(name: string, probe: () => Promise<string>): Promise<Check> {
  try {
    return { name, status: "ok", message: await probe() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { name, status: error instanceof Warning ? "warning" : "error", message };
  }
}

async function configuration(context: CommandContext): Promise<string> {
  for (const { key } of SETTINGS) await context.setting(key);
  const keys = [...(await context.config()).global.keys()];
  const ofProviders = new Set(providerSettingKeys(keys));
  const unknown = keys.filter((key) => !ofProviders.has(key) && !SETTINGS.some((known) => known.key === key));
  if (unknown.length > 0) throw new Warning(`${context.paths.config} has unknown keys: ${unknown.join(", ")}`);
  return existsSync(context.paths.config)
    ? context.paths.config
    : `${context.paths.config} is not there; defaults apply`;
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

async function database(context: CommandContext): Promise<string> {
  if (!existsSync(context.paths.database)) throw new Warning(`${context.paths.database} is not there yet`);
  const store = await context.store();
  const result = await store.read(async (reader) => ({
    check: await reader.get<{ quick_check: string }>("PRAGMA quick_check(1)"),
    schema: await reader.get<{ version: number }>("SELECT MAX(version) AS version FROM schema_migrations"),
  }));
  if (result.check?.quick_check !== "ok")
    throw new AgentsError("store_corrupt", `damaged: ${result.check?.quick_check}`);
  return `${context.paths.database} (schema ${result.schema?.version}, intact)`;
}

async function confinement(): Promise<string> {
  const { confinementHere } = await import("../../execution/confinement/here.ts");
  const { kind, says, next } = await confinementHere();
  if (kind !== "none") return says;
  const remedy = next === undefined ? "" : `; next: ${next}`;
  throw new Warning(
    `${says}: plans refuse to run commands, unless their profile does not require confinement${remedy}`,
  );
}

async function toolDirectories(context: CommandContext): Promise<string> {
  await context.commandPolicy();
  const { shownTools } = await import("../../execution/confinement/view.ts");
  const shown = shownTools();
  const found = shown.length === 0 ? "none besides those of the system" : shown.join(", ");
  return `commands of plans can read: ${found}`;
}

async function git(): Promise<string> {
  const { requireGit } = await import("../../execution/git.ts");
  const version = await requireGit().catch((error: unknown) => {
    throw new Warning(error instanceof Error ? error.message : String(error));
  });
  return `git ${version}`;
}
