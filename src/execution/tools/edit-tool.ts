/**
 * Replaces texts in a file: one, or several that are all applied or none of them. The answer shows the changed lines as
 * they are now, and says when the file no longer parses, so that a mistake is mended in the next turn and not found by
 * a test later.
 */
import * as z from "zod";
import { ValidationError } from "../../domain/errors/errors.ts";
import { holdsMask } from "../../domain/secrets/redaction.ts";
import { shown } from "../../domain/text/text.ts";
import { LINK } from "../../platform/file-state.ts";
import { maskedText } from "../../platform/masking.ts";
import { notThereError } from "../workspace/workspace-failures.ts";
import { applyEdit, lineAt, type Edit, type EditResult, type Tier } from "./edit-match.ts";
import { fileError, fileText } from "./file-text.ts";
import { refuseMasks } from "./masks.ts";
import { missingPathError } from "./missing-path.ts";
import { nearestPlaces, placesText } from "./nearest-places.ts";
import { brokenSyntax, changedLines, type ChangedFile } from "./changed-file.ts";
import { tool, type BuiltInTool } from "./tool.ts";

/** Written text is read back as it was given: half a surrogate pair has no bytes. */
export const writtenText = z.string().refine((given) => given.isWellFormed(), "contains half of a surrogate pair");

const editSchema = z.strictObject({
  old: z.string().min(1),
  new: writtenText,
  replace_all: z.boolean().default(false),
});

type EditOutput = { readonly path: string; readonly replaced: number } | (ChangedFile & { readonly replaced: number });

export const EDIT_TOOL: BuiltInTool = tool({
  name: "edit_file",
  description:
    "Replace a text in a file. It must be there once, or replace_all is set. Several at a time in edits: all are applied, or none",
  writes: true,
  parameters: z.strictObject({
    path: z.string(),
    old: z.string().min(1).optional().describe("the text to replace, as it is in the file, without line numbers"),
    new: writtenText.optional(),
    replace_all: z.boolean().default(false),
    edits: z.array(editSchema).min(1).max(100).optional(),
  }),
  paths: ["path"],
  text: editText,
  run: async ({ path, old, new: replacement, replace_all: replaceAll, edits }, call): Promise<EditOutput> => {
    const { workspace, by, forModel, syntax } = call;
    const wanted = editsOf({ old, new: replacement, replaceAll }, edits);
    let before = "";
    let done: AppliedEdits | undefined;
    if (forModel && (await workspace.read(path)) === undefined) throw await missingPathError(workspace, path);
    await workspace.change(by, path, (state) => {
      if (state === undefined || state.mode === LINK) throw notThereError(path);
      for (const edit of wanted) refuseMasks(edit.new, state, path);
      before = fileText(state.content, path);
      done = appliedEdits(path, before, wanted);
      return { ...state, content: Buffer.from(done.text, "utf8") };
    });
    if (done === undefined) throw new Error(`the change of ${path} was not made`);
    const { replaced, text, ranges, tier } = done;
    if (!forModel) return { path, replaced };
    const problems = await brokenSyntax(syntax, path, before, text);
    return { path, replaced, tier, shown: changedLines(maskedText(text), ranges), problems };
  },
});

function editsOf(
  single: { readonly old: string | undefined; readonly new: string | undefined; readonly replaceAll: boolean },
  several: readonly z.output<typeof editSchema>[] | undefined,
): Edit[] {
  const list = (several ?? []).map((edit) => ({ old: edit.old, new: edit.new, replaceAll: edit.replace_all }));
  const { old, new: replacement, replaceAll } = single;
  if (old !== undefined && replacement !== undefined) return [{ old, new: replacement, replaceAll }, ...list];
  if (list.length > 0 && old === undefined && replacement === undefined) return list;
  const missing = old === undefined ? "old" : "new";
  const message = `${missing}: an edit needs old and new, or a list of them in edits`;
  throw new ValidationError(`The parameters of edit_file do not fit: ${message}.`, [{ path: missing, message }]);
}

interface AppliedEdits {
  readonly text: string;
  readonly replaced: number;
  /** Numbers of the changed lines, from 1. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** The most forgiving tier that was needed. */
  readonly tier: Tier;
}

function appliedEdits(path: string, before: string, edits: readonly Edit[]): AppliedEdits {
  let text = before;
  let replaced = 0;
  let tier: Tier = "exact";
  const ranges: (readonly [number, number])[] = [];
  for (const [index, edit] of edits.entries()) {
    const result = applyEdit(text, edit);
    if (!result.ok)
      throw unfitEditError(
        path,
        text,
        edit,
        result,
        edits.length === 1 ? "" : ` (edit ${index + 1} of ${edits.length})`,
      );
    for (const { from, to } of result.changed)
      ranges.push([lineAt(result.text, from), lineAt(result.text, Math.max(from, to))]);
    if (result.tier !== "exact") tier = result.tier;
    replaced += result.changed.length;
    text = result.text;
  }
  return { text, replaced, ranges, tier };
}

/** Why an edit does not apply, with the places that come nearest. */
export function unfitEditError(
  path: string,
  text: string,
  edit: Edit,
  { why, lines }: Extract<EditResult, { ok: false }>,
  which: string,
): Error {
  if (why === "ambiguous") {
    const places = `at lines ${lines.slice(0, 10).join(", ")}${lines.length > 10 ? ", …" : ""}`;
    return fileError(
      path,
      `contains ${shown(edit.old)} ${lines.length} times, ${places}${which}; give more of the lines around it, or say replace_all: true to replace each`,
    );
  }
  const hint = holdsMask(edit.old)
    ? "; a masked secret stands for another text, so leave it out of what is replaced"
    : "";
  const near = nearestPlaces(maskedText(text), edit.old);
  const places = near.length === 0 ? "" : `. The nearest places:\n${placesText(near)}\nNothing was changed`;
  return fileError(path, `does not contain ${shown(edit.old)}${which}${hint}${places}`);
}

function editText(output: EditOutput): string {
  const { path, replaced } = output;
  const places = replaced === 1 ? "1 place" : `${replaced} places`;
  if (!("shown" in output)) return `Replaced ${places} in ${path}.`;
  const how = output.tier === "exact" ? "" : ` (found after allowing for a difference in ${output.tier})`;
  const broken =
    output.problems.length === 0
      ? ""
      : `\nThe file parsed before and does not any more:\n${output.problems.join("\n")}`;
  return `Replaced ${places} in ${path}${how}. It is now:\n${output.shown}${broken}`;
}
