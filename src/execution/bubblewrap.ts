import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { findProgram } from "../store/programs.ts";

/** Whether commands can be confined: bubblewrap is installed, and this system lets it work. */
let known: Promise<boolean> | undefined;

export function canConfine(): Promise<boolean> {
  known ??= works();
  return known;
}

/** Tried with all that a command is confined by: some containers allow one part of it and not another. */
async function works(): Promise<boolean> {
  if (findProgram("bwrap") === undefined) return false;
  const [program = "", ...args] = confined(["true"], { readable: [], writable: [], cwd: "/", network: false });
  return promisify(execFile)(program, args).then(
    () => true,
    () => false,
  );
}

export interface Confinement {
  /** Readable although they may lie where everything else is hidden. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly network: boolean;
}

/** Besides scratch space, the sockets of other programs are there (agents for keys, containers, desktops), and those obey whoever connects. */
const HIDDEN = ["/tmp", "/var/tmp", "/run"];

/** Programs themselves on some systems; and who is who on the network. */
const SHOWN_AGAIN = ["/run/current-system", "/run/wrappers"];
const NAME_SERVICE = "/run/systemd/resolve";

/** Settings of the whole machine, which root could write without any capability. */
const SETTINGS = ["/proc/sys", "/proc/sysrq-trigger"];

/**
 * The command line that runs `command` with only `writable` writable, and with the network only when it is allowed. Without
 * capabilities, also for root: one who keeps them mounts everything writable again with one command.
 */
export function confined(command: readonly string[], confinement: Confinement): string[] {
  const { readable, writable, cwd, network } = confinement;
  const hidden = HIDDEN.filter((directory) => existsSync(directory)).flatMap((directory) => ["--tmpfs", directory]);
  const shown = [...SETTINGS, ...SHOWN_AGAIN, ...(network ? [NAME_SERVICE] : []), ...readable];
  const view = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...hidden];
  const seen = shown.flatMap((path) => ["--ro-bind-try", path, path]);
  const open = writable.flatMap((directory) => ["--bind", directory, directory]);
  const apart = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", ...(network ? [] : ["--unshare-net"])];
  const limits = ["--cap-drop", "ALL", ...apart, "--die-with-parent", "--chdir", cwd];
  return [findProgram("bwrap") ?? "bwrap", ...view, ...seen, ...open, ...limits, "--", ...command];
}
