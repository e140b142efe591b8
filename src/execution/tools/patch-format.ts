/**
 * The patch format that some models are trained on:
 *
 *     *** Begin Patch
 *     *** Update File: src/a.ts
 *     *** Move to: src/b.ts
 *     @@ function name()
 *      a line that stays
 *     -a line that goes
 *     +a line that comes
 *     *** Add File: new.txt
 *     +its content
 *     *** Delete File: old.txt
 *     *** End Patch
 *
 * The lines behind `@@` only say where to look: a hunk applies below them.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";

export type FilePatch =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly to: string | undefined;
      readonly hunks: readonly Hunk[];
    };

export interface Hunk {
  /** Lines to look below, the outermost first. */
  readonly anchors: readonly string[];
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** The hunk is at the end of the file. */
  readonly atEnd: boolean;
}

const HEADER = /^\*\*\* (Add File|Delete File|Update File): (.+)$/;

export function parsePatch(patch: string): FilePatch[] {
  const lines = patch.replaceAll("\r\n", "\n").split("\n");
  const begin = lines.findIndex((line) => line.trim() === "*** Begin Patch");
  const end = lines.findLastIndex((line) => line.trim() === "*** End Patch");
  // A patch that lacks its frame is complete all the same, as long as it has files.
  const body = lines.slice(begin + 1, end === -1 ? undefined : end);
  const files: FilePatch[] = [];
  for (let at = 0; at < body.length;) {
    const line = body[at] ?? "";
    const [, kind, path = ""] = HEADER.exec(line.trimEnd()) ?? [];
    if (kind === undefined) {
      if (line.trim() !== "") throw patchError(`the line ${shown(line, 200)} belongs to no file`);
      at += 1;
      continue;
    }
    const rest = body.slice(at + 1);
    const length = rest.findIndex((one) => HEADER.test(one.trimEnd()));
    const own = length === -1 ? rest : rest.slice(0, length);
    files.push(filePatch(kind, path.trim(), own));
    at += 1 + own.length;
  }
  if (files.length === 0) throw patchError("it names no file");
  return files;
}

function filePatch(kind: string, path: string, body: readonly string[]): FilePatch {
  if (kind === "Delete File") return { kind: "delete", path };
  if (kind === "Add File") return { kind: "add", path, content: addedContent(path, body) };
  const [first = ""] = body;
  const [, to] = /^\*\*\* Move to: (.+)$/.exec(first.trimEnd()) ?? [];
  const hunks = hunksOf(path, to === undefined ? body : body.slice(1));
  if (hunks.length === 0 && to === undefined) throw patchError(`the update of ${shown(path)} changes nothing`);
  return { kind: "update", path, to: to?.trim(), hunks };
}

function addedContent(path: string, body: readonly string[]): string {
  const lines = body.filter((line, index) => line !== "" || index < body.length - 1);
  // An empty line may come without its sign.
  const wrong = lines.find((line) => !line.startsWith("+") && line.trim() !== "");
  if (wrong !== undefined)
    throw patchError(`in the new file ${shown(path)} the line ${shown(wrong, 200)} does not begin with "+"`);
  return lines.map((line) => `${line.startsWith("+") ? line.slice(1) : ""}\n`).join("");
}

interface OpenHunk {
  readonly anchors: string[];
  readonly old: string[];
  readonly new: string[];
  atEnd: boolean;
}

function hunksOf(path: string, body: readonly string[]): Hunk[] {
  const hunks: OpenHunk[] = [];
  const last = body.findLastIndex((line) => line !== "") + 1;
  const current = (): OpenHunk => {
    const open = hunks.at(-1);
    if (open !== undefined) return open;
    const first = { anchors: [], old: [], new: [], atEnd: false };
    hunks.push(first);
    return first;
  };
  for (const line of body.slice(0, last)) {
    if (line.startsWith("@@")) {
      const anchor = line.replace(/^@@ ?/, "").replace(/ ?@@$/, "");
      const open = hunks.at(-1);
      // Line numbers, as other tools write them, say nothing here.
      const anchors = anchor.trim() === "" || /^-\d+(,\d+)? \+\d+/.test(anchor) ? [] : [anchor];
      if (open !== undefined && open.old.length + open.new.length === 0) open.anchors.push(...anchors);
      else hunks.push({ anchors, old: [], new: [], atEnd: false });
    } else if (line.trimEnd() === "*** End of File") current().atEnd = true;
    else addLine(path, line, current());
  }
  return hunks.filter((hunk) => hunk.old.length + hunk.new.length > 0);
}

function addLine(path: string, line: string, hunk: OpenHunk): void {
  const [mark, text] = [line.slice(0, 1), line.slice(1)];
  if (mark === "+") hunk.new.push(text);
  else if (mark === "-") hunk.old.push(text);
  else if (mark === " " || mark === "") {
    hunk.old.push(text);
    hunk.new.push(text);
  } else throw patchError(`in ${shown(path)} the line ${shown(line, 200)} begins with none of " ", "-", "+" and "@@"`);
}

export function patchError(why: string): AgentsError {
  return new AgentsError("tool_failed", `The patch cannot be applied: ${why}.`, { kept: "Nothing was changed." });
}
