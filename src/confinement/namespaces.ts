/**
 * Confinement by nothing but the kernel: util-linux's `unshare` makes the namespaces, and the loader, which is the
 * first process in them, builds the view. A new root is made in memory, filled, and put in place of the old one,
 * which then is not reachable from inside by any path. At last all privileges go, for root too.
 */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { may, must, type KernelCall } from "./kernel-calls.ts";
import { HAS_OWN_HIGHEST_PROCESS, MOST_PROCESSES } from "./limits.ts";
import { mountsOf, SHARED_MEMORY_BYTES, type Mount, type FileView } from "./mounts.ts";

export function unshareArguments(ownNetwork: boolean, userNamespace: boolean): string[] {
  // The user keeps the own number in a namespace of users, and the privileges there that the mounts take, until the
  // loader drops them.
  const user = userNamespace ? USER_NAMESPACE : [];
  return [...user, "--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts", ...(ownNetwork ? ["--net"] : [])];
}

export const USER_NAMESPACE: readonly string[] = ["--user", "--map-current-user", "--keep-caps"];

const OLD = "/oldroot";
const NEW = "/newroot";
/**
 * Where the new root is made before it is one: it must be there, and no program needs what it covers for that moment.
 */
const STAGE = "/proc";

const AT_FDCWD = -100;
const [NOSUID, NODEV, NOEXEC, BIND, RECURSIVE] = [2, 4, 8, 4096, 16384];
const DETACH = 2;
const AT_RECURSIVE = 0x8000;
const [ATTRIBUTE_READ_ONLY, ATTRIBUTE_NOSUID, ATTRIBUTE_NODEV] = [1, 2, 4];
const REGULAR_FILE = 0o100644;

export function viewCalls(view: FileView): KernelCall[] {
  const mounts = mountsOf(view);
  return [
    ...newRoot(),
    ...mounts.flatMap(mountCalls),
    ...processes(),
    ...devices(),
    // Directories in which other mounts lie: nothing is put into them any more.
    ...mounts.filter(({ kind }) => kind === "empty").map(({ path }) => restrict(join(NEW, path), ATTRIBUTE_READ_ONLY)),
    restrict(NEW, ATTRIBUTE_READ_ONLY),
    ...replaceRoot(),
    ...(view.network === "none" ? loopback() : []),
    ...dropPrivileges(),
    must("chdir", [view.cwd], `${view.cwd} cannot be entered`),
  ];
}

function newRoot(): KernelCall[] {
  const failed = "a new root cannot be made";
  return [
    must("mount", ["tmpfs", STAGE, "tmpfs", NOSUID | NODEV, "mode=0755,size=16m"], failed),
    ...[NEW, OLD].map((path) => must("mkdirat", [AT_FDCWD, join(STAGE, path), 0o755], failed)),
    must("mount", [join(STAGE, NEW), join(STAGE, NEW), 0, BIND | RECURSIVE, 0], failed),
    must("pivot_root", [STAGE, join(STAGE, OLD)], failed),
    must("chdir", ["/"], failed),
  ];
}

function mountCalls(mount: Mount): KernelCall[] {
  const target = join(NEW, mount.path);
  const failed = `${mount.path} cannot be mounted`;
  switch (mount.kind) {
    case "read":
    case "write":
      return [
        ...place(mount.path, isFile(mount.source)),
        must("mount", [join(OLD, mount.source), target, 0, BIND | RECURSIVE, 0], failed),
        restrict(target, mount.kind === "read" ? ATTRIBUTE_READ_ONLY : 0, AT_RECURSIVE),
      ];
    case "overlay":
      return [must("mount", ["overlay", target, "overlay", NOSUID | NODEV, overlayOptions(mount)], failed)];
    case "scratch":
      return [
        ...place(mount.path, false),
        must("mount", ["tmpfs", target, "tmpfs", NOSUID | NODEV, `mode=1777,size=${mount.bytes}`], failed),
      ];
    case "empty":
      return [must("mount", ["tmpfs", target, "tmpfs", NOSUID | NODEV, "mode=0755,size=1m"], failed)];
    case "blank":
      return [
        must("mount", [join(OLD, "/dev/null"), target, 0, BIND, 0], failed),
        restrict(target, ATTRIBUTE_READ_ONLY),
      ];
    case "link":
      return [...directories(dirname(mount.path)), may("symlinkat", [mount.to, AT_FDCWD, target])];
  }
}

/** As an ordinary user may mount it, with what it notes about files in attributes of the user's. */
function overlayOptions({ lower, upper, work }: Extract<Mount, { kind: "overlay" }>): string {
  const named = Object.entries({ lowerdir: lower, upperdir: upper, workdir: work });
  return ["userxattr", ...named.map(([name, path]) => `${name}=${join(OLD, path).replace(/[\\,:]/g, "\\$&")}`)].join(
    ",",
  );
}

/** Something to mount on. Where it is there already these fail, and the mount says if it is not. */
function place(path: string, file: boolean): KernelCall[] {
  if (!file) return directories(path);
  return [...directories(dirname(path)), may("mknodat", [AT_FDCWD, join(NEW, path), REGULAR_FILE, 0])];
}

function directories(path: string): KernelCall[] {
  if (path === "/") return [];
  return [...directories(dirname(path)), may("mkdirat", [AT_FDCWD, join(NEW, path), 0o755])];
}

/** Makes a mount forbid more, below it too if wanted; the restrictions of the system there stay. */
function restrict(target: string, attributes: number, flags = 0): KernelCall {
  const wanted = Buffer.alloc(32);
  wanted.writeBigUInt64LE(BigInt(attributes | ATTRIBUTE_NOSUID | ATTRIBUTE_NODEV), 0);
  const args = [AT_FDCWD, target, flags, wanted, wanted.length];
  return must("mount_setattr", args, `${target.slice(NEW.length)} cannot be made read-only (Linux 5.12 can)`);
}

/** Settings and parts of the whole machine, which root could write without any privilege. */
const SETTINGS = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "asound"];

function processes(): KernelCall[] {
  const target = join(NEW, "/proc");
  const failed = "/proc cannot be mounted";
  const own = HAS_OWN_HIGHEST_PROCESS
    ? [
        may("openat", [AT_FDCWD, join(target, "sys/kernel/pid_max"), 1, 0]),
        may("write", [3, Buffer.from(`${MOST_PROCESSES}`), `${MOST_PROCESSES}`.length]),
        may("close", [3]),
      ]
    : [];
  return [
    ...directories("/proc"),
    must("mount", ["proc", target, "proc", NOSUID | NODEV | NOEXEC, 0], failed),
    ...own,
    ...SETTINGS.filter((name) => existsSync(join("/proc", name))).flatMap((name) => [
      must("mount", [join(target, name), join(target, name), 0, BIND, 0], failed),
      restrict(join(target, name), ATTRIBUTE_READ_ONLY),
    ]),
  ];
}

const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS = {
  fd: "/proc/self/fd",
  stdin: "/proc/self/fd/0",
  stdout: "/proc/self/fd/1",
  stderr: "/proc/self/fd/2",
  ptmx: "pts/ptmx",
} as const;

function devices(): KernelCall[] {
  const target = join(NEW, "/dev");
  const failed = "/dev cannot be made";
  const shared = `mode=1777,size=${SHARED_MEMORY_BYTES}`;
  return [
    ...directories("/dev"),
    must("mount", ["tmpfs", target, "tmpfs", NOSUID, "mode=0755,size=64k"], failed),
    ...DEVICES.flatMap((name) => [
      ...place(join("/dev", name), true),
      must("mount", [join(OLD, "/dev", name), join(target, name), 0, BIND, 0], failed),
    ]),
    ...Object.entries(DEVICE_LINKS).map(([name, to]) => must("symlinkat", [to, AT_FDCWD, join(target, name)], failed)),
    ...directories("/dev/pts"),
    ...directories("/dev/shm"),
    must(
      "mount",
      ["devpts", join(target, "pts"), "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620"],
      failed,
    ),
    must("mount", ["tmpfs", join(target, "shm"), "tmpfs", NOSUID | NODEV, shared], failed),
    restrict(target, ATTRIBUTE_READ_ONLY),
  ];
}

function replaceRoot(): KernelCall[] {
  const failed = "the old root cannot be left";
  return [
    must("umount2", [OLD, DETACH], failed),
    must("chdir", [NEW], failed),
    must("pivot_root", [".", "."], failed),
    must("umount2", [".", DETACH], failed),
    must("chdir", ["/"], failed),
  ];
}

/**
 * The device for 127.0.0.1 is there in a new namespace, but not up. After all descriptors were closed the socket is
 * number 3.
 */
export function loopback(): KernelCall[] {
  const request = Buffer.alloc(40);
  request.write("lo");
  request.writeUInt16LE(0x41, 16);
  const [AF_INET, SOCK_DGRAM, SIOCSIFFLAGS] = [2, 2, 0x8914];
  return [may("socket", [AF_INET, SOCK_DGRAM, 0]), may("ioctl", [3, SIOCSIFFLAGS, request]), may("close", [3])];
}

function dropPrivileges(): KernelCall[] {
  const [PR_CAPBSET_DROP, PR_CAP_AMBIENT, CLEAR_ALL] = [24, 47, 4];
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x20080522, 0);
  return [
    // As many as there may ever be: those that a kernel does not know yet fail.
    ...Array.from({ length: 64 }, (_, capability) => may("prctl", [PR_CAPBSET_DROP, capability, 0, 0, 0])),
    may("prctl", [PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0]),
    must("capset", [header, Buffer.alloc(24)], "privileges cannot be dropped"),
  ];
}

function isFile(path: string): boolean {
  return statSync(path).isFile();
}
