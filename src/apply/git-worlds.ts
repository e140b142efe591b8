/** The worlds of `shared-worlds.ts` in a git repository: a world is a whole tree. */
import type { PlanId } from "../domain/names/ids.ts";
import { targetTaken } from "../changes/net-changes.ts";
import { git } from "../git/git.ts";
import { treeWith, type TreeWish } from "../git/git-import.ts";
import { mergeTrees, treeDifferences, treeOf } from "../git/git-objects.ts";
import {
  effect,
  SharedWorlds,
  stepsIn,
  treeChanges,
  type PlanOnResource,
  type OtherPlan,
  type Steps,
  type WorldKind,
} from "./shared-worlds.ts";

/** The trees from which and to which an undo or redo leads, and the paths that stay because of other plans. */
export type GitWorlds =
  | {
      readonly base: string;
      readonly theirs: string;
      readonly blobs: ReadonlyMap<string, Uint8Array>;
      readonly held: ReadonlyMap<string, readonly PlanId[]>;
    }
  | { readonly conflicts: readonly string[] };

/** Undefined where none of the changes are the plan's to move. */
export async function gitWorlds(
  repository: string,
  plan: PlanOnResource,
  steps: Steps,
  others: readonly OtherPlan[],
  wish: TreeWish,
): Promise<GitWorlds | undefined> {
  const kind = treesOf(repository, wish);
  const whole = effect(plan.entries, stepsIn(plan.entries));
  // A file that one step changed and another changed back has no net change over all steps, but one in each.
  const nets = [whole, effect(plan.entries, steps.from), effect(plan.entries, steps.to)];
  const taken = targetTaken(plan.entries);
  const paths = [...new Set([...nets.flatMap((net) => [...net.keys()]), ...taken.keys()])];
  const shared = new SharedWorlds(kind, await presentIn(repository, others), new Set(paths));
  // Every change was there already when the plan was applied, and no plan had made it: none of them are the plan's.
  const foreign = plan.applied?.git === undefined && whole.size > 0;
  if (foreign && shared.isEmpty) return undefined;
  const found = await shared.found(plan, paths);
  const began = await kind.claim(plan, new Set(), paths);
  // All steps together merged when they were applied; some of them alone may not.
  const before = await kind.claim(plan, steps.from, paths);
  const made = await treeWith(repository, plan.record.baseCommit ?? "", treeChanges(plan.entries, steps.to), wish);
  const from = await mergeTrees(repository, { base: began, ours: found, theirs: before });
  const to = await mergeTrees(repository, { base: began, ours: found, theirs: made.tree });
  if (from.tree === undefined || to.tree === undefined) {
    // Changes that another plan had made before move with that plan.
    return foreign ? undefined : { conflicts: [...(from.conflicts ?? []), ...(to.conflicts ?? [])] };
  }
  const worlds = await shared.brought({ from: from.tree, to: to.tree }, plan, paths);
  const held = await shared.holders(worlds, plan, steps, paths);
  return { base: worlds.from, theirs: worlds.to, blobs: made.blobs, held };
}

function treesOf(repository: string, wish: TreeWish): WorldKind<string> {
  const claim: WorldKind<string>["claim"] = async (plan, steps, paths) => {
    const only = new Set(paths);
    const wanted = treeChanges(plan.entries, steps).filter(({ path }) => only.has(path));
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

/** Without the plans whose base commit git has removed since: their claims cannot be computed any more. */
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
