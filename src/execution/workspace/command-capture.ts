/**
 * Records what a program changed in a sandbox, although nothing tells: it runs alone, and the files are compared
 * before and after. All of it is recorded, or the files are put back as they were and the caller may continue from
 * there.
 */
import type { ChangeEntryInput, FileImage } from "../../domain/plan/change-entry.ts";
import {
  operationOf,
  readState,
  removeState,
  stateHash,
  writeState,
  type FileState,
} from "../../platform/file-state.ts";
import { resetSandbox } from "../sandbox/sandbox.ts";
import { requireSwept } from "../sandbox/swept-tree.ts";
import { changedPaths, type SeenFile, type Snapshot } from "./file-listing.ts";
import type { PlanTree } from "./resource-files.ts";
import { notPutBackError, putBackError, requireRecordable, unknownBeforeError } from "./workspace-failures.ts";

/** Changes are recorded in portions: each is one commit, and not more than one is in memory at a time. */
const PORTION = { entries: 256, bytes: 8 * 1024 * 1024 } as const;

export class CommandCapture {
  readonly #tree: PlanTree;
  readonly #record: (entries: readonly ChangeEntryInput[]) => Promise<void>;
  readonly #contents: (hash: string) => Promise<Uint8Array | undefined>;

  constructor(parts: {
    tree: PlanTree;
    record: (entries: readonly ChangeEntryInput[]) => Promise<void>;
    contents: (hash: string) => Promise<Uint8Array | undefined>;
  }) {
    this.#tree = parts.tree;
    this.#record = parts.record;
    this.#contents = parts.contents;
  }

  /**
   * Records the changes of `run`, apart from the paths whose changes it records itself. The caller has the sandbox to
   * itself.
   */
  async watch<T>(by: string, apart: readonly string[], run: () => Promise<T>): Promise<T> {
    const { ignored, base } = this.#tree;
    await ignored.forget();
    const before = await this.#tree.lookNow();
    try {
      return await run();
    } finally {
      // The changes of a failing command are there too, and are recorded.
      await ignored.forget();
      const after = await this.#lookAfter(before, apart);
      await this.#assertUnclaimed(by, before, after);
      await this.#recordChanges(by, before, after, apart);
      await base.close();
    }
  }

  /**
   * Records what a command in the background changed since `before`, while it stands still, by `late`. Returns the
   * files as they are now. The caller has the sandbox to itself.
   */
  async found(by: string, before: Snapshot, late: (record: () => Promise<void>) => Promise<void>): Promise<Snapshot> {
    const { ignored, base } = this.#tree;
    await ignored.forget();
    const after = await this.#lookAfter(before, []);
    await this.#assertUnclaimed(by, before, after);
    if (changedPaths(before, after).length > 0) await late(() => this.#recordChanges(by, before, after, []));
    await base.close();
    return after;
  }

  /**
   * The changes since `before`, which the caller records, and the files as they are now. The caller has the sandbox to
   * itself, and nothing moves in it.
   */
  async collected(by: string, before: Snapshot): Promise<{ entries: ChangeEntryInput[]; after: Snapshot }> {
    const { ignored, base } = this.#tree;
    await ignored.forget();
    const after = await this.#lookAfter(before, []);
    await this.#assertUnclaimed(by, before, after);
    const entries: ChangeEntryInput[] = [];
    for (const path of changedPaths(before, after)) entries.push(await this.#entryFor(by, path, before, after));
    await base.close();
    return { entries, after };
  }

  /**
   * Lists what a command left, if all of it can be recorded. If not, the files are put back as they were, so that the
   * caller may continue from there. Where a recorded change of git's rules made it part of the plan, there is nothing
   * to go back to, and the plan stops.
   */
  async #lookAfter(before: Snapshot, apart: readonly string[]): Promise<Snapshot> {
    const tree = this.#tree;
    try {
      await requireSwept(tree.root);
      const after = await tree.lookNow(before);
      for (const path of changedPaths(before, after)) requireRecordable(path);
      return after;
    } catch (error) {
      tree.forgetSnapshot();
      if (apart.length > 0) throw notPutBackError(error);
      try {
        await resetSandbox(tree.sandbox);
        await this.#putBack(before, await tree.lookNow());
      } catch {
        throw notPutBackError(error);
      }
      throw putBackError(error);
    }
  }

  /**
   * The changes of a command are known when it is too late to refuse it: if one is another step's path, all of them
   * are put back.
   */
  async #assertUnclaimed(by: string, before: Snapshot, after: Snapshot): Promise<void> {
    const { claims } = this.#tree;
    const foreign = changedPaths(before, after).find((path) => claims.rival(by, path) !== undefined);
    if (foreign === undefined) return;
    await this.#putBack(before, after);
    claims.claim(by, foreign);
  }

  async #putBack(before: Snapshot, now: Snapshot): Promise<void> {
    const { root } = this.#tree;
    const changed = changedPaths(before, now);
    for (const path of changed) if (now.has(path)) await removeState(root, path);
    for (const path of changed) {
      const seen = before.get(path);
      if (seen === undefined) continue;
      const old = await this.#stateBefore(path, seen);
      const content = old !== undefined && "content" in old ? old.content : await this.#contents(seen.hash);
      if (content === undefined) throw unknownBeforeError(path);
      await writeState(root, path, { content, mode: seen.mode });
    }
  }

  async #recordChanges(by: string, before: Snapshot, after: Snapshot, apart: readonly string[]): Promise<void> {
    let portion: ChangeEntryInput[] = [];
    let bytes = 0;
    for (const path of changedPaths(before, after)) {
      if (apart.includes(path)) continue;
      const entry = await this.#entryFor(by, path, before, after);
      portion.push(entry);
      bytes += bytesIn(entry.before) + bytesIn(entry.after);
      if (portion.length < PORTION.entries && bytes < PORTION.bytes) continue;
      await this.#record(portion);
      portion = [];
      bytes = 0;
    }
    if (portion.length > 0) await this.#record(portion);
  }

  async #entryFor(by: string, path: string, before: Snapshot, after: Snapshot): Promise<ChangeEntryInput> {
    const { root, claims } = this.#tree;
    const { alias: resource } = this.#tree.sandbox;
    claims.claim(by, path);
    const old = await this.#stateBefore(path, before.get(path));
    const now = after.has(path) ? await readState(root, path) : undefined;
    const operation = operationOf(old, now, before.get(path)?.hash === after.get(path)?.hash);
    return { resource, path, operation, before: old, after: now, toolInvocation: by };
  }

  /** With bytes only where they are not recorded yet. */
  async #stateBefore(path: string, seen: SeenFile | undefined): Promise<FileImage | FileState | undefined> {
    if (seen === undefined) return undefined;
    const { hash, mode } = seen;
    if (this.#tree.leftAt(path)?.hash === hash) return { hash, mode };
    const state = await this.#tree.base.state(path);
    if (state !== undefined && stateHash(state) === hash) return { ...state, mode };
    throw unknownBeforeError(path);
  }
}

function bytesIn(image: ChangeEntryInput["before"]): number {
  return image !== undefined && "content" in image ? image.content.byteLength : 0;
}
