/**
 * Which changes made which part of the diff. Where several steps changed a file, the lines are followed from each
 * recorded version to the next: a line belongs to the step that wrote it, a removed one to the step that removed it.
 */
import { isUtf8 } from "node:buffer";
import { linesOf } from "../domain/text/git-patch.ts";
import { sequenceDiff } from "../domain/text/sequence-diff.ts";
import type { ChangesetStore } from "../ledger/changesets.ts";
import { TARGET_TAKEN } from "./net-changes.ts";
import type { PlanChange } from "./plan-changes.ts";
import type { ReviewFile } from "./review-files.ts";

/** The changes that each unit of the file comes from, in their order, by the id of the unit. */
export async function unitCredits(
  changesets: ChangesetStore,
  entries: readonly PlanChange[],
  file: ReviewFile,
): Promise<ReadonlyMap<string, readonly PlanChange[]>> {
  const all = lineageOf(entries, file);
  const lineage = all.filter(({ toolInvocation }) => toolInvocation !== TARGET_TAKEN);
  const owners = all.length < 2 ? undefined : await lineOwners(changesets, all);
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
  const linesAt: LinesAt = (image) => linesOf(texts.get(image?.hash ?? "") ?? "");
  const found = followed(lineage, linesAt);
  return found === undefined ? undefined : { written: found.lines.map(({ by }) => by), removed: found.removed };
}

type LinesAt = (image: PlanChange["before"]) => string[];

interface Followed {
  readonly begun: readonly string[];
  readonly lines: readonly Line[];
  readonly removed: readonly (PlanChange | undefined)[];
}

/**
 * The lines through all versions. A file that was merged by hand begins again as the target had it, and its first
 * change from there is the merge: lines that the plan had written or removed before are still its own.
 */
function followed(lineage: readonly PlanChange[], linesAt: LinesAt): Followed | undefined {
  const merge = lineage.findLastIndex((change) => change.toolInvocation === TARGET_TAKEN);
  const past = merge === -1 ? undefined : followed(lineage.slice(0, merge), linesAt);
  let last = merge === -1 ? lineage[0]?.before : lineage[merge]?.after;
  const begun = linesAt(last);
  let lines: readonly Line[] = begun.map((text, place) => ({ text, by: undefined, place }));
  const removed = lines.map((): PlanChange | undefined => undefined);
  for (const [index, change] of lineage.slice(merge + 1).entries()) {
    if (change.before?.hash !== last?.hash) return undefined;
    last = change.after;
    const next = linesAt(change.after);
    const earlier = index === 0 ? past : undefined;
    const texts = lines.map(({ text }) => text);
    const [writers, removers] = [writtenIn(earlier, next), removedIn(earlier, texts)];
    const made: Line[] = [];
    let at = 0;
    for (const part of sequenceDiff(texts, next)) {
      made.push(...lines.slice(at, part.oldFrom));
      for (let from = part.oldFrom; from < part.oldTo; from += 1) {
        const place = lines[from]?.place;
        if (place !== undefined) removed[place] = removers[from] ?? change;
      }
      const added = next.slice(part.newFrom, part.newTo);
      made.push(
        ...added.map((text, offset) => ({ text, by: writers[part.newFrom + offset] ?? change, place: undefined })),
      );
      at = part.oldTo;
    }
    lines = [...made, ...lines.slice(at)];
  }
  return { begun, lines, removed };
}

type Writers = readonly (PlanChange | undefined)[];

function writtenIn(past: Followed | undefined, next: readonly string[]): Writers {
  if (past === undefined) return [];
  const texts = past.lines.map(({ text }) => text);
  return carried(
    texts,
    past.lines.map(({ by }) => by),
    next,
  );
}

function removedIn(past: Followed | undefined, next: readonly string[]): Writers {
  return past === undefined ? [] : carried(past.begun, past.removed, next);
}

/** The value of each line, at its place in another version that has the line too. */
function carried(texts: readonly string[], known: Writers, next: readonly string[]): Writers {
  const found: (PlanChange | undefined)[] = [];
  let [at, to] = [0, 0];
  const end = { oldFrom: texts.length, oldTo: texts.length, newFrom: next.length, newTo: next.length };
  for (const part of [...sequenceDiff(texts, next), end]) {
    for (; at < part.oldFrom; at += 1, to += 1) found[to] = known[at];
    [at, to] = [part.oldTo, part.newTo];
  }
  return found;
}
