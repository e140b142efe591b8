import { join } from "node:path";
import type { ChangeEntryInput, FileImage } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { Exclusion } from "./exclusion.ts";
import { baseState } from "./base-content.ts";
import { LINK, readState, removeState, sameState, stateHash, writeState, type FileState } from "./file-state.ts";
import { git } from "./git.ts";
import type { PlanExecutionContext } from "./plan-execution-context.ts";
import { holdsSomething, removeEmptyDirectories, requireDirectory } from "./contained-directories.ts";
import { refused } from "./contained-path.ts";
import type { NetChange } from "./net-changes.ts";
import { resetSandbox, type Sandbox } from "./sandbox.ts";
import { changedPaths, takeSnapshot, type SeenFile, type Snapshot } from "./snapshot.ts";

/**
 * One sandbox in use by a plan's steps. Nothing else touches its files: every write goes through here, is recorded in the scope of
 * the step that made it, with the bytes before and after, and what kind of change it was is read off what was there and what is.
 */
export class Workspace {
  readonly sandbox: Sandbox;
  readonly #context: PlanExecutionContext;
  readonly #contents: (hash: string) => Promise<Uint8Array | undefined>;
  readonly #exclusion = new Exclusion();
  /** What recorded changes left at a path: where the bytes before the next change are found. */
  readonly #left = new Map<string, FileImage>();
  /** Which step of the current wave changed a path. */
  readonly #touched = new Map<string, string>();
  #snapshot: Snapshot | undefined;

  constructor(parts: {
    sandbox: Sandbox;
    context: PlanExecutionContext;
    contents: (hash: string) => Promise<Uint8Array | undefined>;
  }) {
    this.sandbox = parts.sandbox;
    this.#context = parts.context;
    this.#contents = parts.contents;
  }

  /** Steps of one wave run at the same time; what an earlier wave changed is free for all again. */
  beginWave(): void {
    this.#touched.clear();
  }

  read(path: string): Promise<FileState | undefined> {
    return this.#exclusion.onPaths([path], () => readState(this.sandbox.root, path));
  }

  /** Replaces what is at `path` by what `next` makes of it; undefined removes it. */
  async change(
    by: string,
    path: string,
    next: (before: FileState | undefined) => FileState | undefined,
  ): Promise<void> {
    await this.assertWritable(path);
    await this.#exclusion.onPaths([path], async () => {
      this.#claim(by, path);
      const before = await readState(this.sandbox.root, path);
      const after = next(before);
      if (sameState(before, after)) return;
      await writeState(this.sandbox.root, path, after);
      await this.#record(by, path, before, after);
    });
  }

  async move(by: string, from: string, to: string): Promise<void> {
    await this.assertWritable(from);
    await this.assertWritable(to);
    await this.#exclusion.onPaths([from, to], async () => {
      const { root } = this.sandbox;
      this.#claim(by, from);
      this.#claim(by, to);
      const state = await readState(root, from);
      if (state === undefined) throw notThere(from);
      if ((await readState(root, to)) !== undefined) throw occupied(to);
      await writeState(root, to, state);
      await writeState(root, from, undefined);
      const { alias: resource } = this.sandbox;
      await this.#put({
        resource,
        path: to,
        fromPath: from,
        operation: "rename",
        before: state,
        after: state,
        toolInvocation: by,
      });
    });
  }

  /** Takes away every file below a directory, and the directories; ignored files stay with theirs. How many were taken away. */
  async removeDirectory(by: string, path: string): Promise<number> {
    await this.assertWritable(path);
    return this.#exclusion.alone(async () => {
      await requireDirectory(this.sandbox.root, path);
      const below = [...(await takeSnapshot(this.sandbox)).keys()].filter((file) => file.startsWith(`${path}/`));
      for (const file of below) {
        this.#claim(by, file);
        const before = await readState(this.sandbox.root, file);
        await writeState(this.sandbox.root, file, undefined);
        await this.#record(by, file, before, undefined);
      }
      await removeEmptyDirectories(this.sandbox.root, path);
      return below.length;
    });
  }

  /** Runs something whose changes are only known by looking: alone, with a look before and after. */
  async capture<T>(by: string, run: (root: string) => Promise<T>): Promise<T> {
    this.#assertNotReadOnly();
    return this.#exclusion.alone(async () => {
      const before = await takeSnapshot(this.sandbox, this.#snapshot);
      try {
        const result = await run(this.sandbox.root);
        await this.#assertSubmodulesEmpty();
        return result;
      } finally {
        // What a failing command left behind is there too, and is recorded.
        const after = await takeSnapshot(this.sandbox, before);
        this.#snapshot = after;
        for (const path of changedPaths(before, after)) {
          this.#claim(by, path);
          const old = await this.#stateBefore(path, before.get(path));
          await this.#record(by, path, old, await this.#stateAfter(path, after.get(path)));
        }
      }
    });
  }

  /** What a command puts there cannot be seen by looking: git takes it for the other repository's. */
  async #assertSubmodulesEmpty(): Promise<void> {
    for (const submodule of this.sandbox.submodules) {
      if (await holdsSomething(this.sandbox.root, submodule))
        throw refused(submodule, `is a submodule, ${NO_PART}, and the command has put something there`);
    }
  }

  /** Which of two steps that run at the same time was last would be chance: the outcome must not depend on it. */
  #claim(by: string, path: string): void {
    const other = this.#touched.get(path);
    if (other !== undefined && other !== by) {
      throw new AgentsError(
        "tool_failed",
        `The steps "${other}" and "${by}" run at the same time and both change ${shown(path)}.`,
        {
          detail: { path, steps: [other, by] },
          next: [`let "${by}" need "${other}" in the actor's file`],
        },
      );
    }
    this.#touched.set(path, by);
  }

  async #stateBefore(path: string, seen: SeenFile | undefined): Promise<FileState | undefined> {
    if (seen === undefined) return undefined;
    const left = this.#left.get(path);
    const content = left?.hash === seen.hash ? await this.#contents(seen.hash) : undefined;
    const state = content === undefined ? await baseState(this.sandbox, path) : { content, mode: seen.mode };
    if (state !== undefined && stateHash(state) === seen.hash) return { ...state, mode: seen.mode };
    throw new AgentsError("tool_failed", `What ${shown(path)} held before the command is not known.`, {
      detail: { path },
    });
  }

  /** A path that was not seen any more is gone, unless it is only ignored by now: then it is as it was. */
  async #stateAfter(path: string, seen: SeenFile | undefined): Promise<FileState | undefined> {
    const reading = readState(this.sandbox.root, path);
    if (seen !== undefined) return reading;
    return reading.catch((error: unknown) => {
      if (error instanceof AgentsError) return undefined;
      throw error;
    });
  }

  async #record(by: string, path: string, before: FileState | undefined, after: FileState | undefined): Promise<void> {
    const operation = operationOf(before, after);
    if (operation === undefined) return;
    await this.#put({ resource: this.sandbox.alias, path, operation, before, after, toolInvocation: by });
  }

  async #put(entry: ChangeEntryInput): Promise<void> {
    const { path, fromPath, after } = await this.#context.recordChange(entry);
    if (fromPath !== undefined) this.#left.delete(fromPath);
    if (after === undefined) this.#left.delete(path);
    else this.#left.set(path, after);
  }

  /** Makes the sandbox what base and recorded changes say it is: before a resumed execution goes on. */
  async restore(changes: ReadonlyMap<string, NetChange>): Promise<void> {
    await this.#exclusion.alone(async () => {
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

  /** Refuses what may not be changed: in a read-only resource, and what git ignores. */
  async assertWritable(path: string): Promise<void> {
    this.#assertNotReadOnly(path);
    const { root, strategy, submodules } = this.sandbox;
    const submodule = submodules.find((one) => path === one || path.startsWith(`${one}/`));
    if (submodule !== undefined) throw refused(path, `is in the submodule ${shown(submodule)}, ${NO_PART}`);
    if (strategy !== "git_worktree") return;
    const { code } = await git(["check-ignore", "--quiet", "--", `./${path}`], {
      cwd: root,
      sandbox: true,
      accept: [0, 1, 128],
    });
    if (code === 0) throw refused(path, "is ignored by git, and ignored files are no part of a plan");
  }

  #assertNotReadOnly(path = "."): void {
    const { alias, readOnly } = this.sandbox;
    if (readOnly) throw refused(join(alias, path), "belongs to a read-only resource");
  }
}

const NO_PART = "whose content is no part of a plan";

function operationOf(
  before: FileState | undefined,
  after: FileState | undefined,
): "create" | "delete" | "modify" | "mode" | undefined {
  if (before === undefined) return after === undefined ? undefined : "create";
  if (after === undefined) return "delete";
  if (sameState(before, after)) return undefined;
  const sameBytes = Buffer.compare(before.content, after.content) === 0;
  return sameBytes && (before.mode === LINK) === (after.mode === LINK) ? "mode" : "modify";
}

export function notThere(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is no file ${shown(path)}.`, {
    kept: "Nothing was changed.",
    detail: { path },
  });
}

export function occupied(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is already a file ${shown(path)}.`, {
    kept: "It was not changed.",
    detail: { path },
  });
}
