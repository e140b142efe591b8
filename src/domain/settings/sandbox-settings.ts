import { listOf } from "./context-settings.ts";
import type { Setting } from "./settings.ts";
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
    key: "sandbox.unix-sockets",
    env: "CLEVERAGENTS_SANDBOX_UNIX_SOCKETS",
    default: "off",
    description:
      "on: commands of plans may make Unix sockets, and so reach any in the directories they can read; off: they may not",
    perProject: false,
    problem: (value) => (value === "on" || value === "off" ? undefined : 'must be "on" or "off"'),
  },
];
