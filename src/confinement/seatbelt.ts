/**
 * Confinement on macOS by `sandbox-exec`, which comes with the system. Written from its documentation and the
 * profiles of the system (/System/Library/Sandbox/Profiles); never run by us. Of two rules that fit, the later one
 * counts.
 */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { ConfinementBackend } from "./backend.ts";
import { commandPolicy } from "./command-policy.ts";
import { toolDirectories } from "./tool-directories.ts";
import type { FileView } from "./mounts.ts";

export function seatbelt(): ConfinementBackend {
  return {
    kind: "seatbelt",
    filtered: false,
    start: ({ command, environment }, view) => ({
      program: "/usr/bin/sandbox-exec",
      args: ["-p", seatbeltProfile(view), ...command],
      environment,
    }),
  };
}

export function seatbeltProfile(view: FileView): string {
  const { hidden, shownDirectories } = commandPolicy();
  const places = (paths: readonly string[]): string => paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
  const rule = (verdict: "allow" | "deny", what: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`(${verdict} ${what} ${places(paths)})`];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec) (allow process-fork) (allow signal (target same-sandbox)) (allow sysctl-read)",
    '(allow ipc-posix-sem) (allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    "(allow file-read*)",
    ...rule("deny", "file-read*", ["/Users", "/Volumes", "/private/tmp", "/private/var/folders", homedir()]),
    // Programs look at each directory on the way to where they are.
    "(allow file-read-metadata)",
    ...rule("allow", "file-read*", toolDirectories()),
    ...rule("allow", "file-read*", [...shownDirectories, ...view.readable]),
    ...rule("deny", "file-read*", [...hidden, ...view.hidden]),
    ...rule("allow", "file-read* file-write*", view.writable),
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (literal "/dev/tty"))',
    view.network === "open"
      ? "(allow network*) (allow system-socket)"
      : '(allow network* (local ip "localhost:*")) (allow network-outbound (remote ip "localhost:*"))',
    '(deny network-outbound (subpath "/"))',
  ].join("\n");
}

/** Rules are about real paths: /tmp is a link there. */
function quoted(path: string): string {
  let real = path;
  try {
    real = realpathSync.native(path);
  } catch {
    // A missing path needs no rule, and no rule would fit it.
  }
  return `"${real.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
