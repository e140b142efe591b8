/**
 * The net changes of a plan, path by path: the state at the beginning and the state now, without the steps in
 * between.
 */
import type { ChangeEntry, FileImage } from "../domain/plan/change-entry.ts";

export interface NetChange {
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
}

/** Folds entries in the order in which they were made; paths that are as they were at the beginning drop out. */
export function netChanges(entries: readonly ChangeEntry[]): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  const put = (path: string, before: FileImage | undefined, after: FileImage | undefined): void => {
    const first = net.get(path);
    net.set(path, { before: first === undefined ? before : first.before, after });
  };
  for (const entry of entries) {
    if (entry.fromPath !== undefined) {
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
