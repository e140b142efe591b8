import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Whether commands can be confined: bubblewrap is installed, and this system lets it work. */
let known: Promise<boolean> | undefined;

export function canConfine(): Promise<boolean> {
  known ??= works();
  return known;
}

/** Tried with all that a command is confined by: some containers allow one part of it and not another. */
async function works(): Promise<boolean> {
  const [program = "", ...args] = confined(["true"], { writable: [], cwd: "/", network: false });
  return promisify(execFile)(program, args).then(
    () => true,
    () => false,
  );
}

/**
 * The command line that runs `command` with only `writable` writable, and with the network only when it is allowed. What is
 * `readable` is seen also where it would be hidden: below the directory of temporary files, which the command has for itself.
 */
export function confined(
  command: readonly string[],
  options: { readable?: readonly string[]; writable: readonly string[]; cwd: string; network: boolean },
): string[] {
  const { readable = [], writable, cwd, network } = options;
  const view = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"];
  const open = [
    ...readable.flatMap((directory) => ["--ro-bind", directory, directory]),
    ...writable.flatMap((directory) => ["--bind", directory, directory]),
  ];
  const limits = ["--chdir", cwd, "--unshare-pid", "--die-with-parent", ...(network ? [] : ["--unshare-net"])];
  return ["bwrap", ...view, ...open, ...limits, "--", ...command];
}
