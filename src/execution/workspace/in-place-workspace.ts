/**
 * The workspace of a plan that works in place, on the user's own files. A person may change them at any time, so
 * nothing is written while a call runs: its changes wait in memory and are written together when it has ended.
 * Commands cannot run here, because their changes could not be told from a person's, and nothing is ever put back.
 */
import type { CommandNetwork } from "../../confinement/network/command-network.ts";
import type { NetChange } from "../../changes/net-changes.ts";
import { removeEmptyDirectories, requireRoom } from "../../platform/contained-directories.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { stateHash, type FileState } from "../../platform/file-state.ts";
import { notInPlaceError } from "../sandbox/in-place-sandbox.ts";
import type { ReadTree } from "../sandbox/sandbox-facts.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { changeFile, moveFile, removeFilesBelow, type ChangeWriter } from "./file-changes.ts";
import type { Snapshot } from "./file-listing.ts";
import { PendingCalls, type PendingChange, type PendingChanges } from "./pending-changes.ts";
import { PlanTree } from "./resource-files.ts";
import type { Workspace, WorkspaceParts } from "./workspace.ts";

export class InPlaceWorkspace implements Workspace {
  readonly worksInPlace = true;
  readonly sandbox: Sandbox;
  readonly network: boolean | CommandNetwork;
  readonly requireConfinement: boolean;
  readonly #tree: PlanTree;
  readonly #pending = new PendingCalls();
  readonly #writer: ChangeWriter;

  constructor(parts: WorkspaceParts) {
    this.sandbox = parts.sandbox;
    this.network = parts.network ?? false;
    this.requireConfinement = parts.requireConfinement ?? true;
    const tree = new PlanTree(parts.sandbox);
    this.#tree = tree;
    this.#writer = {
      writing: (_by, paths, section) => tree.exclusion.onPaths(paths, section),
      alone: (_by, section) => tree.exclusion.alone(section),
      carryOut: (by, change) => this.#carryOut(by, change),
      removeEmptied: (by, path, removed) => this.#removeEmptied(by, path, removed),
    };
  }

  beginWave(touched: ReadonlyMap<string, string> = new Map()): void {
    this.#tree.claims.beginWave(touched);
  }

  during<T>(by: string, call: () => Promise<T>): Promise<T> {
    return this.#tree.claims.during(by, call);
  }

  read(path: string): Promise<FileState | undefined> {
    return this.#tree.read(path);
  }

  reading<T>(section: (tree: ReadTree) => Promise<T>): Promise<T> {
    return this.#tree.reading(section);
  }

  look(): Promise<Snapshot> {
    return this.#tree.look();
  }

  assertWritable(path: string): Promise<void> {
    return this.#tree.assertWritable(path);
  }

  change(by: string, path: string, next: (before: FileState | undefined) => FileState | undefined): Promise<void> {
    return changeFile(this.#tree, this.#writer, by, path, next);
  }

  move(by: string, from: string, to: string): Promise<void> {
    return moveFile(this.#tree, this.#writer, by, [from, to]);
  }

  removeDirectory(by: string, path: string): Promise<number> {
    return removeFilesBelow(this.#tree, this.#writer, by, path);
  }

  async capture(by: string): Promise<never> {
    this.#tree.assertNotReadOnly();
    throw notInPlaceError(`The step "${by}"`, this.sandbox);
  }

  readonly background = undefined;

  startBackground(by: string): Promise<never> {
    return this.capture(by);
  }

  async settleBackground(): Promise<void> {}

  host(by: string): Promise<never> {
    return this.capture(by);
  }

  async landCall(by: string, land: (pending: PendingChanges) => Promise<void>): Promise<boolean> {
    if (!this.#pending.has(by)) return false;
    const tree = this.#tree;
    await tree.exclusion.alone(async () => {
      const pending = this.#pending.of(by);
      await land(pending);
      // The directories of the removed files went with them; those that held nothing before go now.
      for (const path of pending.emptied) await removeEmptyDirectories(tree.root, path).catch(ifCode("ENOENT"));
      for (const { path, fromPath, after } of pending.changes)
        tree.noteChange({ path, fromPath, after: after && { hash: stateHash(after), mode: after.mode } });
      // The call or a person may have changed git's rules.
      await tree.ignored.forget();
    });
    return true;
  }

  dropCall(by: string): void {
    this.#pending.drop(by);
  }

  /** The files stay as they are: where they differ from the recorded changes, a person has changed them. */
  async restore(changes: ReadonlyMap<string, NetChange>): Promise<void> {
    for (const [path, { after }] of changes) if (after !== undefined) this.#tree.noteChange({ path, after });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#tree[Symbol.asyncDispose]();
  }

  async #carryOut(by: string, change: PendingChange): Promise<void> {
    if (change.after !== undefined) await requireRoom(this.#tree.root, change.path);
    this.#pending.of(by).changes.push(change);
  }

  async #removeEmptied(by: string, path: string, removed: number): Promise<void> {
    if (removed > 0) this.#pending.of(by).emptied.push(path);
    else await removeEmptyDirectories(this.#tree.root, path);
  }
}
