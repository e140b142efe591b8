/**
 * Confinement by bubblewrap, which makes the namespaces and the view; where there is a loader, that makes the last
 * calls.
 */
import type { ConfinementBackend } from "./backend.ts";
import { INFO_DESCRIPTOR, LOADER_PATH } from "./backend.ts";
import { commandPolicy } from "./command-policy.ts";
import { listOfCalls } from "./kernel-calls.ts";
import { firstCalls, lastCalls } from "./last-calls.ts";
import { mountsOf, SHARED_MEMORY_BYTES, type Mount, type FileView } from "./mounts.ts";

export function bubblewrap(program: string, loader: number | undefined): ConfinementBackend {
  return {
    kind: "bubblewrap",
    filtered: loader !== undefined,
    loader,
    start: (started, view) => {
      const said = started.recorded && loader !== undefined ? ["--info-fd", `${INFO_DESCRIPTOR}`] : [];
      const args = [...bubblewrapArguments(view), ...said];
      const { environment } = started;
      if (loader === undefined) return { program, args: [...args, "--", ...started.command], environment };
      const calls = listOfCalls([...firstCalls(started), ...lastCalls(started, commandPolicy())]);
      // It waits for the command itself, as the first process.
      const loaded = { calls, descriptor: loader };
      return { program, args: [...args, "--as-pid-1", "--", LOADER_PATH], environment: {}, loaded };
    },
  };
}

/** Settings of the whole machine, which root could write without any privilege. */
const SETTINGS = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];

export function bubblewrapArguments(view: FileView): string[] {
  const mounts = mountsOf(view);
  const closed = mounts.filter(({ kind }) => kind === "empty").flatMap(({ path }) => ["--remount-ro", path]);
  const apart = [
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    ...(view.network === "none" ? ["--unshare-net"] : []),
  ];
  const memory = ["--size", `${SHARED_MEMORY_BYTES}`, "--tmpfs", "/dev/shm"];
  const settings = SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]);
  const devices = ["--dev", "/dev", ...memory, "--remount-ro", "/dev"];
  // Also for root: with them kept, one command would mount everything writable again.
  const limits = ["--cap-drop", "ALL", ...apart, "--die-with-parent", "--chdir", view.cwd];
  const seen = [...mounts.flatMap(mountArguments), "--proc", "/proc", ...settings, ...devices];
  return [...seen, ...closed, "--remount-ro", "/", ...limits];
}

function mountArguments(mount: Mount): string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind", mount.source, mount.path];
    case "write":
      return ["--bind", mount.source, mount.path];
    case "overlay":
      // Since 0.11; whether it works is tried first (layering.ts).
      return ["--overlay-src", mount.lower, "--overlay", mount.upper, mount.work, mount.path];
    case "scratch":
      return ["--size", `${mount.bytes}`, "--tmpfs", mount.path];
    case "empty":
      return ["--tmpfs", mount.path];
    case "blank":
      return ["--ro-bind", "/dev/null", mount.path];
    case "link":
      return ["--symlink", mount.to, mount.path];
  }
}
