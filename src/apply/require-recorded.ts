/**
 * Changes that cannot be credited cannot be applied: base plus recorded changes must equal the sandbox, file by file. A
 * sandbox that is gone cannot contradict the record; in any case only the recorded changes are applied.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { PlanError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { git, WHOLE_TREE_MS } from "../git/git.ts";
import { sandboxesOf } from "../execution/sandbox/sandbox-inventory.ts";
import { netChanges, type NetChange } from "../changes/net-changes.ts";
import { hasRepository, sandboxGit } from "../git/own-repository.ts";
import { sweep } from "../execution/sandbox/swept-tree.ts";
import type { Sandbox } from "../execution/sandbox/sandbox.ts";
import { changedPaths, takeSnapshot } from "../execution/workspace/file-listing.ts";
import { isResolveStep, type PlanChange } from "../changes/plan-changes.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { removeState, writeState } from "../platform/file-state.ts";
import type { Store } from "../store/port.ts";
import { sameImage } from "../ledger/landing.ts";
import { find, imageOf, PathProbe } from "./user-tree.ts";

export async function requireRecorded(
  store: Store,
  directory: string,
  plan: Plan,
  entries: readonly PlanChange[],
): Promise<void> {
  for (const sandbox of await sandboxesOf(directory, plan)) {
    const own = entries.filter((entry) => entry.resource === sandbox.alias);
    const changes = netChanges(own);
    await bringResolved(store, sandbox, own);
    const differing = await unrecorded(sandbox, changes);
    const [first] = differing;
    if (first === undefined) continue;
    const more = differing.length > 1 ? ` and ${differing.length - 1} more` : "";
    throw new PlanError(`The sandbox of "${sandbox.alias}" differs from the record: ${first}${more}.`, {
      kept: "Nothing was changed, in any resource.",
      next: [nextStep("plan.diff", { plan: plan.id }), nextStep("plan.rollback", { plan: plan.id })],
      detail: { resource: sandbox.alias, paths: differing.slice(0, 100), sandbox: sandbox.root },
    });
  }
}

/**
 * A resolution is recorded without the lease of a phase, under which alone a sandbox may be written: so its files come
 * into the sandbox here. One that holds neither the result nor a state on the way to it is left, and reported.
 */
async function bringResolved(store: Store, { root }: Sandbox, own: readonly PlanChange[]): Promise<void> {
  const resolving = own.filter(({ step }) => isResolveStep(step));
  for (const [path, steps] of Map.groupBy(resolving, (entry) => entry.path)) {
    const last = own.findLast((entry) => entry.path === path || entry.fromPath === path);
    // An execution that came later made the whole sandbox as it is recorded.
    if (last === undefined || !isResolveStep(last.step)) continue;
    const goal = last.after;
    const now = imageOf(find(root, path));
    if (sameImage(now, goal) || !steps.some(({ before }) => sameImage(now, before))) continue;
    const content = goal === undefined ? undefined : await new ChangesetStore(store).content(goal.hash);
    if (goal === undefined) await removeState(root, path);
    else if (content !== undefined) await writeState(root, path, { content, mode: goal.mode });
  }
}

/**
 * In place a person works beside the plan: a difference from the record is theirs. The result holds `alias/path`; only
 * the recorded paths are compared, because no record says whose the others are.
 */
export function changedInPlace(
  places: readonly { readonly alias: string; readonly path: string }[],
  entries: readonly PlanChange[],
): string[] {
  return places.flatMap(({ alias, path: root }) => {
    const changes = netChanges(entries.filter((entry) => entry.resource === alias));
    const differing = [...changes].filter(([path, { after }]) => !sameImage(imageOf(find(root, path)), after));
    return differing.map(([path]) => `${alias}/${path}`);
  });
}

async function unrecorded(sandbox: Sandbox, changes: ReadonlyMap<string, NetChange>): Promise<string[]> {
  const [changed, otherwise] = await Promise.all([
    sandbox.base === undefined ? changedInCopy(sandbox) : changedInRepository(sandbox),
    changedOtherwise(sandbox, changes),
  ]);
  return [...changed.filter((path) => !changes.has(path)), ...otherwise];
}

/** The event loop gets a turn this often: git is being fed and asked at the same time. */
const TURN_MS = 2;

async function changedOtherwise(sandbox: Sandbox, changes: ReadonlyMap<string, NetChange>): Promise<string[]> {
  using probe = new PathProbe(sandbox.root);
  const differing: string[] = [];
  let turned = performance.now();
  for (const [path, { after }] of changes) {
    if (performance.now() - turned > TURN_MS) {
      await turn();
      turned = performance.now();
    }
    // A directory in the place of a file has paths of its own.
    if (!sameImage(imageOf(probe.find(path)), after)) differing.push(path);
  }
  return differing;
}

async function changedInCopy(sandbox: Sandbox): Promise<string[]> {
  const base = { ...sandbox, root: join(sandbox.root, "..", "base") };
  return changedPaths(await takeSnapshot(base), await takeSnapshot(sandbox));
}

/**
 * Git compares the tree with the commit, by a separate index. A new index has no file times, so git reads every file,
 * in the one process that also lists the files which the commit does not have.
 */
async function changedInRepository(sandbox: Sandbox): Promise<string[]> {
  const { root: cwd, base = "", submodules } = sandbox;
  const place = sandboxGit(cwd, sandbox.objects);
  if (!hasRepository(place.home)) return [];
  await sweep(cwd);
  const index = join(place.repository, "oracle-index");
  const own = { cwd, sandbox: place, index, timeoutMs: WHOLE_TREE_MS };
  try {
    // It borrows the user's objects: without them there is nothing to compare with, and the merge reports that they are
    // missing.
    if ((await git(["read-tree", base], { ...own, accept: "any" })).code !== 0) return [];
    const listing = ["ls-files", "-z", "--deleted", "--modified", "--others", "--exclude-standard"];
    const names = new Set((await git(listing, own)).stdout.toString("utf8").split("\0"));
    for (const submodule of submodules) names.delete(submodule);
    // A repository made inside the sandbox is named as a directory; its files are among the recorded ones.
    return [...names].filter((name) => name !== "" && !name.endsWith("/"));
  } finally {
    await rm(index, { force: true });
  }
}
