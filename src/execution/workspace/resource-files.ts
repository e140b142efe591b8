/**
 * The files of one resource as a plan sees them: which paths are part of the plan, what they held at the beginning,
 * and what recorded changes left there. A path that the base holds, or that a recorded change left, stays part of the
 * plan, also when git's rules ignore it by now. Both workspaces are built on it.
 */
import { join } from "node:path";
import type { FileImage } from "../../domain/plan/change-entry.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import { existingPlace, readState, type FileState } from "../../platform/file-state.ts";
import { BaseContent } from "../sandbox/base-content.ts";
import { IgnoredPaths } from "../sandbox/ignored-paths.ts";
import { isVersioned, readTreeOf, type ReadTree } from "../sandbox/sandbox-facts.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { PathExclusion } from "./exclusion.ts";
import { takeSnapshot, type Snapshot } from "./file-listing.ts";
import { PathClaims } from "./path-claims.ts";

export class PlanTree implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly exclusion = new PathExclusion();
  readonly claims = new PathClaims();
  readonly base: BaseContent;
  readonly ignored: IgnoredPaths;
  /** The state in which recorded changes left a path: the bytes before its next change. */
  readonly #left = new Map<string, FileImage>();
  #snapshot: Snapshot | undefined;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.base = new BaseContent(sandbox);
    this.ignored = new IgnoredPaths(sandbox);
  }

  get root(): string {
    return this.sandbox.root;
  }

  read(path: string): Promise<FileState | undefined> {
    return this.exclusion.onPaths([path], () => readState(this.root, path));
  }

  reading<T>(section: (tree: ReadTree) => Promise<T>): Promise<T> {
    return this.exclusion.onPaths([], () => section(readTreeOf(this.sandbox)));
  }

  look(): Promise<Snapshot> {
    return this.exclusion.onPaths([], () => this.lookNow());
  }

  /** For a caller that holds the exclusion. */
  async lookNow(previous = this.#snapshot): Promise<Snapshot> {
    const { files, submodules } = await this.base.listing();
    const known = { files: [...files.keys(), ...this.#left.keys()], submodules };
    this.#snapshot = await takeSnapshot(this.sandbox, previous, known);
    return this.#snapshot;
  }

  /** The next look reads every file. */
  forgetSnapshot(): void {
    this.#snapshot = undefined;
  }

  leftAt(path: string): FileImage | undefined {
    return this.#left.get(path);
  }

  /** Whether recorded changes left a file below the directory. */
  hasLeftBelow(directory: string): boolean {
    return this.#left.keys().some((path) => path.startsWith(`${directory}/`));
  }

  /** The files are about to be made again from their base. */
  forgetChanges(): void {
    this.#left.clear();
  }

  /** Notes a recorded change. */
  noteChange(change: {
    readonly path: string;
    readonly fromPath?: string | undefined;
    readonly after?: FileImage | undefined;
  }): void {
    const { path, fromPath, after } = change;
    if (fromPath !== undefined) this.#left.delete(fromPath);
    if (after === undefined) this.#left.delete(path);
    else this.#left.set(path, { hash: after.hash, mode: after.mode });
  }

  async assertWritable(path: string): Promise<void> {
    this.assertNotReadOnly(path);
    await this.exclusion.onPaths([path], async () => {
      (await existingPlace(this.root, path))?.directory[Symbol.dispose]();
      await this.assertPartOfPlan(path);
    });
  }

  assertNotReadOnly(path = "."): void {
    const { alias, readOnly } = this.sandbox;
    if (readOnly) throw refusedPathError(join(alias, path), "belongs to a read-only resource");
  }

  async assertPartOfPlan(path: string): Promise<void> {
    if (!isVersioned(this.sandbox) || this.#left.has(path)) return;
    const { files, submodules } = await this.base.listing();
    if (files.has(path)) return;
    if (submodules.some((submodule) => path === submodule || path.startsWith(`${submodule}/`)))
      throw refusedPathError(path, "lies in a submodule, and submodules are not part of a plan");
    if (await this.ignored.byProject(path))
      throw refusedPathError(path, "is ignored by git, and ignored files are not part of a plan");
  }

  /** Whether a file there was left out so far, because a command made it as junk. */
  async isLeftOut(path: string): Promise<boolean> {
    if (!isVersioned(this.sandbox) || this.#left.has(path)) return false;
    return !(await this.base.listing()).files.has(path) && (await this.ignored.has(path));
  }

  /** Ends the processes that run for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.exclusion.alone(async () => {
      await this.ignored.forget();
      await this.base.close();
    });
  }
}
