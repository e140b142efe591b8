/**
 * The process that holds a lease, described so that another process can tell whether it still runs. A process id alone
 * is not enough: ids are used again, start from the beginning with each boot, and mean something else in another
 * namespace.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface LeaseOwner {
  readonly host: string;
  /** Tells one run of the machine from the next; empty where the system does not say. */
  readonly boot: string;
  /** Process-id namespace, process id, and when it began, as the system counts. */
  readonly process: string;
}

let own: LeaseOwner | undefined;

export function thisProcess(): LeaseOwner {
  own ??= {
    host: hostname(),
    boot: read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "",
    process: `${namespace()} ${process.pid} ${statOf(process.pid)?.born ?? "-"}`,
  };
  return own;
}

/**
 * Milliseconds on a clock that runs from boot to boot and that no user can set. All processes of one boot share it
 * (Linux: `CLOCK_MONOTONIC`).
 */
export function currentTick(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export function isSameBoot(a: LeaseOwner, b: LeaseOwner): boolean {
  return a.host === b.host && a.boot !== "" && a.boot === b.boot;
}

/** True only with proof: a process that cannot be seen from here may be alive. A stopped process is alive. */
export function isDead(owner: LeaseOwner, self: LeaseOwner = thisProcess()): boolean {
  if (owner.host !== self.host) return false;
  if (owner.boot !== "" && self.boot !== "" && owner.boot !== self.boot) return true;
  const [space, id, born] = owner.process.split(" ");
  if (space !== self.process.split(" ")[0]) return false;
  const pid = Number(id);
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  if (!exists(pid)) return true;
  const found = statOf(pid);
  if (found === undefined || born === "-") return false;
  // Killed and not yet collected by its parent, or another process under the same number.
  return found.state === "Z" || found.state === "X" || found.born !== born;
}

/** Asked of the kernel and not of /proc, which may hide the processes of other users. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

function statOf(pid: number): { readonly state: string; readonly born: string } | undefined {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The program's name comes second, in parentheses, and may hold anything.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const born = rest[18];
  return state === undefined || born === undefined ? undefined : { state, born };
}

function namespace(): string {
  return read(() => readlinkSync("/proc/self/ns/pid")) ?? "-";
}

function read(source: () => string): string | undefined {
  try {
    return source();
  } catch {
    // Not Linux, or hidden: then less is known.
    return undefined;
  }
}
