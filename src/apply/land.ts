/**
 * Carries a journal out. Its first owner goes forward; when something is in the way it goes back. A process that finds
 * a journal after a crash decides once, forward if every remaining precondition holds and back otherwise, writes the
 * decision down, and from then on every process goes in that direction only. The caller holds the kernel lock of every
 * resource.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { commitAt } from "../git/checkout.ts";
import { LINK } from "../platform/file-state.ts";
import { git } from "../git/git.ts";
import type { Store } from "../store/port.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { indexUnchanged, lockIndex, settleIndex, unlockIndex } from "./git-index.ts";
import { movedMeanwhile, shortRef } from "./git-target.ts";
import type { FileEffects } from "./file-effects.ts";
import { bootId, decideDirection, type Journal } from "../ledger/journal.ts";
import { clearRefLocks } from "./ref-locks.ts";
import { goalOf, sameImage, type Direction, type GitLanding, type Landing } from "../ledger/landing.ts";
import { ForeignChangeError, foreignPaths, settleFiles, stageFiles, stagingOf, type SettleContext } from "./settle.ts";
import { codeOf, find, imageOf, foundAt, statOf, within } from "./user-tree.ts";

export interface Landed {
  readonly direction: Direction;
  /** Paths and branches that a person changed meanwhile: left as they are. */
  readonly kept: readonly string[];
  /** Why the first owner had to go back. */
  readonly cause?: unknown;
}

export async function land(
  store: Store,
  journal: Journal,
  effects: FileEffects,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<Landed> {
  const stored = contextOf(store, journal, effects);
  const contentOf = async (hash: string): Promise<Uint8Array> => contents.get(hash) ?? stored.contentOf(hash);
  const context = { ...stored, contentOf, fresh: true };
  try {
    await lockIndexes(journal, effects);
  } catch (cause) {
    // Nothing has moved: to go back it need not wait for the locks again.
    const direction = await store.transaction((tx) => decideDirection(tx, journal.id, "back"));
    unlockIndexes(journal, effects);
    return { direction, kept: [], cause };
  }
  try {
    await requireUnchanged(journal.landings);
    for (const landing of journal.landings) await stageFiles(landing, "forward", context);
    await settleRefs(journal, "forward", effects, { strict: true });
    for (const landing of journal.landings) settleFiles(landing, "forward", context, { strict: true });
    for (const landing of checkedOut(journal)) {
      const [path] = await settleIndex(landing, "forward", { journalId: journal.id, effects });
      if (path !== undefined) throw new ForeignChangeError(path);
    }
  } catch (cause) {
    const direction = await store.transaction((tx) => decideDirection(tx, journal.id, "back"));
    const { kept } = await settle(store, journal, direction, effects);
    return { direction, kept, cause };
  }
  syncNames(journal.landings, effects);
  unlockIndexes(journal, effects);
  return { direction: "forward", kept: [] };
}

/** Finishes the landing of a process that died. */
export async function resumeLanding(store: Store, journal: Journal, effects: FileEffects): Promise<Landed> {
  requirePresent(journal.landings);
  for (const landing of journal.landings) await clearRefLocks(landing, journal.id, effects);
  await lockIndexes(journal, effects);
  const wanted = journal.direction ?? (await possibleDirection(store, journal, effects));
  const direction = await store.transaction((tx) => decideDirection(tx, journal.id, wanted));
  return settle(store, journal, direction, effects);
}

/**
 * Removes our own files, after the seal. A file that a program wrote into after it was moved aside is kept, and named
 * in the result.
 */
export function tidyUp(journal: Journal, effects: FileEffects): string[] {
  unlockIndexes(journal, effects);
  const late: string[] = [];
  for (const landing of journal.landings) {
    const staging = stagingOf(landing, journal.id);
    if (statOf(staging)?.isDirectory() !== true) continue;
    const written = lateEdits(landing, staging, journal);
    if (written.length === 0) effects.removeTree(staging);
    else late.push(...written);
  }
  return late;
}

/** Makes the files of the landing durable; a file that was changed by others since does no harm. */
export function writeOut(journal: Journal, effects: FileEffects): void {
  for (const { root, files } of journal.landings) {
    const places = new Set(files.flatMap(({ path }) => [path, dirname(path)]));
    for (const place of places) {
      within(root, place, (at) => (at === undefined ? undefined : syncFile(at, effects)), undefined);
    }
  }
}

function syncFile(file: string, effects: FileEffects): void {
  const found = statOf(file);
  if (found === undefined || !(found.isFile() || found.isDirectory())) return;
  try {
    effects.sync(file);
  } catch (error) {
    // Gone, or no longer readable for us: then it was replaced, and its durability is not our concern.
    if (!["ENOENT", "EACCES", "ELOOP"].includes(codeOf(error) ?? "")) throw error;
  }
}

/**
 * Writes sealed files again whose bytes never reached the disk. Such a file is there (its directory was on disk before
 * the seal), holds nothing or zeros, and is not younger than the seal. Every other difference was made by others, and
 * stays: a deleted file, another branch, an undo.
 */
export async function repairAfterPowerLoss(
  store: Store,
  journal: Journal,
  direction: Direction,
  effects: FileEffects,
): Promise<void> {
  const { contentOf } = contextOf(store, journal, effects);
  for (const landing of journal.landings) {
    for (const move of landing.files) {
      const goal = goalOf(move, direction);
      if (goal === undefined || goal.mode === LINK || !lostItsBytes(landing.root, move.path, goal, journal)) continue;
      const content = await contentOf(goal.hash);
      within(
        landing.root,
        move.path,
        (at) => (at === undefined ? undefined : rewrite(effects, at, content)),
        undefined,
      );
    }
  }
}

function lostItsBytes(root: string, path: string, goal: FileImage, { sealedAt = 0 }: Journal): boolean {
  const found = find(root, path);
  if (typeof found === "string" || found.mode === LINK || found.image.hash === goal.hash) return false;
  const age = within(root, path, (at) => (at === undefined ? undefined : statOf(at)?.mtimeMs), undefined);
  return age !== undefined && age <= sealedAt && found.content.every((byte) => byte === 0);
}

function rewrite(effects: FileEffects, at: string, content: Uint8Array): void {
  const temporary = `${at}.cleveragents`;
  if (statOf(temporary) !== undefined) effects.remove(temporary);
  effects.write(temporary, content, (statOf(at)?.mode ?? 0o644) & 0o7777);
  effects.rename(temporary, at);
}

/**
 * Names are on disk before the seal says so; the bytes of new files may follow. A directory is synced once, not once
 * for each file.
 */
function syncNames(landings: readonly Landing[], effects: FileEffects): void {
  for (const { root, files } of landings) {
    for (const place of new Set(files.map(({ path }) => dirname(path)))) {
      if (place === ".") syncFile(root, effects);
      else within(root, place, (at) => (at === undefined ? undefined : syncFile(at, effects)), undefined);
    }
  }
}

async function settle(store: Store, journal: Journal, direction: Direction, effects: FileEffects): Promise<Landed> {
  const context = contextOf(store, journal, effects);
  const kept: string[] = [];
  await lockIndexes(journal, effects);
  if (direction === "forward") kept.push(...(await settleRefs(journal, direction, effects, { strict: false })));
  for (const landing of journal.landings) {
    await stageFiles(landing, direction, context);
    kept.push(...settleFiles(landing, direction, context, { strict: false }));
  }
  for (const landing of checkedOut(journal)) {
    kept.push(...(await settleIndex(landing, direction, { journalId: journal.id, effects })));
  }
  if (direction === "back") kept.push(...(await settleRefs(journal, direction, effects, { strict: false })));
  syncNames(journal.landings, effects);
  unlockIndexes(journal, effects);
  return { direction, kept: [...new Set(kept)] };
}

async function possibleDirection(store: Store, journal: Journal, effects: FileEffects): Promise<Direction> {
  const context = contextOf(store, journal, effects);
  const places: RefPlace[] = [];
  for (const { root, git: target } of journal.landings) {
    if (target !== undefined) places.push(await refPlace(root, target));
  }
  // The branch has commits on top of the result: it cannot be removed below them.
  if (places.includes("beyond")) return "forward";
  if (places.includes("elsewhere")) return "back";
  return journal.landings.some((landing) => foreignPaths(landing, context).length > 0) ? "back" : "forward";
}

function contextOf(store: Store, journal: Journal, effects: FileEffects): SettleContext {
  return {
    journalId: journal.id,
    effects,
    fresh: false,
    powerLost: journal.boot !== bootId(),
    contentOf: async (hash) => {
      const content = await new ChangesetStore(store).content(hash);
      if (content === undefined)
        throw new Error(`The content ${hash} of the journal ${journal.id} is not in the store.`);
      return content;
    },
  };
}

function checkedOut({ landings }: Journal): Landing[] {
  return landings.filter((landing) => landing.git?.checkedOut === true);
}

/** A resource that was moved away or is not mounted may come back half done: no direction is decided without it. */
function requirePresent(landings: readonly Landing[]): void {
  for (const { root, git: target } of landings) {
    if (existsSync(root) && (target === undefined || existsSync(target.gitDirectory))) continue;
    throw new AgentsError("resource_failed", `${root} is missing.`, {
      kept: "All other resources are as the interruption left them.",
      next: [{ text: `put ${root} back where it was` }],
    });
  }
}

async function lockIndexes(journal: Journal, effects: FileEffects): Promise<void> {
  for (const landing of checkedOut(journal)) await lockIndex(landing, journal.id, effects);
}

function unlockIndexes(journal: Journal, effects: FileEffects): void {
  for (const landing of checkedOut(journal)) unlockIndex(landing, journal.id, effects);
}

/** Between the merge and the lock the user may have staged something or checked out another branch. */
async function requireUnchanged(landings: readonly Landing[]): Promise<void> {
  for (const landing of landings) {
    const [moved, unchanged] = await Promise.all([
      movedMeanwhile(landing),
      landing.git?.checkedOut === true ? indexUnchanged(landing) : true,
    ]);
    if (moved !== undefined) throw changedMeanwhileError(moved);
    if (!unchanged) throw changedMeanwhileError("something was staged");
  }
}

function changedMeanwhileError(what: string): AgentsError {
  return new AgentsError("merge_conflict", `While the changes were being merged, ${what}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "try again" }],
  });
}

type RefPlace = "before" | "after" | "beyond" | "elsewhere";

async function refPlace(root: string, target: GitLanding): Promise<RefPlace> {
  const now = await commitAt(root, target.ref);
  if (now === target.newCommit) return "after";
  if (now === (target.created === true ? undefined : target.oldCommit)) return "before";
  if (now === undefined) return "elsewhere";
  const { code } = await git(["merge-base", "--is-ancestor", target.newCommit, now], {
    cwd: root,
    accept: [0, 1, 128],
  });
  return code === 0 ? "beyond" : "elsewhere";
}

/** Moves all refs of one repository in one transaction of git's own, each only from the commit where it should be. */
async function settleRefs(
  journal: Journal,
  direction: Direction,
  effects: FileEffects,
  options: { readonly strict: boolean },
): Promise<string[]> {
  const kept: string[] = [];
  const repositories = new Map<string, { root: string; commands: string[]; targets: GitLanding[] }>();
  for (const { root, git: target } of journal.landings) {
    if (target === undefined || target.oldCommit === target.newCommit) continue;
    const [goal, other] = direction === "forward" ? ["after", "before"] : ["before", "after"];
    // The first owner has just read the refs, and git compares them again as it moves them.
    const now = options.strict ? other : await refPlace(root, target);
    if (now === goal || (direction === "forward" && now === "beyond")) continue;
    if (now !== other) {
      kept.push(shortRef(target.ref));
      continue;
    }
    // Each work tree has its own HEAD, and only a git that runs there means it by that name.
    const place = target.ref === "HEAD" ? target.gitDirectory : target.commonDirectory;
    const repository = repositories.get(place) ?? { root, commands: [], targets: [] };
    repository.commands.push("option no-deref", refCommand(target, direction));
    repository.targets.push(target);
    repositories.set(place, repository);
  }
  const reason = `cleveragents: ${direction === "forward" ? journal.kind : `${journal.kind} reversed`} ${journal.planId}`;
  for (const { root, commands, targets } of repositories.values()) {
    try {
      await effects.updateRefs(root, ["start", ...commands, "prepare", "commit", ""].join("\n"), reason);
    } catch (error) {
      if (options.strict) await requireUnmoved(root, targets);
      throw error;
    }
  }
  return kept;
}

/** Each is a compare-and-swap: git refuses it where the branch is not as it should be. */
function refCommand({ ref, oldCommit, newCommit, created }: GitLanding, direction: Direction): string {
  if (created === true) return direction === "forward" ? `create ${ref} ${newCommit}` : `delete ${ref} ${newCommit}`;
  const [to, from] = direction === "forward" ? [newCommit, oldCommit] : [oldCommit, newCommit];
  return `update ${ref} ${to} ${from}`;
}

/** @throws ForeignChangeError when git refused because another process moved the branch. */
async function requireUnmoved(root: string, targets: readonly GitLanding[]): Promise<void> {
  for (const target of targets) {
    const place = await refPlace(root, target);
    if (place === "beyond" || place === "elsewhere") throw new ForeignChangeError(shortRef(target.ref));
  }
}

function lateEdits(landing: Landing, staging: string, journal: Journal): string[] {
  return landing.files.flatMap(({ before }, index) => {
    const aside = join(staging, "before", String(index));
    const stat = statOf(aside);
    // A file with a second name is back in its place: the process that linked it there was killed before it removed
    // this name.
    if (stat === undefined || stat.nlink > 1) return [];
    // To move a file aside changes its inode time; only a write after that leaves both times equal, also when the clock
    // was set since.
    if (stat.mtimeMs <= journal.createdAt && stat.mtimeMs < stat.ctimeMs) return [];
    return sameImage(imageOf(foundAt(aside)), before) ? [] : [aside];
  });
}
