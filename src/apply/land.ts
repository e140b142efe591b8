import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { commitAt } from "../execution/checkout.ts";
import { LINK } from "../execution/file-state.ts";
import { git } from "../execution/git.ts";
import type { Store } from "../store/store.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { FileImage } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { indexUnchanged, lockIndex, settleIndex, unlockIndex } from "./git-index.ts";
import { movedMeanwhile, shortRef } from "./git-target.ts";
import type { Hands } from "./hands.ts";
import { bootId, decideDirection, type Journal } from "./journal.ts";
import { clearRefLocks } from "./ref-locks.ts";
import { goalOf, sameImage, type Direction, type GitLanding, type Landing } from "./landing.ts";
import { ForeignChangeError, foreignPaths, settleFiles, stageFiles, stagingOf, type SettleContext } from "./settle.ts";
import { codeOf, find, imageOf, lookAt, statOf, within } from "./user-tree.ts";

/**
 * Carries a journal out. The first owner goes forward; when something is in the way it goes back. Whoever finds a journal after a
 * crash decides once, forward if every remaining precondition holds and back otherwise, writes the decision down, and from then on
 * only that direction is gone, by whomever. The caller holds the kernel lock of every resource.
 */
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
  hands: Hands,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<Landed> {
  const stored = contextOf(store, journal, hands);
  const contentOf = async (hash: string): Promise<Uint8Array> => contents.get(hash) ?? stored.contentOf(hash);
  const context = { ...stored, contentOf, fresh: true };
  try {
    await lockIndexes(journal, hands);
  } catch (cause) {
    // Nothing has moved: to go back there is no need to wait for the locks once more.
    const direction = await store.transaction((tx) => decideDirection(tx, journal.id, "back"));
    unlockIndexes(journal, hands);
    return { direction, kept: [], cause };
  }
  try {
    await requireUnchanged(journal.landings);
    for (const landing of journal.landings) await stageFiles(landing, "forward", context);
    await settleRefs(journal, "forward", hands, { strict: true });
    for (const landing of journal.landings) settleFiles(landing, "forward", context, { strict: true });
    for (const landing of checkedOut(journal)) {
      const [path] = await settleIndex(landing, "forward", { journalId: journal.id, hands });
      if (path !== undefined) throw new ForeignChangeError(path);
    }
  } catch (cause) {
    const direction = await store.transaction((tx) => decideDirection(tx, journal.id, "back"));
    const { kept } = await settle(store, journal, direction, hands);
    return { direction, kept, cause };
  }
  syncNames(journal.landings, hands);
  unlockIndexes(journal, hands);
  return { direction: "forward", kept: [] };
}

/** Goes on with what somebody left behind. */
export async function resumeLanding(store: Store, journal: Journal, hands: Hands): Promise<Landed> {
  requirePresent(journal.landings);
  for (const landing of journal.landings) await clearRefLocks(landing, journal.id, hands);
  await lockIndexes(journal, hands);
  const wanted = journal.direction ?? (await possibleDirection(store, journal, hands));
  const direction = await store.transaction((tx) => decideDirection(tx, journal.id, wanted));
  return settle(store, journal, direction, hands);
}

/** Takes away what only helped: after the seal. What a program wrote into a file that was moved aside meanwhile is kept and named. */
export function tidyUp(journal: Journal, hands: Hands): string[] {
  unlockIndexes(journal, hands);
  const late: string[] = [];
  for (const landing of journal.landings) {
    const staging = stagingOf(landing, journal.id);
    if (statOf(staging)?.isDirectory() !== true) continue;
    const written = lateEdits(landing, staging, journal);
    if (written.length === 0) hands.removeTree(staging);
    else late.push(...written);
  }
  return late;
}

/** Asks for everything the landing wrote to be on disk; a file that is somebody else's by now does no harm. */
export function writeOut(journal: Journal, hands: Hands): void {
  for (const { root, files } of journal.landings) {
    const places = new Set(files.flatMap(({ path }) => [path, dirname(path)]));
    for (const place of places) {
      within(root, place, (at) => (at === undefined ? undefined : syncFile(at, hands)), undefined);
    }
  }
}

function syncFile(file: string, hands: Hands): void {
  const found = statOf(file);
  if (found === undefined || !(found.isFile() || found.isDirectory())) return;
  try {
    hands.sync(file);
  } catch (error) {
    // Gone, or not ours to read any more: then it is not ours to care for either.
    if (!["ENOENT", "EACCES", "ELOOP"].includes(codeOf(error) ?? "")) throw error;
  }
}

/**
 * Files that were sealed but whose bytes never reached the disk are written again. Such a file is there (its directory was on disk
 * before the seal), holds nothing or zeros, and is no younger than the seal. Everything else that differs by now is somebody's doing,
 * and stays: a file that was deleted, another branch, an undo.
 */
export async function repairAfterPowerLoss(
  store: Store,
  journal: Journal,
  direction: Direction,
  hands: Hands,
): Promise<void> {
  const { contentOf } = contextOf(store, journal, hands);
  for (const landing of journal.landings) {
    for (const move of landing.files) {
      const goal = goalOf(move, direction);
      if (goal === undefined || goal.mode === LINK || !lostItsBytes(landing.root, move.path, goal, journal)) continue;
      const content = await contentOf(goal.hash);
      within(landing.root, move.path, (at) => (at === undefined ? undefined : rewrite(hands, at, content)), undefined);
    }
  }
}

function lostItsBytes(root: string, path: string, goal: FileImage, { sealedAt = 0 }: Journal): boolean {
  const found = find(root, path);
  if (typeof found === "string" || found.mode === LINK || found.image.hash === goal.hash) return false;
  const age = within(root, path, (at) => (at === undefined ? undefined : statOf(at)?.mtimeMs), undefined);
  return age !== undefined && age <= sealedAt && found.content.every((byte) => byte === 0);
}

function rewrite(hands: Hands, at: string, content: Uint8Array): void {
  const temporary = `${at}.cleveragents`;
  if (statOf(temporary) !== undefined) hands.remove(temporary);
  hands.write(temporary, content, (statOf(at)?.mode ?? 0o644) & 0o7777);
  hands.rename(temporary, at);
}

/** Names are on disk before the seal says so; the bytes of new files may follow. One sync of a directory is no sync of each file. */
function syncNames(landings: readonly Landing[], hands: Hands): void {
  for (const { root, files } of landings) {
    for (const place of new Set(files.map(({ path }) => dirname(path)))) {
      if (place === ".") syncFile(root, hands);
      else within(root, place, (at) => (at === undefined ? undefined : syncFile(at, hands)), undefined);
    }
  }
}

async function settle(store: Store, journal: Journal, direction: Direction, hands: Hands): Promise<Landed> {
  const context = contextOf(store, journal, hands);
  const kept: string[] = [];
  await lockIndexes(journal, hands);
  if (direction === "forward") kept.push(...(await settleRefs(journal, direction, hands, { strict: false })));
  for (const landing of journal.landings) {
    await stageFiles(landing, direction, context);
    kept.push(...settleFiles(landing, direction, context, { strict: false }));
  }
  for (const landing of checkedOut(journal)) {
    kept.push(...(await settleIndex(landing, direction, { journalId: journal.id, hands })));
  }
  if (direction === "back") kept.push(...(await settleRefs(journal, direction, hands, { strict: false })));
  syncNames(journal.landings, hands);
  unlockIndexes(journal, hands);
  return { direction, kept: [...new Set(kept)] };
}

async function possibleDirection(store: Store, journal: Journal, hands: Hands): Promise<Direction> {
  const context = contextOf(store, journal, hands);
  const places: RefPlace[] = [];
  for (const { root, git: target } of journal.landings) {
    if (target !== undefined) places.push(await refPlace(root, target));
  }
  // Somebody built on the result: it cannot be taken away from below them.
  if (places.includes("beyond")) return "forward";
  if (places.includes("elsewhere")) return "back";
  return journal.landings.some((landing) => foreignPaths(landing, context).length > 0) ? "back" : "forward";
}

function contextOf(store: Store, journal: Journal, hands: Hands): SettleContext {
  return {
    journalId: journal.id,
    hands,
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

/** One that is moved away or not mounted may come back half done: it is waited for, and nothing is decided without it. */
function requirePresent(landings: readonly Landing[]): void {
  for (const { root, git: target } of landings) {
    if (existsSync(root) && (target === undefined || existsSync(target.gitDirectory))) continue;
    throw new AgentsError("resource_failed", `${root} is not there.`, {
      kept: "Everything else of it is as the interruption left it.",
      next: [`put ${root} back where it was`],
    });
  }
}

async function lockIndexes(journal: Journal, hands: Hands): Promise<void> {
  for (const landing of checkedOut(journal)) await lockIndex(landing, journal.id, hands);
}

function unlockIndexes(journal: Journal, hands: Hands): void {
  for (const landing of checkedOut(journal)) unlockIndex(landing, journal.id, hands);
}

/** Between the look and the lock the user may have staged something or gone to another branch. */
async function requireUnchanged(landings: readonly Landing[]): Promise<void> {
  for (const landing of landings) {
    const [moved, unchanged] = await Promise.all([
      movedMeanwhile(landing),
      landing.git?.checkedOut === true ? indexUnchanged(landing) : true,
    ]);
    if (moved !== undefined) throw meanwhile(moved);
    if (!unchanged) throw meanwhile("something was staged");
  }
}

function meanwhile(what: string): AgentsError {
  return new AgentsError("merge_conflict", `While the change was being prepared ${what}.`, {
    kept: "Nothing was changed.",
    next: ["try again"],
  });
}

type RefPlace = "before" | "after" | "beyond" | "elsewhere";

async function refPlace(root: string, target: GitLanding): Promise<RefPlace> {
  const now = await commitAt(root, target.ref);
  if (now === target.newCommit) return "after";
  if (now === target.oldCommit) return "before";
  if (now === undefined) return "elsewhere";
  const { code } = await git(["merge-base", "--is-ancestor", target.newCommit, now], {
    cwd: root,
    accept: [0, 1, 128],
  });
  return code === 0 ? "beyond" : "elsewhere";
}

/** All refs of one repository in one transaction of git's own, each only from where it should be. */
async function settleRefs(
  journal: Journal,
  direction: Direction,
  hands: Hands,
  options: { readonly strict: boolean },
): Promise<string[]> {
  const kept: string[] = [];
  const repositories = new Map<string, { root: string; commands: string[]; targets: GitLanding[] }>();
  for (const { root, git: target } of journal.landings) {
    if (target === undefined || target.oldCommit === target.newCommit) continue;
    const [goal, other] = direction === "forward" ? ["after", "before"] : ["before", "after"];
    // The first owner has just looked, and git looks again as it moves the ref.
    const now = options.strict ? other : await refPlace(root, target);
    if (now === goal || (direction === "forward" && now === "beyond")) continue;
    if (now !== other) {
      kept.push(shortRef(target.ref));
      continue;
    }
    const [to, from] =
      direction === "forward" ? [target.newCommit, target.oldCommit] : [target.oldCommit, target.newCommit];
    // Each work tree has a HEAD of its own, which only a git that runs there means by that name.
    const place = target.ref === "HEAD" ? target.gitDirectory : target.commonDirectory;
    const repository = repositories.get(place) ?? { root, commands: [], targets: [] };
    repository.commands.push("option no-deref", `update ${target.ref} ${to} ${from}`);
    repository.targets.push(target);
    repositories.set(place, repository);
  }
  const reason = `cleveragents: ${direction === "forward" ? journal.kind : `${journal.kind} taken back`} ${journal.planId}`;
  for (const { root, commands, targets } of repositories.values()) {
    try {
      await hands.updateRefs(root, ["start", ...commands, "prepare", "commit", ""].join("\n"), reason);
    } catch (error) {
      if (options.strict) await requireUnmoved(root, targets);
      throw error;
    }
  }
  return kept;
}

/** What git refused because somebody moved the branch is told as that. */
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
    // One with a second name is back in its place, and whoever put it there was killed before the first one went.
    if (stat === undefined || stat.nlink > 1) return [];
    // Moving a file aside changes its inode; only a write after that leaves both times the same, however the clock was set since.
    if (stat.mtimeMs <= journal.createdAt && stat.mtimeMs < stat.ctimeMs) return [];
    return sameImage(imageOf(lookAt(aside)), before) ? [] : [aside];
  });
}
