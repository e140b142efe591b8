/** A path that is not there, with the one that was probably meant. */
import { basename } from "node:path";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { Workspace } from "../workspace/workspace.ts";

export async function missingPathError(workspace: Workspace, path: string): Promise<AgentsError> {
  const files = [...(await workspace.look()).keys()];
  const guesses = likelyPaths(path, files);
  const hint = guesses.length === 0 ? "" : ` Did you mean ${guesses.map((guess) => `"${guess}"`).join(" or ")}?`;
  return new AgentsError("tool_failed", `There is no file ${shown(path)}.${hint}`, {
    kept: "Nothing was changed.",
    detail: { path, suggestions: guesses },
  });
}

const MOST = 3;

/** Of the same name elsewhere, else of a similar name in the same directory, else of a similar path. */
function likelyPaths(path: string, files: readonly string[]): string[] {
  const all = [...new Set([...files, ...files.flatMap(directoriesOf)])];
  const name = basename(path).toLowerCase();
  const named = all.filter((one) => basename(one).toLowerCase() === name);
  if (named.length > 0) return [...named].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST);
  const place = path.slice(0, path.length - basename(path).length);
  const near =
    nearest(
      path,
      all.filter((one) => one.startsWith(place)),
    ) ?? nearest(path, all);
  if (near !== undefined) return [near];
  const stem = name.replace(/\.[^.]*$/, "");
  return stem.length < 3 ? [] : all.filter((one) => basename(one).toLowerCase().startsWith(`${stem}.`)).slice(0, MOST);
}

function directoriesOf(file: string): string[] {
  const segments = file.split("/").slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}
