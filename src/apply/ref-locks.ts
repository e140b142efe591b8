/**
 * Removes the locks that our own git left on a branch when it was killed together with its owner; git itself would ask
 * a person to do it. A lock is ours when it holds the commit that only this landing makes, or when it is still empty
 * while our lock on the index stands, under which no other program commits. Any other lock belongs to another program,
 * and git reports it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { indexLockStands } from "./git-index.ts";
import type { FileEffects } from "./file-effects.ts";
import type { GitLanding, Landing } from "../ledger/landing.ts";
import { codeOf, statOf } from "./user-tree.ts";

/** A running git holds a branch for milliseconds. */
const PATIENCE_MS = 1_000;

export async function clearRefLocks(landing: Landing, journalId: string, effects: FileEffects): Promise<void> {
  const { git: target } = landing;
  if (target === undefined || target.oldCommit === target.newCommit) return;
  const indexIsOurs = target.checkedOut && indexLockStands(landing, journalId);
  for (const file of locksOf(target)) {
    const isOurs = (): boolean => {
      const content = contentOf(file);
      if (content === `${target.newCommit}\n`) return true;
      return indexIsOurs && (content === "" || content === `${target.oldCommit}\n`);
    };
    const found = statOf(file)?.ino;
    const deadline = performance.now() + PATIENCE_MS;
    while (isOurs() && statOf(file)?.ino === found) {
      if (performance.now() >= deadline) effects.remove(file);
      else await sleep(20);
    }
  }
}

/** Git locks HEAD together with the branch it points to. */
function locksOf({ gitDirectory, commonDirectory, ref, checkedOut }: GitLanding): string[] {
  const head = join(gitDirectory, "HEAD.lock");
  if (ref === "HEAD") return [head];
  return [join(commonDirectory, `${ref}.lock`), ...(checkedOut ? [head] : [])];
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
