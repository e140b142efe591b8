/**
 * A plan's diff is made once, at the end of its execution, and kept under a fingerprint of the changes it shows:
 * other changes have another fingerprint, so a kept one is never out of date. (For 1,000 files, making it takes three
 * to four times the processor time of `git diff`, because their bytes come from the store; reading it back takes a
 * third.)
 */
import { hash } from "node:crypto";
import { StoreError } from "../domain/errors/errors.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { findDiff, insertDiff } from "../ledger/diffs.ts";
import { stageContent } from "../store/contents/contents.ts";
import type { Store } from "../store/port.ts";
import { diffChanges, type PlanDiff } from "./diff-of-plan.ts";
import type { PlanChange } from "./plan-changes.ts";

export async function diffOf(store: Store, changes: readonly PlanChange[]): Promise<PlanDiff> {
  const changesets = new ChangesetStore(store);
  const fingerprint = fingerprintOf(changes);
  const kept = await store.read((reader) => findDiff(reader, fingerprint));
  const content = kept === undefined ? undefined : await changesets.content(kept);
  if (content !== undefined) return JSON.parse(Buffer.from(content).toString("utf8")) as PlanDiff;
  const diff = await diffChanges(changesets, changes);
  await keep(store, fingerprint, diff).catch((error: unknown) => {
    // A full disk must not keep the user from seeing the changes of a plan.
    if (!(error instanceof StoreError)) throw error;
  });
  return diff;
}

/** The patch of a large binary file would be stored at more than its size. */
const LARGEST = 4 * 1024 * 1024;

async function keep(store: Store, fingerprint: string, diff: PlanDiff): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(diff));
  if (bytes.byteLength > LARGEST) return;
  const staged = await stageContent(store, bytes);
  await store.transaction(async (tx) => {
    await staged.commit(tx);
    await insertDiff(tx, fingerprint, staged.hash);
  });
}

function fingerprintOf(changes: readonly PlanChange[]): string {
  const facts = changes.map(({ resource, path, fromPath, before, after, step, decision }) => [
    resource,
    path,
    fromPath,
    before,
    after,
    step,
    decision,
  ]);
  return hash("sha256", JSON.stringify(facts));
}
