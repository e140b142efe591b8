/**
 * Where a search looks. Files that git ignores are left out, unless the caller names a place among them: installed
 * packages can be searched that way. A place that is not there is an error, because an empty answer would say that the
 * text is nowhere.
 */
import { join } from "node:path";
import { LINK } from "../../platform/file-state.ts";
import { isVersioned } from "../sandbox/sandbox-facts.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { fileError } from "./file-text.ts";
import { isDirectory } from "./list-tool.ts";
import { missingPathError } from "./missing-path.ts";
import type { RipgrepPlace } from "./ripgrep.ts";

export interface SearchedPlace {
  /** Absolute; the place itself, or the directory of the one file. */
  readonly directory: string;
  /** Put before what is found there. */
  readonly prefix: string;
  /** The name of the one file; undefined for a directory. */
  readonly file: string | undefined;
  /** The files of the plan; undefined for a place that git ignores. */
  readonly files: ReadonlySet<string> | undefined;
}

export async function searchedPlace(workspace: Workspace, path = "."): Promise<SearchedPlace> {
  const { root } = workspace.sandbox;
  const all = new Set((await workspace.look()).keys());
  if (path === ".") return { directory: root, prefix: "", file: undefined, files: all };
  const isDirectoryThere = await isDirectory(workspace, path);
  const prefix = `${path}/`;
  if (isDirectoryThere) {
    const known = [...all].some((file) => file.startsWith(prefix));
    return { directory: join(root, path), prefix, file: undefined, files: known ? all : undefined };
  }
  const state = await workspace.read(path);
  if (state === undefined) throw await missingPathError(workspace, path);
  // Named by its path, ripgrep would follow it, and its target may be outside.
  if (state.mode === LINK) throw fileError(path, "is a symbolic link");
  const cut = path.lastIndexOf("/") + 1;
  const above = path.slice(0, cut);
  return { directory: join(root, above), prefix: above, file: path.slice(cut), files: undefined };
}

/** Undefined where ripgrep is not installed: then there is no program. */
export function ripgrepIn(
  place: SearchedPlace,
  workspace: Workspace,
  globs: readonly string[],
  signal: AbortSignal,
  program: string | undefined,
): RipgrepPlace | undefined {
  if (program === undefined) return undefined;
  const ignoring = place.files !== undefined && isVersioned(workspace.sandbox);
  return { program, directory: place.directory, ignoring, globs, signal };
}
