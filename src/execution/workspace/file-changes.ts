/**
 * Works out the changes of file tools, the same way in a sandbox and in place: which paths a call claims, what was
 * there, and what kind of change it is, read off the states before and after. The workspace carries each change out.
 */
import { requireDirectory } from "../../platform/contained-directories.ts";
import {
  operationOf,
  readState,
  removeState,
  sameBytes,
  sameState,
  type FileState,
} from "../../platform/file-state.ts";
import type { PendingChange } from "./pending-changes.ts";
import type { PlanTree } from "./resource-files.ts";
import { notThereError, occupiedError } from "./workspace-failures.ts";

export interface ChangeWriter {
  /** Runs a section that changes these paths, while nothing else reads or changes them. */
  writing<T>(by: string, paths: readonly string[], section: () => Promise<T>): Promise<T>;
  /** The same for a section that may change any path. */
  alone<T>(by: string, section: () => Promise<T>): Promise<T>;
  carryOut(by: string, change: PendingChange): Promise<void>;
  /** The directory holds no file that is part of the plan any more; `removed` files were removed from it. */
  removeEmptied(by: string, path: string, removed: number): Promise<void>;
}

export async function changeFile(
  tree: PlanTree,
  writer: ChangeWriter,
  by: string,
  path: string,
  next: (before: FileState | undefined) => FileState | undefined,
): Promise<void> {
  tree.assertNotReadOnly(path);
  await writer.writing(by, [path], async () => {
    const there = await readState(tree.root, path);
    await tree.assertPartOfPlan(path);
    tree.claims.claim(by, path);
    const after = next(there);
    const leftOut = there !== undefined && (await tree.isLeftOut(path));
    // For the plan it is a new file: what a command left there was never part of it.
    const before = leftOut ? undefined : there;
    if (leftOut && after === undefined) await removeState(tree.root, path);
    if (sameState(before, after)) return;
    const operation = operationOf(before, after, sameBytes(before, after));
    await writer.carryOut(by, { path, operation, before, after });
  });
}

export async function moveFile(
  tree: PlanTree,
  writer: ChangeWriter,
  by: string,
  [from, to]: readonly [from: string, to: string],
): Promise<void> {
  tree.assertNotReadOnly(from);
  await writer.writing(by, [from, to], async () => {
    const state = await readState(tree.root, from);
    const there = await readState(tree.root, to);
    for (const path of [from, to]) {
      await tree.assertPartOfPlan(path);
      tree.claims.claim(by, path);
    }
    if (state === undefined) throw notThereError(from);
    if (there !== undefined) throw occupiedError(to);
    if (await tree.isLeftOut(from)) {
      await writer.carryOut(by, { path: to, operation: "create", before: undefined, after: state });
      await removeState(tree.root, from);
      return;
    }
    await writer.carryOut(by, { path: to, fromPath: from, operation: "rename", before: state, after: state });
  });
}

export async function removeFilesBelow(
  tree: PlanTree,
  writer: ChangeWriter,
  by: string,
  path: string,
): Promise<number> {
  await tree.assertWritable(path);
  return writer.alone(by, async () => {
    await requireDirectory(tree.root, path);
    const below = [...(await tree.lookNow()).keys()].filter((file) => file.startsWith(`${path}/`));
    for (const file of below) {
      tree.claims.claim(by, file);
      const before = await readState(tree.root, file);
      if (before === undefined) continue;
      await writer.carryOut(by, { path: file, operation: "delete", before, after: undefined });
    }
    await writer.removeEmptied(by, path, below.length);
    return below.length;
  });
}
