import { statSync, type Stats } from "node:fs";
import { ConfigurationError } from "../domain/errors/errors.ts";

/**
 * A file that decides where keys go and what runs must be the user's own, as ssh demands: its owner is the user or
 * root, and no other user may write to it. Root trusts no file of another user either: `sudo agents` with the user's
 * directories would run the user's commands as root.
 */
export function requireOwn(path: string, what: string): void {
  const { getuid } = process;
  // Windows has other means.
  if (getuid === undefined) return;
  const found = stats(path);
  if (found === undefined) return;
  const { uid, mode } = found;
  const own = getuid.call(process);
  if (uid !== own && uid !== 0) {
    throw new ConfigurationError(`${what} ${path} belongs to another user (${uid}; you are ${own}).`, {
      kept: "Nothing was read from it or written to it.",
      next:
        own === 0
          ? [
              { text: "run the command without sudo, as that user" },
              { text: "or name another directory with --data-dir" },
            ]
          : [
              { text: `chown ${own} ${path}, if its contents are yours` },
              { text: "or name another directory with --data-dir" },
            ],
      detail: { path, owner: uid },
    });
  }
  if ((mode & 0o022) !== 0) {
    throw new ConfigurationError(`${what} ${path} can be written by others (mode ${octal(mode)}).`, {
      kept: "Nothing was read from it or written to it.",
      next: [{ text: `chmod go-w ${path}, if its contents are yours` }],
      detail: { path, mode: octal(mode) },
    });
  }
}

/** Whether others may read it. */
export function isReadableByOthers(path: string): boolean {
  const mode = stats(path)?.mode ?? 0;
  return process.getuid !== undefined && (mode & 0o077) !== 0;
}

function stats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // Missing, or unreadable: the code that opens it reports that.
    return undefined;
  }
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8);
}
