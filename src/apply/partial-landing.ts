/**
 * The landing of some of a plan's changes. The plan's record stays as it is; one more change, made by the review, leads
 * from its whole result to the part that was taken. It is worked out before the landing, goes into the journal with it,
 * and becomes part of the record with the seal: so undo, redo and recovery know exactly what was applied.
 */
import { PlanError } from "../domain/errors/errors.ts";
import type { ChangesetId } from "../domain/names/ids.ts";
import { operationBetween, type FileImage, type HashedEntryInput } from "../domain/plan/change-entry.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { diffOf } from "../changes/diff-cache.ts";
import { targetChanges } from "../changes/net-changes.ts";
import { REVIEW_STEP, type PlanChange } from "../changes/plan-changes.ts";
import { reviewFiles } from "../changes/review-files.ts";
import { unitCredits } from "../changes/unit-credits.ts";
import { withUnits } from "../changes/units-taken.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { JournalReview } from "../ledger/journal.ts";
import { directoriesAbove, sameImage } from "../ledger/landing.ts";
import { commitContents, contentHash, stageContent, type StagedContent } from "../store/contents/contents.ts";
import type { Store } from "../store/port.ts";

/** A part that a person took, and the version of the review in which they did. */
export interface TakenPart {
  readonly revision: number;
  readonly units: ReadonlySet<string>;
  /** As it is recorded: what was taken and what was left, with the reasons. */
  readonly chosen: JsonObject;
}

export interface PartialLanding {
  readonly review: JournalReview;
  readonly revision: number;
  /** The change that the review makes, behind all others. */
  readonly entries: readonly PlanChange[];
  /** The decisions of which something is taken. */
  readonly decisions: ReadonlySet<string>;
}

export async function partialLanding(
  store: Store,
  entries: readonly PlanChange[],
  { units, revision, chosen }: TakenPart,
  changeset: ChangesetId,
): Promise<PartialLanding> {
  const changesets = new ChangesetStore(store);
  const { patch } = await diffOf(store, entries);
  const contents = new Map<string, Uint8Array>();
  const changes: HashedEntryInput[] = [];
  const decisions = new Set<string>();
  for (const file of reviewFiles(entries, patch)) {
    const credits = await unitCredits(changesets, entries, file);
    for (const { id } of file.units.filter((unit) => units.has(unit.id)))
      for (const { decision } of credits.get(id) ?? []) if (decision !== undefined) decisions.add(decision);
    if (file.units.every(({ id }) => units.has(id))) continue;
    const contentOf = async (hash: string): Promise<Uint8Array> => {
      const content = await changesets.content(hash);
      if (content === undefined) throw new Error(`the content ${hash} was not recorded`);
      return content;
    };
    for (const [path, wanted] of await withUnits(file, units, contentOf)) {
      const before = path === file.path ? file.after : undefined;
      const after = wanted === undefined || "hash" in wanted ? wanted : imageOf(wanted, contents);
      const operation = operationBetween(before, after);
      if (operation === undefined || sameImage(before, after)) continue;
      changes.push({ resource: file.resource, path, operation, before, after, toolInvocation: "review" });
    }
  }
  requireApart(net([...entries, ...changes.map((change, index) => asPlanChange(change, changeset, index))]));
  await storeContents(store, contents);
  return {
    review: { changeset, entries: changes, chosen },
    revision,
    entries: changes.map((change, index) => asPlanChange(change, changeset, index)),
    decisions,
  };
}

function net(entries: readonly PlanChange[]): (readonly [resource: string, paths: readonly string[]])[] {
  return [...Map.groupBy(entries, ({ resource }) => resource)].map(([resource, own]) => [
    resource,
    [...targetChanges(own)].flatMap(([path, { after }]) => (after === undefined ? [] : [path])),
  ]);
}

/** A file that took the place of a directory, or the other way round, comes only with what made room for it. */
function requireApart(resources: readonly (readonly [string, readonly string[]])[]): void {
  for (const [resource, paths] of resources) {
    const files = new Set(paths);
    for (const path of paths) {
      const above = directoriesAbove(path).find((one) => files.has(one));
      if (above === undefined) continue;
      throw new PlanError(`${resource}/${above} and ${resource}/${path} cannot both be there.`, {
        kept: "Nothing was changed.",
        next: [{ text: "accept both changes, or reject both" }],
      });
    }
  }
}

/** The merge reads them from the store, as it does with all others. */
async function storeContents(store: Store, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const staged: StagedContent[] = [];
  for (const [hash, content] of contents) staged.push(await stageContent(store, content, hash));
  if (staged.length > 0) await store.transaction((tx) => commitContents(tx, staged));
}

function imageOf(
  { content, mode }: { readonly content: Uint8Array; readonly mode: number },
  contents: Map<string, Uint8Array>,
): FileImage {
  const hash = contentHash(content);
  contents.set(hash, content);
  return { hash, mode };
}

function asPlanChange(change: HashedEntryInput, changesetId: ChangesetId, index: number): PlanChange {
  const { resource, path, operation, before, after, toolInvocation } = change;
  const place = { changesetId, sequence: index + 1, at: 0, step: REVIEW_STEP };
  return {
    ...place,
    resource,
    path,
    fromPath: undefined,
    operation,
    before,
    after,
    toolInvocation,
    decision: undefined,
  };
}
