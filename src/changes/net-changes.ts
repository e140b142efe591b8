/**
 * The net changes of a plan, path by path: the state at the beginning and the state now, without the steps in
 * between.
 */
import type { ChangeEntry, FileImage } from "../domain/plan/change-entry.ts";

export interface NetChange {
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
}

/**
 * The credit of an entry by which a file of the target takes the place of the plan's, before both are merged by hand.
 * No step and no tool has a colon in its name.
 */
export const TARGET_TAKEN = "resolve:target";

/** The files that were merged by hand, as the target had them: what the plan changes there, it changes from these. */
export function targetTaken(entries: readonly ChangeEntry[]): ReadonlyMap<string, FileImage | undefined> {
  const taken = entries.filter(({ toolInvocation }) => toolInvocation === TARGET_TAKEN);
  return new Map(taken.map(({ path, after }) => [path, after]));
}

/** The net changes to the target: of a file that was merged by hand, from the state that it was merged with. */
export function targetChanges(entries: readonly ChangeEntry[]): ReadonlyMap<string, NetChange> {
  return fold(entries, (entry) => entry.toolInvocation === TARGET_TAKEN);
}

/**
 * The net changes to the plan's base, as its sandbox has them. Folds entries in the order in which they were made;
 * paths that are as they were at the beginning drop out.
 */
export function netChanges(entries: readonly ChangeEntry[]): ReadonlyMap<string, NetChange> {
  return fold(entries, () => false);
}

function fold(
  entries: readonly ChangeEntry[],
  beginsAgain: (entry: ChangeEntry) => boolean,
): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  const put = (path: string, before: FileImage | undefined, after: FileImage | undefined): void => {
    const first = net.get(path);
    net.set(path, { before: first === undefined ? before : first.before, after });
  };
  for (const entry of entries) {
    if (beginsAgain(entry)) {
      net.set(entry.path, { before: entry.after, after: entry.after });
    } else if (entry.fromPath !== undefined) {
      put(entry.fromPath, entry.before, undefined);
      put(entry.path, undefined, entry.after);
    } else {
      put(entry.path, entry.before, entry.after);
    }
  }
  const changed = [...net].filter(
    ([, { before, after }]) => before?.hash !== after?.hash || before?.mode !== after?.mode,
  );
  return new Map(changed.sort(([a], [b]) => (a < b ? -1 : 1)));
}
