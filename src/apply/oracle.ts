import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { PlanError } from "../domain/errors.ts";
import type { Plan } from "../domain/plan.ts";
import { git, WHOLE_TREE_MS } from "../execution/git.ts";
import { sandboxesOf } from "../execution/kept-sandboxes.ts";
import { netChanges, type NetChange } from "../execution/net-changes.ts";
import { hasRepository, sandboxGit } from "../execution/own-repository.ts";
import { sweep } from "../execution/swept-tree.ts";
import type { Sandbox } from "../execution/sandbox.ts";
import { changedPaths, takeSnapshot } from "../execution/snapshot.ts";
import type { PlanChange } from "../execution/step-runner.ts";
import { sameImage } from "./landing.ts";
import { find, imageOf, Looks } from "./user-tree.ts";

/**
 * What cannot be credited cannot be applied: base and recorded changes must be the sandbox, file by file. A sandbox that is gone has
 * nothing to contradict with; what lands is what was recorded in any case.
 */
export async function requireRecorded(directory: string, plan: Plan, entries: readonly PlanChange[]): Promise<void> {
  for (const sandbox of await sandboxesOf(directory, plan)) {
    const changes = netChanges(entries.filter((entry) => entry.resource === sandbox.alias));
    const differing = await unrecorded(sandbox, changes);
    const [first] = differing;
    if (first === undefined) continue;
    const more = differing.length > 1 ? ` and ${differing.length - 1} more` : "";
    throw new PlanError(`The sandbox of "${sandbox.alias}" is not what was recorded: ${first}${more} differs.`, {
      kept: "Nothing was changed, in any resource.",
      next: [`agents plan diff ${plan.id}`, `agents plan rollback ${plan.id}`],
      detail: { resource: sandbox.alias, paths: differing.slice(0, 100), sandbox: sandbox.root },
    });
  }
}

/**
 * In place a person works beside the plan: what differs there from what was recorded is theirs. `alias/path`; only the recorded paths
 * are looked at, as nobody says of the others whose they are.
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

/** Others get a turn this often: git is being fed and asked at the same time. */
const TURN_MS = 2;

async function changedOtherwise(sandbox: Sandbox, changes: ReadonlyMap<string, NetChange>): Promise<string[]> {
  using looks = new Looks(sandbox.root);
  const differing: string[] = [];
  let turned = performance.now();
  for (const [path, { after }] of changes) {
    if (performance.now() - turned > TURN_MS) {
      await turn();
      turned = performance.now();
    }
    // What is there instead of a file, such as a directory, has paths of its own.
    if (!sameImage(imageOf(looks.find(path)), after)) differing.push(path);
  }
  return differing;
}

async function changedInCopy(sandbox: Sandbox): Promise<string[]> {
  const base = { ...sandbox, root: join(sandbox.root, "..", "base") };
  return changedPaths(await takeSnapshot(base), await takeSnapshot(sandbox));
}

/**
 * Git compares with the commit, by an index of its own. An index that was just made knows no times, so that every file is read, in the
 * one process that also lists what the commit does not have.
 */
async function changedInRepository(sandbox: Sandbox): Promise<string[]> {
  const { root: cwd, base = "", submodules } = sandbox;
  const place = sandboxGit(cwd, sandbox.objects);
  if (!hasRepository(place.home)) return [];
  await sweep(cwd);
  const index = join(place.repository, "oracle-index");
  const own = { cwd, sandbox: place, index, timeoutMs: WHOLE_TREE_MS };
  try {
    // It borrows the user's objects: without them there is nothing to compare with, and nowhere to land either, which is told then.
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
