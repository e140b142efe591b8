import { homedir } from "node:os";
import { DataDirectory } from "../../platform/data-directory.ts";
import { join, resolve } from "node:path";
import type { Environment } from "../../domain/values/environment.ts";

/** Where data and configuration live: XDG directories, or one directory for everything when the user names it. */
export interface Paths {
  readonly dataDir: string;
  readonly database: string;
  readonly sandboxes: string;
  readonly config: string;
}

export interface PathOptions {
  readonly dataDir?: string | undefined;
  readonly configPath?: string | undefined;
}

/** `cwd`: where relative paths begin. */
export function resolvePaths(options: PathOptions, environment: Environment, cwd: string): Paths {
  const home = environment["HOME"] || homedir();
  const xdg = (variable: string, fallback: string): string => environment[variable] || join(home, fallback);
  const named = options.dataDir ?? (environment["CLEVERAGENTS_DATA_DIR"] || undefined);
  const dataDir = resolve(cwd, named ?? join(xdg("XDG_DATA_HOME", ".local/share"), "cleveragents"));
  const config =
    options.configPath ??
    (environment["CLEVERAGENTS_CONFIG_PATH"] ||
      (named === undefined
        ? join(xdg("XDG_CONFIG_HOME", ".config"), "cleveragents", "config.yaml")
        : join(dataDir, "config.yaml")));
  return {
    dataDir,
    database: new DataDirectory(dataDir).database,
    sandboxes: new DataDirectory(dataDir).sandboxes,
    config: resolve(cwd, config),
  };
}
