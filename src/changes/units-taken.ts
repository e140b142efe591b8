/** A file of the diff with some of its units taken, and the others left out. */
import type { FileImageInput } from "../domain/plan/change-entry.ts";
import { linesOf, type LineGroup } from "../domain/text/git-patch.ts";
import type { ReviewFile, ReviewUnit } from "./review-files.ts";

/** The places of the file when only these units are taken: their content, or undefined where there is no file. */
export async function withUnits(
  file: ReviewFile,
  taken: ReadonlySet<string>,
  contentOf: (hash: string) => Promise<Uint8Array>,
): Promise<ReadonlyMap<string, FileImageInput | undefined>> {
  const { path, renamedFrom, before, after, units } = file;
  const isTaken = (kind: ReviewUnit["kind"]): boolean => units.every((one) => one.kind !== kind || taken.has(one.id));
  const places = new Map<string, FileImageInput | undefined>(
    renamedFrom === undefined ? [] : [[renamedFrom, undefined]],
  );
  places.set(path, undefined);
  const at = isTaken("rename") ? path : (renamedFrom ?? path);
  if (units.every(({ id }) => taken.has(id))) return places.set(path, after);
  if (before === undefined || after === undefined) return places.set(path, before);
  if (units.some(({ kind }) => kind === "whole")) return places.set(renamedFrom ?? path, before);
  const mode = isTaken("mode") ? after.mode : before.mode;
  const groups = units.flatMap(({ id, group }) => (group !== undefined && taken.has(id) ? [group] : []));
  if (groups.length === 0) return places.set(at, { hash: before.hash, mode });
  const content = Buffer.from(await contentOf(before.hash)).toString("utf8");
  return places.set(at, { content: Buffer.from(replaced(content, groups)), mode });
}

function replaced(text: string, groups: readonly LineGroup[]): string {
  const lines = linesOf(text);
  const made: string[] = [];
  let at = 0;
  for (const { oldAt, removed, added } of groups) {
    made.push(...lines.slice(at, oldAt), ...added);
    at = oldAt + removed.length;
  }
  return [...made, ...lines.slice(at)].join("");
}
