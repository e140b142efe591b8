/**
 * Brings the files of a landing to one side: all as they were, or all as they are to be. Each file is written beside
 * the tree, the old one is moved aside and only then read (so that nothing can change between the check and the
 * replacement), and the new one is linked in, which never replaces anything. At whichever moment it is stopped, the
 * same function continues from there, in either direction: each path holds one side, the other side, or a foreign
 * change (of a person or another program), which stays.
 */
import { readdirSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { LINK, EXECUTABLE } from "../platform/file-state.ts";
import { STAGING_PREFIX } from "../execution/sandbox/in-place-sandbox.ts";
import type { FileImage } from "../domain/plan/change-entry.ts";
import type { FileEffects } from "./file-effects.ts";
import { goalOf, sameImage, type Direction, type FileMove, type Landing } from "../ledger/landing.ts";
import { codeOf, find, imageOf, foundAt, statOf, within, type Found } from "./user-tree.ts";

export interface SettleContext {
  readonly journalId: string;
  readonly effects: FileEffects;
  readonly contentOf: (hash: string) => Promise<Uint8Array>;
  /** Nothing was moved yet: every path is as it was found, and each move makes sure of that itself. */
  readonly fresh: boolean;
  /** The machine lost power since: the files moved aside may be gone, and the store has their bytes. */
  readonly powerLost: boolean;
}

/** A path that holds neither side of the landing: a person or another program changed it. */
export class ForeignChangeError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} was changed meanwhile`);
    this.path = path;
  }
}

/** Our own directory in the user's tree, for the files that were moved aside and those about to be linked in. */
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

/** Writes the files that are to be linked in. A full or read-only disk shows here, before anything has moved. */
export async function stageFiles(landing: Landing, direction: Direction, context: SettleContext): Promise<void> {
  const { effects, journalId } = context;
  const staging = stagingOf(landing, journalId);
  const todo = unsettled(landing, direction, context).todo;
  if (todo.length === 0) return;
  for (const directory of [staging, join(staging, "before"), join(staging, "after")]) {
    if (statOf(directory) === undefined) effects.makeDirectory(directory);
  }
  for (const { move, index } of todo) {
    const goal = goalOf(move, direction);
    if (goal === undefined) continue;
    const file = asideOf(staging, direction, index);
    if (!context.fresh) {
      if (isReady(staging, direction, index, goal, context.powerLost)) continue;
      if (statOf(file) !== undefined) effects.remove(file);
    }
    const content = await context.contentOf(goal.hash);
    if (goal.mode === LINK) effects.symlink(content, file);
    else effects.write(file, content, permissionsFor(oldStat(landing, staging, move, index), move, goal));
  }
}

/**
 * Moves the files. With `strict`, a path with a foreign change ends it with a ForeignChangeError; otherwise that path
 * is left as it is and named in the result.
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

/**
 * Where a path stands: at the result ("forward"), as it was ("back"), in between ("aside"), or changed by others
 * ("foreign").
 */
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

/** A directory where a file was or will be counts as nothing: its files are moves of their own. */
function findFile(landing: Landing, path: string): Found {
  const found = find(landing.root, path);
  if (found !== "obstacle") return found;
  const directory = statOf(join(landing.root, path))?.isDirectory() === true;
  return directory && landing.files.some((other) => other.path.startsWith(`${path}/`)) ? "nothing" : found;
}

/**
 * `before/N` is the user's own file, moved aside; `after/N` is ours, about to be linked in; `after/N.removed` is ours,
 * removed again on the way back.
 */
function asideOf(staging: string, what: Direction | "removed", index: number): string {
  if (what === "back") return join(staging, "before", String(index));
  return join(staging, "after", what === "removed" ? `${index}.removed` : String(index));
}

/** The user's own file is good as it is there, even if a program that still had it open wrote into it meanwhile. */
function isReady(staging: string, direction: Direction, index: number, goal: FileImage, powerLost: boolean): boolean {
  const found = foundAt(asideOf(staging, direction, index));
  if (direction === "back" && !powerLost) return found !== "nothing";
  return sameImage(imageOf(found), goal);
}

function takeAside(landing: Landing, direction: Direction, context: SettleContext, todo: Todo): void {
  const { path } = todo.move;
  const reached = within(landing.root, path, (at) => moveAside(at, landing, direction, context, todo), false);
  // Another program removed a directory above, or put a link in its place: the file is no longer there.
  if (!reached) throw new ForeignChangeError(path);
}

/** Moves aside and links in with one walk through the directories: a second walk took a quarter of the time. */
function replace(landing: Landing, direction: Direction, context: SettleContext, todo: Todo): void {
  const { move, index } = todo;
  const source = asideOf(stagingOf(landing, context.journalId), direction, index);
  const done = within(
    landing.root,
    move.path,
    (at) => moveAside(at, landing, direction, context, todo) && linkIn(context.effects, source, at),
    false,
  );
  if (!done) throw new ForeignChangeError(move.path);
}

/** False when the directory of the name `at` is not there. */
function moveAside(
  at: string | undefined,
  landing: Landing,
  direction: Direction,
  context: SettleContext,
  { move, index }: Todo,
): at is string {
  if (at === undefined) return false;
  const { effects, journalId } = context;
  const expected = direction === "forward" ? move.before : move.after;
  const aside = asideOf(stagingOf(landing, journalId), direction === "forward" ? "back" : "removed", index);
  try {
    if (!context.fresh && statOf(aside) !== undefined) effects.remove(aside);
    effects.rename(at, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new ForeignChangeError(move.path);
    throw error;
  }
  if (sameImage(imageOf(foundAt(aside)), expected)) return true;
  // It was not the expected file. If another program made the name again in this moment, that file stays, and this one
  // stays aside.
  linkIn(effects, aside, at);
  throw new ForeignChangeError(move.path);
}

function putIn(landing: Landing, direction: Direction, context: SettleContext, { move, index }: Todo): void {
  const { effects, journalId } = context;
  const source = asideOf(stagingOf(landing, journalId), direction, index);
  const put = (): boolean | undefined =>
    within(landing.root, move.path, (at) => (at === undefined ? undefined : linkIn(effects, source, at)), false);
  let done = put();
  if (done === undefined) {
    makeDirectoriesFor(landing.root, move.path, effects);
    done = put();
  }
  if (done !== true) throw new ForeignChangeError(move.path);
}

/**
 * False when there is something at the name. File systems without hard links get a rename, after a check. The first
 * name is removed at once: to remove it later would change the file's times, and git, which is about to note them,
 * would have to read every file again.
 */
function linkIn(effects: FileEffects, source: string, at: string): boolean {
  try {
    effects.link(source, at);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    if (statOf(at) !== undefined) return false;
    effects.rename(source, at);
    return true;
  }
  effects.remove(source);
  return true;
}

function makeDirectoriesFor(root: string, path: string, effects: FileEffects): void {
  const segments = dirname(path) === "." ? [] : dirname(path).split("/");
  for (const [index] of segments.entries()) {
    const directory = segments.slice(0, index + 1).join("/");
    within(
      root,
      directory,
      (at) => {
        if (at !== undefined && statOf(at) === undefined) effects.makeDirectory(at);
      },
      undefined,
    );
  }
}

/**
 * As git does: a directory whose last file leaves is removed too. On the way back only those that this landing made.
 * All of the landing's paths count, not only those that left just now: a process that was stopped may have left the
 * empty directory behind.
 */
function removeEmptyDirectories(landing: Landing, direction: Direction, { effects }: SettleContext): void {
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
        if (readdirSync(at).length === 0) effects.removeDirectory(at);
      },
      undefined,
    );
  }
}

/**
 * The file as it was before, in its place or moved aside. Only its permissions are read, so a link on the way does no
 * harm.
 */
function oldStat(landing: Landing, staging: string, move: FileMove, index: number): Stats | undefined {
  return statOf(join(landing.root, move.path)) ?? statOf(asideOf(staging, "back", index));
}

const SET_ID = 0o6000;

/**
 * The permissions that the user set on the old file stay; only the executable bit follows the change. New content never
 * runs with the rights that its owner gave to the old one (setuid, setgid): the kernel clears them at a write, and a
 * replacement is a write.
 */
function permissionsFor(old: Stats | undefined, { before, after }: FileMove, goal: FileImage): number {
  const kept = before?.hash === after?.hash ? 0o7777 : 0o7777 & ~SET_ID;
  const permissions = old?.isFile() === true ? old.mode & kept : 0o666 & ~process.umask();
  if (goal.mode !== EXECUTABLE) return permissions & ~0o111;
  return permissions | ((permissions & 0o444) >> 2);
}
