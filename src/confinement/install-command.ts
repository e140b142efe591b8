/** The command that a user is told to run where bubblewrap is missing. */
import { findProgram } from "../platform/programs.ts";

/** The package managers of systems on which bubblewrap is a package of that name. */
const MANAGERS: readonly (readonly [program: string, words: string])[] = [
  ["apt-get", "apt install bubblewrap"],
  ["dnf", "dnf install bubblewrap"],
  ["zypper", "zypper install bubblewrap"],
  ["pacman", "pacman -S bubblewrap"],
  ["apk", "apk add bubblewrap"],
];

/** The command that installs bubblewrap on this system; undefined where no known package manager is found. */
export function installCommand(): string | undefined {
  const words = MANAGERS.find(([program]) => findProgram(program) !== undefined)?.[1];
  if (words === undefined) return undefined;
  return process.getuid?.() === 0 ? words : `sudo ${words}`;
}
