/**
 * Changes files by a patch, for the models that are trained on it. Each hunk finds its place as an edit does; every
 * file is changed in memory before the first one is written, so a hunk that does not apply changes none.
 */
import * as z from "zod";
import { shown } from "../../domain/text/text.ts";
import { LINK, REGULAR, type FileState } from "../../platform/file-state.ts";
import { maskedText } from "../../platform/masking.ts";
import { occupiedError } from "../workspace/workspace-failures.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { brokenSyntax, changedLines } from "./changed-file.ts";
import { applyEdit, lineAt, type Edit, type EditResult } from "./edit-match.ts";
import { unfitEditError, writtenText } from "./edit-tool.ts";
import { fileError, fileText } from "./file-text.ts";
import { refuseMasks } from "./masks.ts";
import { missingPathError } from "./missing-path.ts";
import { linesOf } from "./read-tool.ts";
import { parsePatch, patchError, type FilePatch, type Hunk } from "./patch-format.ts";
import { tool, type BuiltInTool } from "./tool.ts";
import { plainPath } from "./tool-params.ts";

type PatchOutput = {
  readonly files: readonly { readonly path: string; readonly change: string; readonly shown: string }[];
  readonly problems: readonly string[];
};

export const PATCH_TOOL: BuiltInTool = tool({
  name: "apply_patch",
  description:
    "Change files by a patch: *** Begin Patch, then for each file *** Add File: PATH, *** Update File: PATH (with *** Move to: PATH) or *** Delete File: PATH, with lines marked by ' ', '-', '+' below @@, then *** End Patch. All of it is applied, or nothing",
  writes: true,
  parameters: z.strictObject({ patch: writtenText.min(1) }),
  text: ({ files, problems }: PatchOutput) => {
    const lines = files.map(
      ({ path, change, shown }) => `${change} ${path}${shown === "" ? "" : `. It is now:\n${shown}`}`,
    );
    return [
      ...lines,
      ...(problems.length === 0 ? [] : ["These files parsed before and do not any more:", ...problems]),
    ].join("\n");
  },
  run: async ({ patch }, { workspace, by, syntax, forModel }): Promise<PatchOutput> => {
    const changes: FileChange[] = [];
    const claimed = new Set<string>();
    for (const file of parsePatch(patch).map((one) => inResource(one, workspace))) {
      const change = await changeOf(workspace, file);
      for (const path of new Set([change.path, change.to ?? change.path])) {
        if (claimed.has(path)) throw patchError(`it changes ${shown(path)} twice`);
        claimed.add(path);
        await workspace.assertWritable(path);
      }
      changes.push(change);
    }
    for (const change of changes) await written(workspace, by, change);
    const problems: string[] = [];
    if (forModel)
      for (const { path, to = path, before, text } of changes)
        if (text !== undefined)
          for (const problem of await brokenSyntax(syntax, to, before, text)) problems.push(`${to}: ${problem}`);
    return { files: changes.map(outputOf), problems };
  },
});

interface FileChange {
  readonly path: string;
  readonly to: string | undefined;
  readonly before: string | undefined;
  readonly state: FileState | undefined;
  /** Undefined for a file that is deleted. */
  readonly text: string | undefined;
  /** Numbers of the changed lines. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

function inResource(file: FilePatch, { sandbox }: Workspace): FilePatch {
  const path = plainPath(file.path, sandbox);
  return file.kind === "update" && file.to !== undefined
    ? { ...file, path, to: plainPath(file.to, sandbox) }
    : { ...file, path };
}

async function changeOf(workspace: Workspace, file: FilePatch): Promise<FileChange> {
  const { path } = file;
  const state = await workspace.read(path);
  if (file.kind === "add") {
    if (state !== undefined) throw occupiedError(path);
    refuseMasks(file.content, undefined, path);
    return { path, to: undefined, before: undefined, state, text: file.content, ranges: [] };
  }
  if (state === undefined) throw await missingPathError(workspace, path);
  if (file.kind === "delete") return { path, to: undefined, before: undefined, state, text: undefined, ranges: [] };
  if (state.mode === LINK) throw fileError(path, "is a symbolic link");
  const before = fileText(state.content, path);
  for (const { new: lines } of file.hunks) refuseMasks(lines.join("\n"), state, path);
  const to = file.to === path ? undefined : file.to;
  if (to !== undefined && (await workspace.read(to)) !== undefined) throw occupiedError(to);
  return { path, to, before, state, ...patched(path, before, file.hunks) };
}

/** Hunks come in the order of the file: each is looked for behind the one before. */
function patched(
  path: string,
  before: string,
  hunks: readonly Hunk[],
): Pick<FileChange, "text" | "ranges"> & { text: string } {
  let text = before;
  let from = 0;
  const ranges: (readonly [number, number])[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const which = hunks.length === 1 ? "" : ` (hunk ${index + 1} of ${hunks.length})`;
    const { text: next, start, end } = withHunk(path, text, hunk, from, which);
    ranges.push([lineAt(next, start), lineAt(next, Math.max(start, end - 1))]);
    [text, from] = [next, end];
  }
  return { text, ranges };
}

interface Patched {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function withHunk(path: string, text: string, hunk: Hunk, after: number, which: string): Patched {
  const from = hunk.anchors.reduce((at, anchor) => behindAnchor(path, text, anchor, at), after);
  if (hunk.old.length === 0) return inserted(text, hunk, hunk.anchors.length === 0 ? text.length : from);
  const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
  const edit = { old: lines(hunk.old), new: lines(hunk.new), wholeLines: true };
  const result = placed(text, edit, hunk, from);
  if (!result.ok) throw unfitEditError(path, text, edit, result, which);
  const [changed = { from, to: from }] = result.changed;
  return { text: result.text, start: changed.from, end: changed.to };
}

/** At the end of the file, or below an anchor, one of several places is meant: the last, or the first. */
function placed(text: string, edit: Edit, hunk: Hunk, from: number): EditResult {
  const size = hunk.old.length;
  const atEnd = hunk.atEnd ? oneOf(text, edit, linesOf(text).length - size + 1, size) : undefined;
  if (atEnd?.ok === true) return atEnd;
  const result = applyEdit(text, edit, from);
  const [first] = result.ok ? [] : result.lines;
  return hunk.anchors.length > 0 && first !== undefined ? oneOf(text, edit, first, size) : result;
}

/** The edit at the place that begins in a line, of several. */
function oneOf(text: string, edit: Edit, line: number, size: number): EditResult {
  const start = lineStart(text, line);
  const end = lineStart(text, line + size);
  const part = applyEdit(text.slice(start, end), edit);
  if (!part.ok) return part;
  const changed = part.changed.map((range) => ({ from: range.from + start, to: range.to + start }));
  return { ...part, text: text.slice(0, start) + part.text + text.slice(end), changed };
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let number = 1; number < line; number += 1) {
    const feed = text.indexOf("\n", at);
    if (feed === -1) return text.length;
    at = feed + 1;
  }
  return at;
}

function inserted(text: string, hunk: Hunk, at: number): Patched {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = at > 0 && text[at - 1] !== "\n" ? end : "";
  const added = `${gap}${hunk.new.join(end)}${end}`;
  return { text: text.slice(0, at) + added + text.slice(at), start: at + gap.length, end: at + added.length };
}

/** Behind the first line that is the anchor, apart from blanks at its ends. */
function behindAnchor(path: string, text: string, anchor: string, from: number): number {
  for (let at = from; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const next = feed === -1 ? text.length : feed + 1;
    if (text.slice(at, next).trim() === anchor.trim()) return next;
    at = next;
  }
  throw fileError(path, `has no line ${shown(anchor)} below the hunk before`);
}

async function written(workspace: Workspace, by: string, { path, to, state, text }: FileChange): Promise<void> {
  // In place a moved file is not there before the call has ended, so it is removed and made at its new path.
  const isRemade = to !== undefined && workspace.worksInPlace;
  if (isRemade) await workspace.change(by, path, () => undefined);
  else if (to !== undefined) await workspace.move(by, path, to);
  await workspace.change(by, to ?? path, (now) => {
    if (isRemade && now !== undefined) throw occupiedError(to);
    const isSame =
      now === undefined ? state === undefined : state !== undefined && Buffer.compare(now.content, state.content) === 0;
    if (!isSame && !isRemade) throw fileError(path, "was changed by another step meanwhile");
    if (text === undefined) return undefined;
    return { content: Buffer.from(text, "utf8"), mode: state?.mode ?? REGULAR };
  });
}

function outputOf({ path, to, before, text, ranges }: FileChange): PatchOutput["files"][number] {
  if (text === undefined) return { path, change: "Deleted", shown: "" };
  if (before === undefined) return { path, change: "Added", shown: "" };
  const lines = ranges.length === 0 ? "" : changedLines(maskedText(text), ranges);
  return to === undefined
    ? { path, change: "Updated", shown: lines }
    : { path: to, change: `Moved ${path} to`, shown: lines };
}
