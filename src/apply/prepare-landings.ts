/**
 * Works out the landing of each resource. The changes of a plan lead from its base to its result; in the user's
 * resource they lead from the state that apply found (`before`) to `before` with the changes merged in. An undo or redo
 * of some steps leads from one such state to another: the same merge, with other sides (`shared-worlds.ts`).
 */
import { worksInPlace } from "../domain/resource/resource.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { commitAt } from "../git/checkout.ts";
import { git, requireGit } from "../git/git.ts";
import { targetTaken } from "../changes/net-changes.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { Store } from "../store/port.ts";
import { prepareDirectory } from "./directory-landing.ts";
import { fileWorlds } from "./directory-worlds.ts";
import { treeWith, type TreeWish } from "../git/git-import.ts";
import { findAhead, prepareGit, type Prepared } from "./git-landing.ts";
import { GitSettings } from "../git/git-settings.ts";
import { findGitTarget, newBranchTarget, type GitTarget } from "./git-target.ts";
import { gitWorlds } from "./git-worlds.ts";
import { BRANCHES } from "./new-branch.ts";
import { effect, stepsIn, treeChanges, type HeldChange, type OtherPlan, type PlanOnResource } from "./shared-worlds.ts";
import { lockPlace } from "./resource-locks.ts";
import { directoriesAbove, sameImage, type Landing, type LandingConflict } from "../ledger/landing.ts";
import type { LandingPlan } from "./landing-plan.ts";
import { codeOf, statOf, type Found } from "./user-tree.ts";

export interface Preparation extends Pick<LandingPlan, "records" | "entries" | "from" | "to" | "applied" | "onto"> {
  readonly store: Store;
  /** Which steps of the plan were in the resources after each of its landings. */
  readonly history: PlanOnResource["history"];
  /** Plans that changed the same paths, by the alias of the resource; none for an apply. */
  readonly others: ReadonlyMap<string, readonly OtherPlan[]>;
  /** The commit message for a resource. */
  readonly messageFor: (alias: string) => string;
}

export interface PreparedLandings {
  readonly landings: readonly Landing[];
  readonly conflicts: readonly LandingConflict[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Changes that an undo leaves in place because other plans made them too. */
  readonly held: readonly HeldChange[];
}

export async function prepareLandings(preparation: Preparation): Promise<PreparedLandings> {
  const landings: Landing[] = [];
  const conflicts: LandingConflict[] = [];
  const contents = new Map<string, Uint8Array>();
  const held: HeldChange[] = [];
  if (preparation.records.some(({ baseCommit }) => baseCommit !== undefined)) await requireGit();
  for (const record of preparation.records) {
    const own = preparation.entries.filter((entry) => entry.resource === record.alias);
    if (own.length === 0) continue;
    const preparing =
      record.baseCommit === undefined ? directory(preparation, record, own) : repository(preparation, record, own);
    const prepared = await preparing.catch(unreadableError(record));
    conflicts.push(...prepared.conflicts);
    held.push(...(prepared.held ?? []));
    const { landing } = prepared;
    const twin = landings.find((other) => landing !== undefined && sameBranch(other, landing));
    if (twin !== undefined)
      conflicts.push({ resource: record.alias, path: undefined, why: `is the same branch as ${twin.alias}` });
    if (landing !== undefined) landings.push(landing);
    for (const [hash, content] of prepared.contents) contents.set(hash, content);
  }
  return { landings, conflicts, contents, held };
}

/** A resource that the system does not let us read cannot take a change either. */
function unreadableError({ alias, path }: SandboxRecord): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error instanceof AgentsError || codeOf(error) === undefined) throw error;
    throw new AgentsError("resource_failed", `${alias} cannot be read: ${error.message}.`, {
      cause: error,
      kept: "Nothing was changed, in any resource.",
      detail: { resource: alias, path },
    });
  };
}

function sameBranch({ git: a }: Landing, { git: b }: Landing): boolean {
  if (a === undefined || b === undefined || a.ref !== b.ref) return false;
  return a.ref === "HEAD" ? a.gitDirectory === b.gitDirectory : a.commonDirectory === b.commonDirectory;
}

/** The places whose kernel locks the landing needs. */
export async function lockPlaces(
  records: readonly Pick<SandboxRecord, "path" | "baseCommit" | "strategy">[],
): Promise<string[]> {
  const places: string[] = [];
  for (const record of records) {
    const { path, baseCommit } = record;
    const ofBranch = !worksInPlace(record) && baseCommit !== undefined;
    const repository = ofBranch ? await commonDirectory(path) : undefined;
    places.push(...(repository === undefined ? await directoryPlaces(path) : [await lockPlace(repository)]));
  }
  return places;
}

/** For files that change without their repository: plans that change the repository lock it, and so exclude these. */
export async function directoryPlaces(path: string): Promise<string[]> {
  const repository = await commonDirectory(path);
  return Promise.all((repository === undefined ? [path] : [path, repository]).map(lockPlace));
}

async function commonDirectory(path: string): Promise<string | undefined> {
  const own = join(path, ".git");
  // Most repositories are in the work tree itself: then git need not be asked.
  if (statOf(own)?.isDirectory() === true && !existsSync(join(own, "commondir"))) return own;
  const asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const { code, stdout } = await git(asked, { cwd: path, accept: [0, 128] }).catch(() => ({ code: 128, stdout: "" }));
  return code === 0 ? stdout.toString().trim() : undefined;
}

async function repository(
  preparation: Preparation,
  record: SandboxRecord,
  own: readonly PlanChange[],
): Promise<Prepared> {
  const { alias, path, baseCommit = "" } = record;
  const resolved = targetTaken(own);
  const target = await targetOf(preparation, record, resolved.size > 0);
  if (typeof target === "string")
    return { conflicts: [{ resource: alias, path: undefined, why: target }], contents: new Map() };
  const settings = new GitSettings(path);
  const wish = { contents: contentsFrom(preparation.store), missingError: notStoredError };
  const ours = target.tree;
  const message = preparation.messageFor(alias);
  if (preparation.applied === undefined) {
    const base =
      target.commit === baseCommit && resolved.size === 0
        ? ours
        : (await treeWith(path, baseCommit, treeChanges(own, new Set()), wish)).tree;
    const changes = treeChanges(own, preparation.to);
    settings.prepare(changes.map((change) => change.path));
    const lands = target.commit === baseCommit && resolved.size === 0 && !record.dirty;
    const commit = lands ? { message, identity: () => settings.identity() } : undefined;
    const [{ tree: theirs, ...made }, found] = await Promise.all([
      treeWith(path, baseCommit, changes, { ...wish, commit }),
      target.checkedOut ? findAhead(path, changes) : new Map<string, Found>(),
    ]);
    const { dirty } = record;
    // Of files that were merged by hand, the commit does not have the state from which the plan changes them.
    const differences = resolved.size > 0 ? undefined : made.differences;
    return prepareGit(target, { alias, base, ours, theirs, ...made, differences, message, dirty, settings, found });
  }
  const applied = preparation.applied.find((landing) => landing.alias === alias);
  const plan = { record, entries: own, applied, history: preparation.history };
  const worlds = await gitWorlds(path, plan, preparation, preparation.others.get(alias) ?? [], wish);
  if (worlds === undefined) return { conflicts: [], contents: new Map() };
  if ("conflicts" in worlds)
    return { conflicts: worlds.conflicts.map((file) => inseparableConflict(alias, file)), contents: new Map() };
  const { base, theirs, blobs } = worlds;
  const prepared = await prepareGit(target, { alias, base, ours, theirs, blobs, message, dirty: false, settings });
  return { ...prepared, held: heldIn(alias, worlds.held) };
}

async function targetOf(
  { onto }: Preparation,
  { path, ref, baseCommit = "" }: SandboxRecord,
  isResolved: boolean,
): Promise<GitTarget | string> {
  if (onto === undefined) return findGitTarget(path, ref);
  // A plan whose conflicts were resolved merges with the branch that they were resolved with, and not where it began.
  const head = isResolved ? await commitAt(path, ref ?? "HEAD") : undefined;
  return newBranchTarget(path, `${BRANCHES}${onto}`, head ?? baseCommit);
}

function heldIn(resource: string, held: ReadonlyMap<string, readonly PlanId[]>): HeldChange[] {
  return [...held].map(([path, plans]) => ({ resource, path, plans }));
}

async function directory(
  preparation: Preparation,
  record: SandboxRecord,
  own: readonly PlanChange[],
): Promise<Prepared> {
  const { alias, path: root } = record;
  const { applied: landings, from, to } = preparation;
  const stored = contentFrom(preparation.store);
  const made = new Map<string, Uint8Array>();
  const contentOf = async (hash: string): Promise<Uint8Array> => made.get(hash) ?? stored(hash);
  const applied = landings?.find((landing) => landing.alias === alias);
  const others = preparation.others.get(alias) ?? [];
  const files = new Map<string, { base: FileImage | undefined; theirs: FileImage | undefined }>();
  // A directory that was there before the plan put something into it is the user's, even when it was empty.
  const kept = new Set<string>();
  const conflicts: LandingConflict[] = [];
  const held = new Map<string, readonly PlanId[]>();
  // A file that one step changed and another changed back has no net change over all steps, but one in each.
  const nets = [from, to, stepsIn(own)].map((steps) => effect(own, steps));
  const plan = { record, entries: own, applied, history: preparation.history };
  for (const [path, { before: planBase }] of new Map(nets.flatMap((net) => [...net]))) {
    const worlds =
      landings === undefined
        ? { found: planBase, base: planBase, theirs: nets[1]?.get(path)?.after, held: [] }
        : await fileWorlds(path, plan, preparation, others, { of: contentOf, made });
    if (worlds === undefined) {
      conflicts.push(inseparableConflict(alias, path));
      continue;
    }
    const { found, base, theirs } = worlds;
    if (found === undefined) for (const above of directoriesAbove(path)) kept.add(above);
    if (worlds.held.length > 0) held.set(path, worlds.held);
    if (!sameImage(base, theirs)) files.set(path, { base, theirs });
  }
  if (conflicts.length > 0) return { conflicts, contents: new Map() };
  const plans = [applied, ...others.map((other) => other.applied)];
  for (const directoryMade of plans.flatMap((landing) => landing?.newDirectories ?? [])) kept.delete(directoryMade);
  const prepared = await prepareDirectory({ alias, root, files, kept }, contentOf);
  return { ...prepared, held: heldIn(alias, held) };
}

/** A change of another person or plan was there before this plan's, and merges only with all of its steps together. */
function inseparableConflict(resource: string, path: string): LandingConflict {
  return { resource, path, why: "was also changed by someone else, so a part of the plan cannot be undone on its own" };
}

/** Reads many contents at once: one by one, a thousand took 50 ms longer. */
function contentsFrom(store: Store): TreeWish["contents"] {
  const changesets = new ChangesetStore(store);
  return (hashes) => changesets.contents(hashes);
}

function contentFrom(store: Store): (hash: string) => Promise<Uint8Array> {
  const changesets = new ChangesetStore(store);
  return async (hash) => {
    const content = await changesets.content(hash);
    if (content === undefined) throw notStoredError(hash);
    return content;
  };
}

export function notStoredError(hash: string): AgentsError {
  return new AgentsError("store_corrupt", `The recorded content ${hash} is not in the store.`, {
    kept: "Nothing was changed.",
  });
}
