/**
 * The answers that need no application: the version and the pages of help. The build writes the pages with the words of
 * `program.ts`, so that a question for help loads neither the table of operations nor the libraries behind it.
 * Measured: help and version take half the time of a program that is loaded whole.
 */
import { existsSync, readFileSync } from "node:fs";
import { VERSION } from "../../app/base/package-version.ts";
import { resolvePaths } from "../../app/base/paths.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface QuickQuestion {
  readonly argv: readonly string[];
  readonly environment: Environment;
  readonly cwd: string;
  /** Of the terminal; undefined where output goes elsewhere. */
  readonly columns: () => number | undefined;
  /** The pages of help by the words that ask for them; written by the build. */
  readonly helpFile: string;
}

/** The width of every page of help on a terminal that is wide enough. */
export const HELP_COLUMNS = 80;

/** Undefined where the whole program must answer. */
export function quickAnswer(asked: QuickQuestion): string | undefined {
  const { argv } = asked;
  if (argv.length === 1 && ["version", "--version", "-V"].includes(argv[0] ?? ""))
    return formatIsDefault(asked) ? versionLine(process.versions) : undefined;
  const last = argv.at(-1);
  if (last !== "--help" && last !== "-h") return undefined;
  if ((asked.columns() ?? HELP_COLUMNS) < HELP_COLUMNS || !existsSync(asked.helpFile)) return undefined;
  const pages: Readonly<Record<string, string>> = JSON.parse(readFileSync(asked.helpFile, "utf8"));
  const path = argv.slice(0, -1).join(" ");
  return Object.hasOwn(pages, path) ? pages[path] : undefined;
}

export function versionLine(versions: Readonly<Record<string, string | undefined>>): string {
  return `CleverAgents ${VERSION} (Node ${versions["node"] ?? "?"}, SQLite ${versions["sqlite"] ?? "?"})\n`;
}

/** Whether nothing the user set can ask for another format; the whole program reads what it is. */
function formatIsDefault({ environment, cwd }: QuickQuestion): boolean {
  if (environment["CLEVERAGENTS_FORMAT"] !== undefined) return false;
  const { config } = resolvePaths({}, environment, cwd);
  return !existsSync(config) || !readFileSync(config, "utf8").includes("format");
}
