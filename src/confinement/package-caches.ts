/**
 * The caches of package managers, which a command finds at their usual places below its own home. Only the directories
 * that hold packages are named: the files beside them (`.npmrc`, `.cargo/credentials.toml`, `.m2/settings.xml`,
 * `gradle.properties`) hold keys and stay hidden.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import { commandPolicy } from "./command-policy.ts";
import type { Environment } from "../domain/values/environment.ts";

export interface PackageCache {
  /** Below the command's home. */
  readonly at: string;
  readonly source: string;
}

/** Below the home, unless one of the variables names the directory around the last part, or the cache itself. */
interface Place {
  readonly at: string;
  readonly named?: readonly { readonly variable: string; readonly below: string }[];
}

const PLACES: readonly Place[] = [
  {
    at: ".npm/_cacache",
    named: ["npm_config_cache", "NPM_CONFIG_CACHE"].map((variable) => ({ variable, below: "_cacache" })),
  },
  { at: ".cargo/registry", named: [{ variable: "CARGO_HOME", below: "registry" }] },
  { at: ".cargo/git", named: [{ variable: "CARGO_HOME", below: "git" }] },
  {
    at: "go/pkg/mod",
    named: [
      { variable: "GOMODCACHE", below: "" },
      { variable: "GOPATH", below: "pkg/mod" },
    ],
  },
  { at: ".cache/pip", named: [{ variable: "PIP_CACHE_DIR", below: "" }] },
  { at: ".cache/uv", named: [{ variable: "UV_CACHE_DIR", below: "" }] },
  { at: ".gradle/caches", named: [{ variable: "GRADLE_USER_HOME", below: "caches" }] },
  { at: ".gradle/wrapper", named: [{ variable: "GRADLE_USER_HOME", below: "wrapper" }] },
  ...[
    ".cache/Cypress",
    ".cache/composer",
    ".cache/coursier",
    ".cache/deno",
    ".cache/go-build",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/node-gyp",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/puppeteer",
    ".cache/pypoetry/virtualenvs",
    ".cache/yarn",
    ".bun/install/cache",
    ".ivy2/cache",
    ".local/share/pnpm/store",
    ".local/share/virtualenvs",
    ".m2/repository",
    ".m2/wrapper",
    ".nuget/packages",
    ".pub-cache/hosted",
    ".yarn/berry/cache",
  ].map((at) => ({ at })),
];

export function packageCaches(environment: Environment = commandPolicy().environment): PackageCache[] {
  const { caches, hidden } = { ...commandPolicy().carry, hidden: commandPolicy().hidden };
  if (!caches) return [];
  return PLACES.flatMap(({ at, named = [] }) => {
    const given = named.flatMap(({ variable, below }) => {
      const value = environment[variable];
      return value === undefined || value === "" ? [] : [join(value, below)];
    });
    const source = [...given, join(homedir(), at)].find(isDirectory);
    if (source === undefined) return [];
    const real = realpathSync.native(source);
    // A variable that names a place around our own files would show them.
    const ours = hidden.some((path) => `${path}${sep}`.startsWith(`${real}${sep}`));
    return ours || real === homedir() ? [] : [{ at, source: real }];
  });
}

function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
