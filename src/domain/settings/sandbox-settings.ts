import { listOf } from "./context-settings.ts";
import type { Setting } from "./settings.ts";
import { relativePathProblem } from "../plan/change-entry.ts";
import { shown, textProblem } from "../text/text.ts";

/**
 * Where tools are that people install for themselves, below their home: commands of plans see these, read-only, and
 * nothing else there. None of them holds keys or passwords: of `.cargo`, `.gem` and `go` they are only the parts that
 * hold none, and no place for settings is among them (`.config`, `.npmrc`, `.m2`, `.gradle`).
 */
export const TOOL_DIRECTORIES: readonly string[] = `
  .asdf .bun/bin .bun/install .cabal/bin .cargo/bin .cargo/registry .deno/bin .dotnet .fnm .gem/ruby .ghcup
  .juliaup .linuxbrew .local/bin .local/pipx .local/share/fnm .local/share/mise .local/share/pipx
  .local/share/pnpm .local/share/pypoetry .local/share/uv .npm-global .nvm .opam .proto .pyenv .rbenv .rustup
  .sdkman .stack/programs .volta anaconda3 go/bin go/pkg mambaforge miniconda3 miniforge3
`
  .trim()
  .split(/\s+/);

const BUILT_IN = "default";
const NONE = "none";

/** The directories that a value names. */
export function toolDirectoriesOf(value: string | undefined): string[] {
  if (value === NONE) return [];
  return listOf(value ?? BUILT_IN).flatMap((item) => (item === BUILT_IN ? TOOL_DIRECTORIES : [item]));
}

/**
 * The directories of a checkout that hold installed packages. A command can do without writing into them, so where
 * nothing better works they are shown read-only.
 */
export const DEPENDENCY_NAMES: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "venv",
  "__pypackages__",
  "vendor",
  "Pods",
  "deps",
]);
/** The directories of a checkout that builds write into: useful only where a command can write to them. */
const BUILD_NAMES = [
  "target",
  ".gradle",
  ".next",
  "dist",
  "build",
  ".tox",
  ".nox",
  "_build",
  ".stack-work",
  ".dart_tool",
];

export interface CarryRules {
  /** Names of directories, at any depth. */
  readonly names: readonly string[];
  /** Paths from the top of the checkout, which may be files. */
  readonly paths: readonly string[];
  /** Whether the caches of package managers are readable. */
  readonly caches: boolean;
}

/** The part of all that git ignores in the checkout that comes along into a sandbox by this value. */
export function carryRulesOf(value: string | undefined): CarryRules {
  const items = value === NONE ? [] : listOf(value ?? BUILT_IN);
  const usual = items.includes(BUILT_IN);
  return {
    names: usual ? [...DEPENDENCY_NAMES, ...BUILD_NAMES] : [],
    paths: items.filter((item) => item !== BUILT_IN).map((item) => item.replace(/\/+$/, "")),
    caches: usual,
  };
}

function carryProblem(item: string): string | undefined {
  const problem = relativePathProblem(item.replace(/\/+$/, ""));
  return problem === undefined ? undefined : `${shown(item)} ${problem}`;
}

/** Variables by their names. */
export function variablesOf(value: string | undefined): string[] {
  return listOf(value);
}

function directoryProblem(item: string): string | undefined {
  const segments = item.split("/");
  const unclear = segments.some((segment) => segment === "." || segment === "..") || item === "/" || item === "";
  if (!unclear && !item.startsWith("~") && textProblem(item, 4096) === undefined) return undefined;
  return `${shown(item)} is neither an absolute directory nor one below your home, like .cargo/bin`;
}

export const SANDBOX_SETTINGS: readonly Setting[] = [
  {
    key: "sandbox.tool-directories",
    env: "CLEVERAGENTS_SANDBOX_TOOL_DIRECTORIES",
    default: BUILT_IN,
    description: `Directories that commands of plans can read although they are hidden, comma-separated: absolute, or below your home; "${BUILT_IN}" stands for the usual ones, "${NONE}" for no directory`,
    perProject: false,
    problem: (value) => {
      const items = listOf(value);
      if (items.length === 0) return `must name at least one, or be "${NONE}"`;
      return value === NONE ? undefined : items.map(directoryProblem).find((found) => found !== undefined);
    },
  },
  {
    key: "sandbox.carry",
    env: "CLEVERAGENTS_SANDBOX_CARRY",
    default: BUILT_IN,
    description: `The part of all that git ignores in your checkout that comes along into the sandbox, divided by commas: paths in it; "${BUILT_IN}" stands for the usual directories of dependencies and builds and for the caches of package managers, "${NONE}" for nothing`,
    perProject: true,
    problem: (value) => {
      const items = listOf(value);
      if (items.length === 0) return `must name at least one, or be "${NONE}"`;
      return value === NONE ? undefined : items.map(carryProblem).find((found) => found !== undefined);
    },
  },
  {
    key: "sandbox.setup",
    env: "CLEVERAGENTS_SANDBOX_SETUP",
    default: undefined,
    description:
      "The command that installs the dependencies of a project, such as npm ci; it runs once for each state of the lockfiles, confined like every command",
    perProject: true,
    problem: (value) => textProblem(value, 4096),
  },
  {
    key: "sandbox.registries",
    env: "CLEVERAGENTS_SANDBOX_REGISTRIES",
    default: undefined,
    description:
      "Registries of packages that commands of plans may reach where their profile says network: registries, besides those that your package managers are set to: hosts, with or without a port, divided by commas",
    perProject: true,
    problem: (value) =>
      listOf(value)
        .filter((item) => !/^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(item))
        .map((item) => `${shown(item)} is not a host like packages.example.com or 127.0.0.1:4873`)[0],
  },
  {
    key: "sandbox.environment",
    env: "CLEVERAGENTS_SANDBOX_ENVIRONMENT",
    default: undefined,
    description:
      "Variables of your environment that commands of plans get besides the usual ones, divided by commas; also those that hold a secret",
    perProject: true,
    problem: (value) =>
      listOf(value)
        .filter((name) => !/^[A-Za-z_]\w*$/.test(name) || name === "HOME" || name === "PATH")
        .map((name) => `${shown(name)} is not the name of a variable that can be given`)[0],
  },
  {
    key: "sandbox.unix-sockets",
    env: "CLEVERAGENTS_SANDBOX_UNIX_SOCKETS",
    default: "off",
    description:
      "on: commands of plans may make Unix sockets, and so reach any in the directories they can read; off: they may not",
    perProject: false,
    problem: (value) => (value === "on" || value === "off" ? undefined : 'must be "on" or "off"'),
  },
];
