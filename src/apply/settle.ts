import { readdirSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { LINK, EXECUTABLE } from "../execution/file-state.ts";
import { STAGING_PREFIX } from "../execution/in-place.ts";
import type { FileImage } from "../domain/change-entry.ts";
import type { Hands } from "./hands.ts";
import { goalOf, sameImage, type Direction, type FileMove, type Landing } from "./landing.ts";
import { codeOf, find, imageOf, lookAt, statOf, within, type Found } from "./user-tree.ts";

/**
 * Brings the files of a landing to one side: all as they were, or all as they are to be. Each file is written beside the tree, the
 * old one is moved aside and only then looked at (so that nothing can change between look and replacement), and the new one is
 * linked in, which never replaces anything. Whatever moment it is stopped at, the same function goes on from there, in either
 * direction: what it finds at a path is one side, the other side, or somebody else's, and that stays.
 */
export interface SettleContext {
  readonly journalId: string;
  readonly hands: Hands;
  readonly contentOf: (hash: string) => Promise<Uint8Array>;
  /** Nothing was moved yet: every path is as it was found, and each move makes sure of that itself. */
  readonly fresh: boolean;
  /** The machine went down since: what was moved aside may be gone, and the store has the bytes. */
  readonly powerLost: boolean;
}

/** A path that holds something else than it should: a person was there. */
export class ForeignChangeError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} was changed meanwhile`);
    this.path = path;
  }
}

/** Our own directory in the user's tree: what was moved aside, and what is about to be linked in. */
export function stagingOf(landing: Landing, journalId: string): string {
  return join(landing.root, `${STAGING_PREFIX}${journalId}`);
}

type Todo = { readonly move: FileMove; readonly index: number; readonly there: boolean };

/** Paths where neither side is found, and nothing of ours was moved aside either. */
export function foreignPaths(landing: Landing, context: SettleContext): string[] {
  return landing.files.flatMap((move, index) =>
    standing(landing, context, move, index) === "foreign" ? [move.path] : [],
  );
}

/** Writes what is to be linked in. Here a full disk or a read-only one shows, before anything has moved. */
export async function stageFiles(landing: Landing, direction: Direction, context: SettleContext): Promise<void> {
  const { hands, journalId } = context;
  const staging = stagingOf(landing, journalId);
  const todo = unsettled(landing, direction, context).todo;
  if (todo.length === 0) return;
  for (const directory of [staging, join(staging, "before"), join(staging, "after")]) {
    if (statOf(directory) === undefined) hands.makeDirectory(directory);
  }
  for (const { move, index } of todo) {
    const goal = goalOf(move, direction);
    if (goal === undefined) continue;
    const file = asideOf(staging, direction, index);
    if (!context.fresh) {
      if (isReady(staging, direction, index, goal, context.powerLost)) continue;
      if (statOf(file) !== undefined) hands.remove(file);
    }
    const content = await context.contentOf(goal.hash);
    if (goal.mode === LINK) hands.symlink(content, file);
    else hands.write(file, content, permissionsFor(oldStat(landing, staging, move, index), move, goal));
  }
}

/**
 * Moves the files. With `strict`, a path that is somebody else's ends it with a ForeignChangeError; otherwise it is left as it is and
 * named in the result.
 */
export function settleFiles(
  landing: Landing,
  direction: Direction,
  context: SettleContext,
  options: { readonly strict: boolean },
): string[] {
  const { todo, foreign } = unsettled(landing, direction, context);
  const kept = [...foreign];
  const [first] = foreign;
  if (options.strict && first !== undefined) throw new ForeignChangeError(first);
  const attempt = (step: () => void, path: string): void => {
    try {
      step();
    } catch (error) {
      if (options.strict || !(error instanceof ForeignChangeError)) throw error;
      kept.push(path);
    }
  };
  const leaving = todo.filter(({ move }) => goalOf(move, direction) === undefined);
  const coming = todo.filter(({ move }) => goalOf(move, direction) !== undefined);
  for (const one of leaving) attempt(() => takeAside(landing, direction, context, one), one.move.path);
  removeEmptyDirectories(landing, direction, context);
  for (const one of coming) {
    attempt(() => {
      if (one.there) replace(landing, direction, context, one);
      else putIn(landing, direction, context, one);
    }, one.move.path);
  }
  return kept;
}

function unsettled(
  landing: Landing,
  direction: Direction,
  context: SettleContext,
): { todo: Todo[]; foreign: string[] } {
  const todo: Todo[] = [];
  const foreign: string[] = [];
  for (const [index, move] of landing.files.entries()) {
    if (context.fresh) {
      if (!sameImage(move.before, move.after)) todo.push({ move, index, there: move.before !== undefined });
      continue;
    }
    const state = standing(landing, context, move, index);
    if (state === "foreign") foreign.push(move.path);
    else if (state === "aside") todo.push({ move, index, there: false });
    else if (state !== "both" && state !== direction) {
      const other = goalOf(move, direction === "forward" ? "back" : "forward");
      todo.push({ move, index, there: other !== undefined });
    }
  }
  return { todo, foreign };
}

/** Where a path stands: at the result ("forward"), as it was ("back"), in between ("aside"), or in somebody else's hands. */
function standing(
  landing: Landing,
  context: SettleContext,
  move: FileMove,
  index: number,
): Direction | "both" | "aside" | "foreign" {
  const found = findFile(landing, move.path);
  const now = imageOf(found);
  if (found === "obstacle") return "foreign";
  const [isAfter, isBefore] = [sameImage(now, move.after), sameImage(now, move.before)];
  if (isAfter && isBefore) return "both";
  if (isAfter || isBefore) return isAfter ? "forward" : "back";
  if (now !== undefined) return "foreign";
  const staging = stagingOf(landing, context.journalId);
  const isOurs = (["back", "removed"] as const).some((what) => statOf(asideOf(staging, what, index)) !== undefined);
  return context.powerLost || isOurs ? "aside" : "foreign";
}

/** A directory where a file was or will be is nothing yet: its files are moves of their own. */
function findFile(landing: Landing, path: string): Found {
  const found = find(landing.root, path);
  if (found !== "obstacle") return found;
  const directory = statOf(join(landing.root, path))?.isDirectory() === true;
  return directory && landing.files.some((other) => other.path.startsWith(`${path}/`)) ? "nothing" : found;
}

/**
 * `before/N` is the user's own file, moved aside; `after/N` is ours, about to be linked in; `after/N.removed` is ours, taken out
 * again on the way back.
 */
function asideOf(staging: string, what: Direction | "removed", index: number): string {
  if (what === "back") return join(staging, "before", String(index));
  return join(staging, "after", what === "removed" ? `${index}.removed` : String(index));
}

/** The user's own file is good as it lies there, even if a program that still had it open wrote into it meanwhile. */
function isReady(staging: string, direction: Direction, index: number, goal: FileImage, powerLost: boolean): boolean {
  const found = lookAt(asideOf(staging, direction, index));
  if (direction === "back" && !powerLost) return found !== "nothing";
  return sameImage(imageOf(found), goal);
}

function takeAside(landing: Landing, direction: Direction, context: SettleContext, todo: Todo): void {
  const { path } = todo.move;
  const reached = within(landing.root, path, (at) => moveAside(at, landing, direction, context, todo), false);
  // A directory above was taken away, or a link put in its place: the file is not there any more, and that was not us.
  if (!reached) throw new ForeignChangeError(path);
}

/** Both by one way through the directories: to go it twice took a quarter of the time. */
function replace(landing: Landing, direction: Direction, context: SettleContext, todo: Todo): void {
  const { move, index } = todo;
  const source = asideOf(stagingOf(landing, context.journalId), direction, index);
  const done = within(
    landing.root,
    move.path,
    (at) => moveAside(at, landing, direction, context, todo) && linkIn(context.hands, source, at),
    false,
  );
  if (!done) throw new ForeignChangeError(move.path);
}

/** False when there is no way to the name `at`. */
function moveAside(
  at: string | undefined,
  landing: Landing,
  direction: Direction,
  context: SettleContext,
  { move, index }: Todo,
): at is string {
  if (at === undefined) return false;
  const { hands, journalId } = context;
  const expected = direction === "forward" ? move.before : move.after;
  const aside = asideOf(stagingOf(landing, journalId), direction === "forward" ? "back" : "removed", index);
  try {
    if (!context.fresh && statOf(aside) !== undefined) hands.remove(aside);
    hands.rename(at, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new ForeignChangeError(move.path);
    throw error;
  }
  if (sameImage(imageOf(lookAt(aside)), expected)) return true;
  // It was not what we took it for. If somebody made the name anew in this moment, theirs stays, and this one stays aside.
  linkIn(hands, aside, at);
  throw new ForeignChangeError(move.path);
}

function putIn(landing: Landing, direction: Direction, context: SettleContext, { move, index }: Todo): void {
  const { hands, journalId } = context;
  const source = asideOf(stagingOf(landing, journalId), direction, index);
  const put = (): boolean | undefined =>
    within(landing.root, move.path, (at) => (at === undefined ? undefined : linkIn(hands, source, at)), false);
  let done = put();
  if (done === undefined) {
    makeDirectoriesFor(landing.root, move.path, hands);
    done = put();
  }
  if (done !== true) throw new ForeignChangeError(move.path);
}

/**
 * False when there is something at the name. File systems without second names take a rename, after a look. The first name goes at once: to
 * take it away later would change the file's times, and git, which is about to note them, would have to read every file again.
 */
function linkIn(hands: Hands, source: string, at: string): boolean {
  try {
    hands.link(source, at);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    if (statOf(at) !== undefined) return false;
    hands.rename(source, at);
    return true;
  }
  hands.remove(source);
  return true;
}

function makeDirectoriesFor(root: string, path: string, hands: Hands): void {
  const segments = dirname(path) === "." ? [] : dirname(path).split("/");
  for (const [index] of segments.entries()) {
    const directory = segments.slice(0, index + 1).join("/");
    within(
      root,
      directory,
      (at) => {
        if (at !== undefined && statOf(at) === undefined) hands.makeDirectory(at);
      },
      undefined,
    );
  }
}

/**
 * As git does: a directory whose last file leaves goes too. On the way back only those that were made on the way here. All of the
 * landing's paths count, not only those that left just now: whoever was stopped may have left the empty directory behind.
 */
function removeEmptyDirectories(landing: Landing, direction: Direction, { hands }: SettleContext): void {
  const candidates = new Set<string>(direction === "back" ? landing.newDirectories : []);
  if (direction === "forward") {
    for (const { path } of landing.files.filter(({ before, after }) => before !== undefined && after === undefined)) {
      for (let above = dirname(path); above !== "."; above = dirname(above)) candidates.add(above);
    }
    for (const kept of landing.keptDirectories ?? []) candidates.delete(kept);
  }
  for (const directory of [...candidates].sort().reverse()) {
    within(
      landing.root,
      directory,
      (at) => {
        if (at === undefined || statOf(at)?.isDirectory() !== true) return;
        if (readdirSync(at).length === 0) hands.removeDirectory(at);
      },
      undefined,
    );
  }
}

/** The file as it was before, wherever it is by now. Only its permissions are taken, so a link on the way does no harm. */
function oldStat(landing: Landing, staging: string, move: FileMove, index: number): Stats | undefined {
  return statOf(join(landing.root, move.path)) ?? statOf(asideOf(staging, "back", index));
}

const SET_ID = 0o6000;

/**
 * What the user set on the old file stays; only whether it can be run follows the change. Another content never runs with the rights that
 * its owner gave to the old one (setuid, setgid): the kernel takes them off at a write, and a file that takes another's place is one.
 */
function permissionsFor(old: Stats | undefined, { before, after }: FileMove, goal: FileImage): number {
  const kept = before?.hash === after?.hash ? 0o7777 : 0o7777 & ~SET_ID;
  const permissions = old?.isFile() === true ? old.mode & kept : 0o666 & ~process.umask();
  if (goal.mode !== EXECUTABLE) return permissions & ~0o111;
  return permissions | ((permissions & 0o444) >> 2);
}
