/**
 * The files that a command sees. The view begins with an empty root, in which the directories of the system are shown
 * read-only, and then the command's own. So a forgotten path is hidden. Each backend makes the same view.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir, totalmem, userInfo } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { commandPolicy } from "./command-policy.ts";
import { SECRET_FILES, toolDirectories } from "./tool-directories.ts";

/**
 * `none`: a network namespace of its own, with nothing but 127.0.0.1. `room`: the one it is started in
 * (network-room.ts). `open`: the machine's.
 */
type ViewNetwork = "none" | "room" | "open";

export interface FileView {
  /** Shown read-only, also where everything around them is hidden. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Hidden, also below something that is shown. */
  readonly hidden: readonly string[];
  readonly cwd: string;
  readonly network: ViewNetwork;
  /** Mounted last. Each place is a directory that is there already, in something that is writable. */
  readonly layers?: readonly Layer[];
  /** Names that lead to something that is shown, where nothing else has them. */
  readonly links?: readonly { readonly path: string; readonly to: string }[];
}

/** A directory or a file of the user's at a place of the command's own. The user's bytes stay as they are. */
export type Layer =
  /** Writable: what is written goes to `upper`. */
  | {
      readonly kind: "overlay";
      readonly path: string;
      readonly lower: string;
      readonly upper: string;
      readonly work: string;
    }
  /** Writable: the source is a copy. */
  | { readonly kind: "write"; readonly path: string; readonly source: string }
  /** With the names in it that are hidden. */
  | { readonly kind: "read"; readonly path: string; readonly source: string; readonly blank: readonly string[] };

export type Mount =
  | { readonly kind: "read" | "write"; readonly path: string; readonly source: string }
  | Extract<Layer, { kind: "overlay" }>
  /** Writable, in memory, up to a size, and gone with the command. */
  | { readonly kind: "scratch"; readonly path: string; readonly bytes: number }
  /** Instead of a directory that is hidden. */
  | { readonly kind: "empty"; readonly path: string }
  /** Instead of a file that is hidden. */
  | { readonly kind: "blank"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly to: string };

const MEBIBYTE = 1024 * 1024;

/** In memory, which all of the machine shares. */
const SCRATCH_BYTES: number = Math.min(1024 * MEBIBYTE, Math.floor(totalmem() / 4));
export const SHARED_MEMORY_BYTES: number = Math.min(256 * MEBIBYTE, Math.floor(totalmem() / 8));
const RUN_BYTES: number = 16 * MEBIBYTE;

/**
 * Not `/var`, `/srv`, `/mnt`, `/media`, `/boot`, and nothing that a system has of its own: there may be anything in
 * it.
 */
const SYSTEM = `
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /var/lib/dpkg /var/lib/gems /var/lib/texmf
  /var/cache/fontconfig /var/guix /sys/devices/system /sys/fs/cgroup /sys/kernel/mm /run/current-system
  /run/wrappers
`
  .trim()
  .split(/\s+/);
const NAME_SERVICE = "/run/systemd/resolve";

/** Only root can read these: a command of root's would. */
const SECRETS_OF_ROOT = `
  shadow shadow- gshadow gshadow- sudoers sudoers.d krb5.keytab ssl/private wireguard openvpn
  ssh/ssh_host_rsa_key ssh/ssh_host_ecdsa_key ssh/ssh_host_ed25519_key NetworkManager/system-connections
  kubernetes rancher
`
  .trim()
  .split(/\s+/)
  .map((name) => join("/etc", name));

/**
 * In the order in which they are mounted: what is deeper comes later, and on one path what is stricter about reading
 * comes first.
 */
export function mountsOf(view: FileView): Mount[] {
  const ours = [...commandPolicy().hidden, ...view.hidden];
  const hidden = [...ours, ...homes(), ...(process.getuid?.() === 0 ? SECRETS_OF_ROOT : [])];
  const tools = safeTools(ours);
  const secrets = tools.flatMap((directory) => SECRET_FILES.map((name) => join(directory, name)));
  const wanted = [
    ...[...SYSTEM, ...(view.network === "open" ? [NAME_SERVICE] : [])].flatMap(systemPlace),
    { kind: "scratch", path: "/tmp", bytes: SCRATCH_BYTES } as const,
    { kind: "scratch", path: "/run", bytes: RUN_BYTES } as const,
    { kind: "link", path: "/var/tmp", to: "../tmp" } as const,
    ...(view.links ?? []).map((link) => ({ kind: "link", ...link }) as const),
    ...[...hidden, ...secrets].flatMap(nothing),
    ...[...tools, ...commandPolicy().shownDirectories, ...view.readable].flatMap((path) => shown("read", path)),
    ...view.writable.flatMap((path) => shown("write", path)),
  ];
  const depth = ({ path }: Mount): number => path.split("/").length;
  const kept: Mount[] = [];
  // A stable sort: on one path the order above decides.
  for (const mount of wanted.toSorted((a, b) => depth(a) - depth(b))) {
    const around = kept.findLast(({ path }) => mount.path === path || mount.path.startsWith(`${path}/`));
    const seen = around?.kind === "read" || around?.kind === "write";
    // Known by a second name, through a link that is there as well; or a link of ours leads to something else.
    if (around?.kind === "link" && "source" in mount) continue;
    if ((mount.kind === "link" || mount.kind === "read") && seen) continue;
    if ((mount.kind === "empty" || mount.kind === "blank") && !seen) continue;
    kept.push(mount);
  }
  return [...kept, ...(view.layers ?? []).flatMap(layerMounts)];
}

function layerMounts(layer: Layer): Mount[] {
  if (layer.kind !== "read") return [layer];
  const { path, source } = layer;
  const blank = layer.blank.map((name) => ({ kind: "blank", path: join(path, name) }) as const);
  return [{ kind: "read", path, source }, ...blank];
}

/** The directories of tools that a command sees besides those of the system. */
export function shownTools(): string[] {
  const system = SYSTEM.flatMap((path) => real(path) ?? []);
  const elsewhere = (tool: string): boolean => !system.some((path) => isBelow(real(tool) ?? tool, path));
  const found = safeTools(commandPolicy().hidden).filter(elsewhere);
  return found.filter((tool) => !found.some((other) => other !== tool && isBelow(tool, other))).sort();
}

/** One that holds a home, or holds or lies in what is ours, shows too much, also when PATH names it. */
function safeTools(ours: readonly string[]): string[] {
  const [kept, own] = [homes(), ours].map((paths) => paths.flatMap((path) => real(path) ?? []));
  return toolDirectories().filter((directory) => {
    const tool = real(directory) ?? directory;
    if (kept?.some((home) => isBelow(home, tool)) === true) return false;
    return own?.some((path) => isBelow(path, tool) || isBelow(tool, path)) !== true;
  });
}

function isBelow(path: string, directory: string): boolean {
  return directory === "/" || `${path}/`.startsWith(`${directory}/`);
}

/** The user's, as the environment and as the system knows it; in a container the system may not know the user. */
function homes(): string[] {
  const known = [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      return [ask()];
    } catch {
      return [];
    }
  });
  return [...new Set(known)].filter((home) => home !== "/");
}

function systemPlace(path: string): Mount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  // Absolute ones would be read from the root that they are made in, which is not the one they are for yet.
  if (found.isSymbolicLink() && dirname(path) === "/") {
    return [{ kind: "link", path, to: relative("/", resolve("/", readlinkSync(path))) }];
  }
  return shown("read", path);
}

/** At its real path, and at the one it is known by where links lead to it. One that is not there is not shown. */
function shown(kind: "read" | "write", path: string): Extract<Mount, { source: string }>[] {
  const source = real(path);
  if (source === undefined) return [];
  const places = [...new Set([source, resolve(path)])];
  return places.map((place) => ({ kind, path: place, source }));
}

function nothing(path: string): Mount[] {
  const source = real(path);
  if (source === undefined) return [];
  return [{ kind: lstatSync(source).isDirectory() ? "empty" : "blank", path: source }];
}

function real(path: string): string | undefined {
  return existsSync(path) ? realpathSync.native(path) : undefined;
}
