import { basename, join } from "node:path";
import type { ChangeEntryInput, FileImage } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { Exclusion } from "./exclusion.ts";
import { BaseContent } from "./base-content.ts";
import {
  existingPlace,
  operationOf,
  readState,
  removeState,
  sameBytes,
  sameState,
  stateHash,
  writeState,
  type FileState,
} from "./file-state.ts";
import type { PlanExecutionContext } from "./plan-execution-context.ts";
import { removeEmptyDirectories, requireDirectory, requireRoom } from "./contained-directories.ts";
import { PathClaims } from "./path-claims.ts";
import { ifCode, refused } from "./contained-path.ts";
import { IgnoredPaths } from "./ignored-paths.ts";
import type { NetChange } from "./net-changes.ts";
import { notInPlace, PendingCalls, type PendingChange, type PendingChanges } from "./in-place.ts";
import { isVersioned, readTreeOf, type ReadTree } from "./sandbox-facts.ts";
import { resetSandbox, type Sandbox } from "./sandbox.ts";
import { requireSwept } from "./swept-tree.ts";
import { changedPaths, takeSnapshot, type SeenFile, type Snapshot } from "./snapshot.ts";
import {
  notPutBackError,
  notThere,
  occupied,
  putBackError,
  requireRecordable,
  unknownBefore,
} from "./workspace-failures.ts";

/** What a look found is recorded in portions: each is one commit, and not more is in memory at a time. */
const PORTION = { entries: 256, bytes: 8 * 1024 * 1024 } as const;

/**
 * One sandbox in use by a plan's steps. Nothing else touches its files: every write goes through here, is recorded in the scope of
 * the step that made it, with the bytes before and after, and what kind of change it was is read off what was there and what is.
 */
export class Workspace implements AsyncDisposable {
  readonly sandbox: Sandbox;
  /** Whether the plan's profile lets commands use the network. */
  readonly network: boolean;
  /** Whether commands run confined or not at all. */
  readonly requireConfinement: boolean;
  readonly #context: Pick<PlanExecutionContext, "recordChanges">;
  readonly #contents: (hash: string) => Promise<Uint8Array | undefined>;
  readonly #exclusion = new Exclusion();
  readonly #base: BaseContent;
  readonly #ignored: IgnoredPaths;
  /** What recorded changes left at a path: where the bytes before the next change are found. */
  readonly #left = new Map<string, FileImage>();
  readonly #claims = new PathClaims();
  /** In place: what each call is about to change. */
  readonly pending = new PendingCalls();
  #snapshot: Snapshot | undefined;

  constructor(parts: {
    sandbox: Sandbox;
    network?: boolean;
    requireConfinement?: boolean;
    context: Pick<PlanExecutionContext, "recordChanges">;
    contents: (hash: string) => Promise<Uint8Array | undefined>;
  }) {
    this.sandbox = parts.sandbox;
    this.network = parts.network ?? false;
    this.requireConfinement = parts.requireConfinement ?? true;
    this.#context = parts.context;
    this.#contents = parts.contents;
    this.#base = new BaseContent(parts.sandbox);
    this.#ignored = new IgnoredPaths(parts.sandbox);
  }

  beginWave(touched: ReadonlyMap<string, string> = new Map()): void {
    this.#claims.beginWave(touched);
  }

  during<T>(by: string, call: () => Promise<T>): Promise<T> {
    return this.#claims.during(by, call);
  }

  read(path: string): Promise<FileState | undefined> {
    return this.#exclusion.onPaths([path], () => readState(this.sandbox.root, path));
  }

  /** Looks at the sandbox as it is, while no command changes it. */
  reading<T>(section: (tree: ReadTree) => Promise<T>): Promise<T> {
    return this.#exclusion.onPaths([], () => section(readTreeOf(this.sandbox)));
  }

  /** Everything that is part of the plan, while no command changes it. */
  look(): Promise<Snapshot> {
    return this.#exclusion.onPaths([], () => this.#look());
  }

  /** Replaces what is at `path` by what `next` makes of it; undefined removes it. */
  async change(
    by: string,
    path: string,
    next: (before: FileState | undefined) => FileState | undefined,
  ): Promise<void> {
    this.#assertNotReadOnly(path);
    await this.#writing(by, [path], async () => {
      const before = await readState(this.sandbox.root, path);
      await this.#assertPartOfPlan(path);
      this.#claims.claim(by, path);
      const after = next(before);
      if (sameState(before, after)) return;
      const operation = operationOf(before, after, sameBytes(before, after));
      await this.#carryOut(by, { path, operation, before, after });
    });
  }

  async move(by: string, from: string, to: string): Promise<void> {
    this.#assertNotReadOnly(from);
    await this.#writing(by, [from, to], async () => {
      const { root } = this.sandbox;
      const state = await readState(root, from);
      const there = await readState(root, to);
      for (const path of [from, to]) {
        await this.#assertPartOfPlan(path);
        this.#claims.claim(by, path);
      }
      if (state === undefined) throw notThere(from);
      if (there !== undefined) throw occupied(to);
      await this.#carryOut(by, { path: to, fromPath: from, operation: "rename", before: state, after: state });
    });
  }

  /** Takes away every file below a directory, and the directories; ignored files stay with theirs. How many were taken away. */
  async removeDirectory(by: string, path: string): Promise<number> {
    await this.assertWritable(path);
    return this.#exclusion.alone(async () => {
      await requireDirectory(this.sandbox.root, path);
      const below = [...(await this.#look()).keys()].filter((file) => file.startsWith(`${path}/`));
      for (const file of below) {
        this.#claims.claim(by, file);
        const before = await readState(this.sandbox.root, file);
        if (before === undefined) continue;
        await this.#carryOut(by, { path: file, operation: "delete", before, after: undefined });
      }
      if (this.#inPlace && below.length > 0) this.pending.of(by).emptied.push(path);
      else await removeEmptyDirectories(this.sandbox.root, path);
      return below.length;
    });
  }

  /** In a sandbox it happens now. In place it waits for the end of the call. */
  async #carryOut(by: string, change: PendingChange): Promise<void> {
    const { root, alias: resource } = this.sandbox;
    const { path, fromPath, after } = change;
    if (this.#inPlace) {
      if (after !== undefined) await requireRoom(root, path);
      this.pending.of(by).changes.push(change);
      return;
    }
    await writeState(root, path, after);
    if (fromPath !== undefined) await this.#leave(fromPath, path);
    await this.#record([{ resource, ...change, toolInvocation: by }]);
  }

  /** The second half of a move; when it fails, the first one is taken back. */
  async #leave(from: string, to: string): Promise<void> {
    const { root } = this.sandbox;
    try {
      await writeState(root, from, undefined);
    } catch (error) {
      await removeState(root, to);
      throw error;
    }
  }

  get #inPlace(): boolean {
    return this.sandbox.strategy === "none";
  }

  /** Lands what a call is about to change in place, while nobody else looks. */
  async landPending(by: string, land: (pending: PendingChanges) => Promise<void>): Promise<void> {
    await this.#exclusion.alone(async () => {
      const pending = this.pending.of(by);
      await land(pending);
      // With the files went the directories that they were in; those that held nothing before go now.
      for (const path of pending.emptied) await removeEmptyDirectories(this.sandbox.root, path).catch(ifCode("ENOENT"));
      for (const { path, fromPath, after } of pending.changes) {
        if (fromPath !== undefined) this.#left.delete(fromPath);
        if (after === undefined) this.#left.delete(path);
        else this.#left.set(path, { hash: stateHash(after), mode: after.mode });
      }
      // The rules may have changed, by this call or by a person.
      await this.#ignored.forget();
    });
  }

  /** Runs something whose changes are only known by looking: alone, with a look before and after. */
  async capture<T>(by: string, run: (root: string) => Promise<T>): Promise<T> {
    this.#assertNotReadOnly();
    if (this.#inPlace) throw notInPlace(`The step "${by}"`, this.sandbox);
    return this.#watching(by, [], () => run(this.sandbox.root));
  }

  /**
   * Of a change to git's rules not only the changed file is recorded: files that were ignored and are so no longer become part of the
   * plan, as created by whoever changed the rules.
   */
  #writing<T>(by: string, paths: readonly string[], section: () => Promise<T>): Promise<T> {
    const rules = this.sandbox.strategy === "git_worktree" && paths.some((path) => basename(path) === ".gitignore");
    return rules ? this.#watching(by, paths, section) : this.#exclusion.onPaths(paths, section);
  }

  /** Records what `run` changed, apart from the paths whose changes it records itself. */
  async #watching<T>(by: string, apart: readonly string[], run: () => Promise<T>): Promise<T> {
    return this.#exclusion.alone(async () => {
      await this.#ignored.forget();
      const before = await this.#look();
      try {
        return await run();
      } finally {
        // What a failing command left behind is there too, and is recorded.
        await this.#ignored.forget();
        const after = await this.#lookAfter(before, apart);
        await this.#assertOwn(by, before, after);
        await this.#recordDifferences(by, before, after, apart);
        await this.#base.close();
      }
    });
  }

  /**
   * What a command left, if all of it can be recorded. If not, the files are put back as they were, so that whoever made the call may go
   * on from there. Where a recorded change of the rules made it part of the plan, there is nothing to go back to, and the plan stops.
   */
  async #lookAfter(before: Snapshot, apart: readonly string[]): Promise<Snapshot> {
    try {
      await requireSwept(this.sandbox.root);
      const after = await this.#look(before);
      for (const path of changedPaths(before, after)) requireRecordable(path);
      return after;
    } catch (error) {
      this.#snapshot = undefined;
      if (apart.length > 0) throw notPutBackError(error);
      try {
        await resetSandbox(this.sandbox);
        await this.#putBack(before, await this.#look());
      } catch {
        throw notPutBackError(error);
      }
      throw putBackError(error);
    }
  }

  /** A command is looked at when it is too late to refuse it: if it changed what is another step's, all it did is put back. */
  async #assertOwn(by: string, before: Snapshot, after: Snapshot): Promise<void> {
    const foreign = changedPaths(before, after).find((path) => this.#claims.rival(by, path) !== undefined);
    if (foreign === undefined) return;
    await this.#putBack(before, after);
    this.#claims.claim(by, foreign);
  }

  async #putBack(before: Snapshot, now: Snapshot): Promise<void> {
    const { root } = this.sandbox;
    const changed = changedPaths(before, now);
    for (const path of changed) if (now.has(path)) await removeState(root, path);
    for (const path of changed) {
      const seen = before.get(path);
      if (seen === undefined) continue;
      const old = await this.#stateBefore(path, seen);
      const content = old !== undefined && "content" in old ? old.content : await this.#contents(seen.hash);
      if (content === undefined) throw unknownBefore(path);
      await writeState(root, path, { content, mode: seen.mode });
    }
  }

  async #look(previous = this.#snapshot): Promise<Snapshot> {
    const { files, submodules } = await this.#base.listing();
    const known = { files: [...files.keys(), ...this.#left.keys()], submodules };
    this.#snapshot = await takeSnapshot(this.sandbox, previous, known);
    return this.#snapshot;
  }

  async #recordDifferences(by: string, before: Snapshot, after: Snapshot, apart: readonly string[]): Promise<void> {
    let portion: ChangeEntryInput[] = [];
    let bytes = 0;
    for (const path of changedPaths(before, after)) {
      if (apart.includes(path)) continue;
      this.#claims.claim(by, path);
      const old = await this.#stateBefore(path, before.get(path));
      const now = after.has(path) ? await readState(this.sandbox.root, path) : undefined;
      const operation = operationOf(old, now, before.get(path)?.hash === after.get(path)?.hash);
      const { alias: resource } = this.sandbox;
      portion.push({ resource, path, operation, before: old, after: now, toolInvocation: by });
      bytes += (now?.content.byteLength ?? 0) + (old !== undefined && "content" in old ? old.content.byteLength : 0);
      if (portion.length < PORTION.entries && bytes < PORTION.bytes) continue;
      await this.#record(portion);
      portion = [];
      bytes = 0;
    }
    if (portion.length > 0) await this.#record(portion);
  }

  /** The bytes only where they are not recorded yet. */
  async #stateBefore(path: string, seen: SeenFile | undefined): Promise<FileImage | FileState | undefined> {
    if (seen === undefined) return undefined;
    const { hash, mode } = seen;
    if (this.#left.get(path)?.hash === hash) return { hash, mode };
    const state = await this.#base.state(path);
    if (state !== undefined && stateHash(state) === hash) return { ...state, mode };
    throw unknownBefore(path);
  }

  async #record(entries: readonly ChangeEntryInput[]): Promise<void> {
    for (const { path, fromPath, after } of await this.#context.recordChanges(entries)) {
      if (fromPath !== undefined) this.#left.delete(fromPath);
      if (after === undefined) this.#left.delete(path);
      else this.#left.set(path, after);
    }
  }

  /**
   * Makes the sandbox what base and recorded changes say it is: before a resumed execution goes on. In place nothing is put back: what
   * differs there by now is somebody's doing.
   */
  async restore(changes: ReadonlyMap<string, NetChange>): Promise<void> {
    if (this.#inPlace) {
      for (const [path, { after }] of changes) if (after !== undefined) this.#left.set(path, after);
      return;
    }
    await this.#exclusion.alone(async () => {
      await this.#ignored.forget();
      await resetSandbox(this.sandbox);
      // What goes makes room first: where a directory was there may be a file now.
      for (const [path, { before, after }] of changes) {
        if (after === undefined && before !== undefined) await removeState(this.sandbox.root, path);
      }
      for (const [path, { after }] of changes) {
        if (after === undefined) continue;
        const content = await this.#contents(after.hash);
        if (content === undefined) {
          throw new AgentsError("tool_failed", `The recorded content of ${shown(path)} is not there.`, {
            detail: { path },
          });
        }
        await writeState(this.sandbox.root, path, { content, mode: after.mode });
        this.#left.set(path, after);
      }
    });
  }

  /** Refuses what may not be changed: in a read-only resource, and what is no part of the plan. */
  async assertWritable(path: string): Promise<void> {
    this.#assertNotReadOnly(path);
    await this.#exclusion.onPaths([path], async () => {
      (await existingPlace(this.sandbox.root, path))?.directory[Symbol.dispose]();
      await this.#assertPartOfPlan(path);
    });
  }

  /** What the base holds or a recorded change left stays part of the plan, also when git's rules ignore it by now. */
  async #assertPartOfPlan(path: string): Promise<void> {
    if (!isVersioned(this.sandbox) || this.#left.has(path)) return;
    const { files, submodules } = await this.#base.listing();
    if (files.has(path)) return;
    if (submodules.some((submodule) => path === submodule || path.startsWith(`${submodule}/`)))
      throw refused(path, "lies in a submodule, and submodules are no part of a plan");
    if (await this.#ignored.has(path))
      throw refused(path, "is ignored by git, and ignored files are no part of a plan");
  }

  /** Ends what runs for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#exclusion.alone(async () => {
      await this.#ignored.forget();
      await this.#base.close();
    });
  }

  #assertNotReadOnly(path = "."): void {
    const { alias, readOnly } = this.sandbox;
    if (readOnly) throw refused(join(alias, path), "belongs to a read-only resource");
  }
}
