/**
 * The parts of the user's checkout that come along into a sandbox although they are not part of a plan: directories of
 * dependencies and builds that git ignores, and the paths that the project's settings name. Git lists what it ignores
 * without looking into ignored directories, so this takes about as long as `git status`.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { DEPENDENCY_NAMES, type CarryRules } from "../../../domain/settings/sandbox-settings.ts";
import { git } from "../../../git/git.ts";

export interface IgnoredPart {
  /** From the top of the checkout. */
  readonly path: string;
  /** Where it really is. */
  readonly source: string;
  readonly kind: "dependencies" | "build" | "file";
}

export async function ignoredParts(checkout: string, rules: CarryRules): Promise<IgnoredPart[]> {
  if (rules.names.length === 0 && rules.paths.length === 0) return [];
  const listing = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const { stdout } = await git(listing, { cwd: checkout });
  const listed = stdout.toString("utf8").split("\0").slice(0, -1);
  const found = new Map<string, IgnoredPart>();
  for (const entry of listed) {
    for (const path of wantedPaths(checkout, entry, rules)) {
      const part = partAt(checkout, path);
      if (part !== undefined) found.set(path, part);
    }
  }
  const paths = [...found.keys()];
  // A part that lies in another one comes with it.
  return [...found.values()].filter(({ path }) => !paths.some((other) => path.startsWith(`${other}/`)));
}

function wantedPaths(checkout: string, entry: string, { names, paths }: CarryRules): string[] {
  const path = entry.replace(/\/$/, "");
  const asked = paths.filter((one) => one === path || (entry.endsWith("/") && one.startsWith(entry)));
  if (names.includes(basename(path))) return [path, ...asked];
  // Virtual environments ignore themselves, by a file in them: then git lists what is in them instead.
  const segments = path.split("/");
  const at = segments.findIndex((name, index) => {
    if (!names.includes(name)) return false;
    return ignoresItself(join(checkout, ...segments.slice(0, index + 1)));
  });
  return at === -1 ? asked : [segments.slice(0, at + 1).join("/"), ...asked];
}

function ignoresItself(directory: string): boolean {
  const file = join(directory, ".gitignore");
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return readFileSync(file, "utf8").split("\n").includes("*");
}

/** A link to a directory of the same name is followed, as work trees that share their packages have it. */
function partAt(checkout: string, path: string): IgnoredPart | undefined {
  const place = join(checkout, path);
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isFile()) return { path, source: place, kind: "file" };
  const kind = DEPENDENCY_NAMES.has(basename(path)) ? "dependencies" : "build";
  if (found.isDirectory()) return { path, source: place, kind };
  if (!found.isSymbolicLink()) return undefined;
  let source: string;
  try {
    source = realpathSync.native(place);
  } catch {
    // It leads nowhere.
    return undefined;
  }
  const same = basename(source) === basename(path) && !checkout.startsWith(`${source}${sep}`);
  return same && lstatSync(source).isDirectory() ? { path, source, kind } : undefined;
}
