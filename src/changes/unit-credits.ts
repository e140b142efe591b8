/**
 * Which changes made which part of the diff. Where several steps changed a file, the lines are followed from each
 * recorded version to the next: a line belongs to the step that wrote it, a removed one to the step that removed it.
 */
import { isUtf8 } from "node:buffer";
import { linesOf } from "../domain/text/git-patch.ts";
import { sequenceDiff } from "../domain/text/sequence-diff.ts";
import type { ChangesetStore } from "../ledger/changesets.ts";
import type { PlanChange } from "./plan-changes.ts";
import type { ReviewFile } from "./review-files.ts";

/** The changes that each unit of the file comes from, in their order, by the id of the unit. */
export async function unitCredits(
  changesets: ChangesetStore,
  entries: readonly PlanChange[],
  file: ReviewFile,
): Promise<ReadonlyMap<string, readonly PlanChange[]>> {
  const lineage = lineageOf(entries, file);
  const owners = lineage.length < 2 ? undefined : await lineOwners(changesets, lineage);
  return new Map(
    file.units.map(({ id, kind, group }) => {
      if (kind === "rename") return [id, lineage.filter(({ fromPath }) => fromPath !== undefined)];
      if (owners === undefined || group === undefined) return [id, lineage];
      const added = owners.written.slice(group.newAt, group.newAt + group.added.length);
      const removed = owners.removed.slice(group.oldAt, group.oldAt + group.removed.length);
      const own = new Set([...added, ...removed].flatMap((one) => one ?? []));
      return [id, own.size === 0 ? lineage : lineage.filter((one) => own.has(one))];
    }),
  );
}

/** The changes of the file in their order, also under the names it had before. */
function lineageOf(entries: readonly PlanChange[], file: ReviewFile): PlanChange[] {
  const own = entries.filter(({ resource }) => resource === file.resource);
  let at = file.renamedFrom ?? file.path;
  const lineage: PlanChange[] = [];
  for (const entry of own) {
    if ((entry.fromPath ?? entry.path) !== at) continue;
    lineage.push(entry);
    at = entry.path;
  }
  if (at === file.path) return lineage;
  const names = new Set([file.path, file.renamedFrom]);
  return own.filter(({ path, fromPath }) => names.has(path) || (fromPath !== undefined && names.has(fromPath)));
}

interface LineOwners {
  /** For each line of the file as it is now. */
  readonly written: readonly (PlanChange | undefined)[];
  /** For each line of the file as it was at first. */
  readonly removed: readonly (PlanChange | undefined)[];
}

interface Line {
  readonly text: string;
  readonly by: PlanChange | undefined;
  /** Its place in the file as it was at first. */
  readonly place: number | undefined;
}

/** Undefined where a version is not text, or does not follow from the one before. */
async function lineOwners(changesets: ChangesetStore, lineage: readonly PlanChange[]): Promise<LineOwners | undefined> {
  const hashes = lineage.flatMap(({ before, after }) => [before, after]).flatMap((image) => image?.hash ?? []);
  const texts = new Map<string, string>();
  for await (const [hash, bytes] of changesets.contents([...new Set(hashes)])) {
    if (!isUtf8(bytes)) return undefined;
    texts.set(hash, Buffer.from(bytes).toString("utf8"));
  }
  const linesAt = (image: PlanChange["before"]): string[] => linesOf(texts.get(image?.hash ?? "") ?? "");
  let lines: Line[] = linesAt(lineage[0]?.before).map((text, place) => ({ text, by: undefined, place }));
  const removed = lines.map((): PlanChange | undefined => undefined);
  let last = lineage[0]?.before;
  for (const change of lineage) {
    if (change.before?.hash !== last?.hash) return undefined;
    last = change.after;
    const next = linesAt(change.after);
    const made: Line[] = [];
    let at = 0;
    for (const part of sequenceDiff(
      lines.map(({ text }) => text),
      next,
    )) {
      made.push(...lines.slice(at, part.oldFrom));
      for (const { place } of lines.slice(part.oldFrom, part.oldTo)) if (place !== undefined) removed[place] = change;
      made.push(...next.slice(part.newFrom, part.newTo).map((text) => ({ text, by: change, place: undefined })));
      at = part.oldTo;
    }
    lines = [...made, ...lines.slice(at)];
  }
  return { written: lines.map(({ by }) => by), removed };
}
