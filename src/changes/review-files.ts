/**
 * A plan's diff as the units that a person takes or leaves: groups of lines, renames, modes, and whole files where they
 * cannot be divided. A unit is named by what it changes, not by where it stands, so that it is the same unit when
 * another part of the diff changes.
 */
import { hash } from "node:crypto";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { countChanged, groupsOf, parsePatch } from "../domain/text/git-patch.ts";
import type { LineGroup, PatchFile, PatchHunk } from "../domain/text/git-patch.ts";
import { shownChanges, type ShownChange } from "./diff-of-plan.ts";
import type { PlanChange } from "./plan-changes.ts";

export interface ReviewUnit {
  readonly id: string;
  readonly kind: "lines" | "rename" | "mode" | "whole";
  /** The number of its hunk in the file, from 1; undefined where it is about the file itself. */
  readonly hunk: number | undefined;
  readonly group: LineGroup | undefined;
}

export interface ReviewFile {
  readonly resource: string;
  /** Where it is now; where it was, for a deleted file. */
  readonly path: string;
  readonly renamedFrom: string | undefined;
  /** Its name in the patch. */
  readonly shownAs: string;
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
  readonly isBinary: boolean;
  readonly insertions: number;
  readonly deletions: number;
  readonly header: readonly string[];
  readonly hunks: readonly PatchHunk[];
  readonly units: readonly ReviewUnit[];
}

const LINK = 0o120000;

/** The files of the diff, in its order. */
export function reviewFiles(entries: readonly PlanChange[], patch: string): ReviewFile[] {
  const changes = new Map(shownChanges(entries).map((change) => [change.shownAs, change]));
  const parsed = Map.groupBy(parsePatch(patch), ({ before, after }) => after ?? before ?? "");
  return [...parsed].flatMap(([shownAs, parts]) => {
    const [part] = parts;
    const change = changes.get(shownAs);
    if (part === undefined || change === undefined) return [];
    const from = part.before === undefined || part.before === shownAs ? undefined : changes.get(part.before);
    return [reviewFile(change, from, parts)];
  });
}

function reviewFile(change: ShownChange, from: ShownChange | undefined, parts: readonly PatchFile[]): ReviewFile {
  const [before, after] = [(from ?? change).before, change.after];
  const hunks = parts.flatMap((part) => part.hunks);
  const { resource, path, shownAs } = change;
  const facts = { resource, path, renamedFrom: from?.path, shownAs, before, after };
  const isBinary = parts.some((part) => part.isBinary);
  // The content of a link is a path, and a change from a link to a file has two parts in the patch.
  const isLink = before?.mode === LINK || after?.mode === LINK;
  const isWhole = before === undefined || after === undefined || isBinary || isLink || hunks.length === 0;
  const header = parts.flatMap((part, index) => (index === 0 ? part.header : []));
  const units = isWhole ? [] : lineUnits(facts, hunks);
  if (from !== undefined) units.unshift(unit(facts, "rename"));
  if (!isLink && before !== undefined && after !== undefined && before.mode !== after.mode)
    units.unshift(unit(facts, "mode"));
  if (isWhole && (before?.hash !== after?.hash || units.length === 0))
    units.splice(0, units.length, unit(facts, "whole"));
  return { ...facts, isBinary, ...countChanged(hunks), header, hunks, units };
}

type Named = Pick<ReviewFile, "resource" | "path" | "renamedFrom" | "before" | "after">;

function unit(file: Named, kind: Exclude<ReviewUnit["kind"], "lines">): ReviewUnit {
  const { before, after } = file;
  const content = kind === "rename" ? [] : kind === "mode" ? [before?.mode, after?.mode] : [before, after];
  return { id: idOf(file, [kind, ...content]), kind, hunk: kind === "whole" ? 1 : undefined, group: undefined };
}

function lineUnits(file: Named, hunks: readonly PatchHunk[]): ReviewUnit[] {
  const seen = new Map<string, number>();
  return hunks.flatMap((hunk, index) =>
    groupsOf(hunk).map((group): ReviewUnit => {
      const content = JSON.stringify([group.removed, group.added]);
      const place = seen.get(content) ?? 0;
      seen.set(content, place + 1);
      return { id: idOf(file, ["lines", content, place]), kind: "lines", hunk: index + 1, group };
    }),
  );
}

function idOf({ resource, path, renamedFrom }: Named, rest: readonly unknown[]): string {
  return hash("sha256", JSON.stringify([resource, path, renamedFrom, ...rest])).slice(0, 16);
}
