import { git } from "../execution/git.ts";
import type { TreeChange, TreeWish } from "./git-import.ts";
import { treeWith } from "./git-import.ts";
import { mergeTrees, treeDifferences, treeOf } from "./git-objects.ts";
import {
  effect,
  holders,
  sharing,
  stepsIn,
  withLater,
  withoutUndone,
  type OtherPlan,
  type OwnChange,
  type WorldKind,
} from "./other-plans.ts";
import type { PlanId } from "../domain/ids.ts";

/** The trees between which an undo or redo leads, and the paths that stay because of other plans. */
export type GitWorlds =
  | {
      readonly base: string;
      readonly theirs: string;
      readonly blobs: ReadonlyMap<string, Uint8Array>;
      readonly held: ReadonlyMap<string, readonly PlanId[]>;
    }
  | { readonly conflicts: readonly string[] };

/** Undefined where nothing of it is the plan's to move. */
export async function gitWorlds(
  repository: string,
  own: OwnChange,
  others: readonly OtherPlan[],
  wish: TreeWish,
): Promise<GitWorlds | undefined> {
  const { plan, from, to } = own;
  const kind = treesOf(repository, wish);
  const whole = effect(plan.entries, stepsIn(plan.entries));
  // A file that one step changed and another changed back is no change of all of them, but one of each.
  const paths = new Set(
    [whole, effect(plan.entries, from), effect(plan.entries, to)].flatMap((net) => [...net.keys()]),
  );
  const shared = sharing(await presentIn(repository, others), paths);
  // Everything was there already when it was applied, and no plan put it there: none of it is the plan's.
  const foreign = plan.applied?.git === undefined && whole.size > 0;
  if (foreign && shared.length === 0) return undefined;
  const found = await withoutUndone(kind, await kind.found(plan, [...paths]), shared);
  const began = await treeOf(repository, plan.record.baseCommit ?? "");
  // All steps together merged when they were applied; only some of them may not.
  const made = await treeWith(repository, plan.record.baseCommit ?? "", changes(plan, to), wish);
  const base = await mergeTrees(repository, {
    base: began,
    ours: found,
    theirs: await kind.claim(plan, from, [...paths]),
  });
  const theirs = await mergeTrees(repository, { base: began, ours: found, theirs: made.tree });
  if (base.tree === undefined || theirs.tree === undefined)
    // A part of what another plan had brought before moves with that plan.
    return foreign ? undefined : { conflicts: [...(base.conflicts ?? []), ...(theirs.conflicts ?? [])] };
  const [before = base.tree, after = theirs.tree] = await withLater(kind, [base.tree, theirs.tree], shared);
  const held = await holders(kind, { from: before, to: after }, own, shared);
  return { base: before, theirs: after, blobs: made.blobs, held };
}

function treesOf(repository: string, wish: TreeWish): WorldKind<string> {
  const claim: WorldKind<string>["claim"] = async (plan, steps, paths) => {
    const only = new Set(paths);
    const wanted = changes(plan, steps).filter(({ path }) => only.has(path));
    return (await treeWith(repository, plan.record.baseCommit ?? "", wanted, wish)).tree;
  };
  return {
    claim,
    merge: async (base, ours, theirs) => (await mergeTrees(repository, { base, ours, theirs })).tree,
    found: async (plan, paths) =>
      plan.applied?.git === undefined
        ? claim(plan, stepsIn(plan.entries), paths)
        : treeOf(repository, plan.applied.git.oldCommit),
    differences: async (a, b) => (await treeDifferences(repository, a, b)).map(({ path }) => path),
  };
}

function changes({ entries }: Pick<OtherPlan, "entries">, steps: ReadonlySet<string>): TreeChange[] {
  return [...effect(entries, steps)].map(([path, { after }]) => ({ path, after }));
}

/** A plan whose beginning git has thrown away long since can claim nothing any more. */
async function presentIn(repository: string, others: readonly OtherPlan[]): Promise<OtherPlan[]> {
  const present: OtherPlan[] = [];
  for (const other of others) {
    const commits = [other.record.baseCommit, other.applied?.git?.oldCommit].flatMap((commit) => commit ?? []);
    const asked = commits.map((commit) => `${commit}^{tree}\n`).join("");
    const { stdout } = await git(["cat-file", "--batch-check"], { cwd: repository, input: asked });
    if (!/ missing$/m.test(stdout.toString("utf8"))) present.push(other);
  }
  return present;
}
