/**
 * The change of one resource of the user, worked out completely before anything is touched: which branch moves from
 * which commit to which, which files change from which content to which, and which entries of git's index go with them.
 * It is journaled as it is, so that a process which finds it after a crash can tell what was done, and finish or
 * reverse it.
 */
import { dirname } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";

export interface Landing {
  readonly alias: string;
  /** The user's checkout or directory. */
  readonly root: string;
  readonly git: GitLanding | undefined;
  readonly files: readonly FileMove[];
  /** Directories that are not there yet, outermost first. */
  readonly newDirectories: readonly string[];
  /** Directories that stay even when the last file in them leaves. */
  readonly keptDirectories?: readonly string[];
}

export interface GitLanding {
  /** Where the index and HEAD of this work tree are. */
  readonly gitDirectory: string;
  /** Where refs and objects are; the same for all work trees of a repository. */
  readonly commonDirectory: string;
  /** A branch's full name, or HEAD when it is detached. */
  readonly ref: string;
  readonly oldCommit: string;
  readonly newCommit: string;
  /** Whether the files of this work tree are those of `ref`; if not, only the ref moves. */
  readonly checkedOut: boolean;
  /** The landing makes the branch: before it there is none of that name. */
  readonly created?: true;
}

export interface FileMove {
  readonly path: string;
  /** The content of the user's file, bytes as they are on disk. */
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
  readonly index?: { readonly before: IndexEntry | undefined; readonly after: IndexEntry | undefined };
}

export interface IndexEntry {
  /** As git writes it: "100644". */
  readonly mode: string;
  readonly oid: string;
}

export type Direction = "forward" | "back";

/** The reason why a change cannot be applied to a resource as it is. Nothing was touched. */
export interface LandingConflict {
  readonly resource: string;
  readonly path: string | undefined;
  readonly why: string;
}

/** Of a conflict that a person can resolve: every other one is about files on disk, or about the whole resource. */
export const BOTH_SIDES = "was changed on both sides";

export function hasEffect(landing: Landing): boolean {
  const { git, files } = landing;
  return files.length > 0 || (git !== undefined && git.oldCommit !== git.newCommit);
}

export function goalOf(move: FileMove, direction: Direction): FileImage | undefined {
  return direction === "forward" ? move.after : move.before;
}

export function sameImage(a: FileImage | undefined, b: FileImage | undefined): boolean {
  return a?.hash === b?.hash && a?.mode === b?.mode;
}

/** Innermost first, without the root. */
export function directoriesAbove(path: string): string[] {
  const above: string[] = [];
  for (let one = dirname(path); one !== "."; one = dirname(one)) above.push(one);
  return above;
}
