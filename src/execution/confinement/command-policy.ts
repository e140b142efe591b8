/**
 * What holds for every command of this process, besides what it is started with: set once, by the surface that knows the user's
 * settings, before anything runs. A command of a library that sets nothing gets the defaults.
 */
export interface CommandPolicy {
  /** Hidden wherever they are: the data directory, the configuration. */
  readonly hidden: readonly string[];
  /** Below the user's home, or absolute: shown read-only where they exist. */
  readonly toolDirectories: readonly string[];
  /** Whether a command may make Unix sockets. */
  readonly unixSockets: boolean;
}

/**
 * Where tools are that people install for themselves. None of these holds keys or passwords: of `.cargo`, `.gem` and `go` only the
 * parts that hold none, and no place for settings (`.config`, `.npmrc`, `.m2`, `.gradle`).
 */
export const TOOL_DIRECTORIES: readonly string[] = [
  ...[
    ".asdf",
    ".bun/bin",
    ".bun/install",
    ".cabal/bin",
    ".cargo/bin",
    ".cargo/registry",
    ".deno/bin",
    ".dotnet",
    ".fnm",
  ],
  ...[
    ".gem/ruby",
    ".ghcup",
    ".juliaup",
    ".linuxbrew",
    ".local/bin",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
  ],
  ...[
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/pypoetry",
    ".local/share/uv",
    ".npm-global",
    ".nvm",
    ".opam",
  ],
  ...[".proto", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".stack/programs", ".volta", "go/bin", "go/pkg"],
  ...["anaconda3", "mambaforge", "miniconda3", "miniforge3"],
];

let current: CommandPolicy = { hidden: [], toolDirectories: TOOL_DIRECTORIES, unixSockets: false };

export function setCommandPolicy(policy: Partial<CommandPolicy>): void {
  current = { ...current, ...policy };
}

export function commandPolicy(): CommandPolicy {
  return current;
}
