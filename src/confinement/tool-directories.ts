/**
 * Where the tools are that a command may start although they lie in a hidden place, and what tells them where they
 * are.
 */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { searchPath } from "../platform/programs.ts";
import { commandPolicy } from "./command-policy.ts";

export function toolDirectories(): string[] {
  const home = homedir();
  const { toolDirectories: shown, environment } = commandPolicy();
  const own = shown.map((directory) => join(isAbsolute(directory) ? "/" : home, directory));
  const named = NAMING.flatMap((variable) => environment[variable] ?? []).filter((directory) => isAbsolute(directory));
  const found = [
    ...own,
    ...named,
    ...searchPath(environment["PATH"]).split(delimiter),
    dirname(process.execPath),
  ].filter(isDirectory);
  return [...new Set(found.map((directory) => installationOf(directory, home)))];
}

/**
 * Programs in a `bin` often need what lies beside it. That is shown only where it is known to be an installation:
 * anything else beside a directory of PATH may be a checkout with its secrets, and then the directory alone is shown.
 */
function installationOf(bin: string, home: string): string {
  const parent = dirname(bin);
  if (parent === home || parent === "/") return bin;
  if (basename(parent) === "node_modules" && basename(bin) === ".bin") return parent;
  return MARKS.some((mark) => existsSync(join(parent, mark))) ? parent : bin;
}

const MARKS = ["pyvenv.cfg", "conda-meta", "lib/node_modules/npm"];

/** Variables that name the directory of an installation, in any place the user has put it. */
const NAMING = `
  ANDROID_HOME ANDROID_SDK_ROOT ASDF_DATA_DIR ASDF_DIR CONDA_PREFIX DOTNET_ROOT FNM_DIR GOROOT GRADLE_HOME JAVA_HOME
  JDK_HOME MAVEN_HOME MISE_DATA_DIR NVM_DIR OPAM_SWITCH_PREFIX PLAYWRIGHT_BROWSERS_PATH PYENV_ROOT RBENV_ROOT
  RUSTUP_HOME SDKMAN_DIR VIRTUAL_ENV VOLTA_HOME
`
  .trim()
  .split(/\s+/);

/** One that we may not even look at is of no use to a command. */
function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/**
 * Files that hold keys or passwords in the directories of some tools; hidden where a setting shows such a directory.
 */
export const SECRET_FILES = [
  "credentials",
  "credentials.toml",
  ".credentials",
  ".npmrc",
  ".netrc",
  ".pypirc",
  ".env",
  "auth.json",
];

/** Tools that look for themselves below HOME, which is another one for a command. */
const VARIABLES: Readonly<Record<string, string>> = {
  ".asdf": "ASDF_DATA_DIR",
  ".local/share/mise": "MISE_DATA_DIR",
  ".nvm": "NVM_DIR",
  ".pyenv": "PYENV_ROOT",
  ".rbenv": "RBENV_ROOT",
  ".rustup": "RUSTUP_HOME",
  ".sdkman": "SDKMAN_DIR",
  ".volta": "VOLTA_HOME",
};

export function toolVariables(): Record<string, string> {
  const home = homedir();
  const there = Object.entries(VARIABLES).filter(([directory]) => existsSync(join(home, directory)));
  return Object.fromEntries(there.map(([directory, variable]) => [variable, join(home, directory)]));
}
