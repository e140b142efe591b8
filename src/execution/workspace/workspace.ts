/**
 * The directory of one resource, in use by a plan's steps. Every write of a step goes through its workspace, which
 * records the bytes before and after in the scope of the call that made it. There are two: in a sandbox a change is
 * written at once to the plan's own copy and waits there for apply; in place it is kept in memory and written to the
 * user's files when its call has ended.
 */
import type { NetChange } from "../../changes/net-changes.ts";
import type { FileState } from "../../platform/file-state.ts";
import type { ReadTree } from "../sandbox/sandbox-facts.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Snapshot } from "./file-listing.ts";
import type { PendingChanges } from "./pending-changes.ts";
import type { PlanExecutionContext } from "./plan-execution-context.ts";

export interface Workspace extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** Whether the changes of a call are in the user's own files once it has ended. */
  readonly worksInPlace: boolean;
  /** Whether the plan's profile lets commands use the network. */
  readonly network: boolean;
  /** Whether commands run confined or not at all. */
  readonly requireConfinement: boolean;

  /** `touched`: which call of this wave changed a path before the run was interrupted. */
  beginWave(touched?: ReadonlyMap<string, string>): void;
  /** The paths that the call changes belong to it while it runs. */
  during<T>(by: string, call: () => Promise<T>): Promise<T>;

  read(path: string): Promise<FileState | undefined>;
  /** Reads the directory as it is, while no command changes it. */
  reading<T>(section: (tree: ReadTree) => Promise<T>): Promise<T>;
  /** Lists everything that is part of the plan, while no command changes it. */
  look(): Promise<Snapshot>;

  /** Throws for a path that may not be changed: in a read-only resource, or not part of the plan. */
  assertWritable(path: string): Promise<void>;
  /** Replaces the file at `path` by the result of `next`; undefined removes it. */
  change(by: string, path: string, next: (before: FileState | undefined) => FileState | undefined): Promise<void>;
  move(by: string, from: string, to: string): Promise<void>;
  /**
   * Removes every file below a directory, and the directories; ignored files stay with theirs. Returns how many were
   * removed.
   */
  removeDirectory(by: string, path: string): Promise<number>;
  /** Runs a program whose changes are found by comparing the files before and after; nothing else runs meanwhile. */
  capture<T>(by: string, run: (root: string) => Promise<T>): Promise<T>;

  /** Writes the changes that wait for the end of a call, by `land`; false when there are none. */
  landCall(by: string, land: (pending: PendingChanges) => Promise<void>): Promise<boolean>;
  /** Forgets the changes that wait for the end of a call. */
  dropCall(by: string): void;
  /** Prepares a resumed execution: the recorded changes are these. */
  restore(changes: ReadonlyMap<string, NetChange>): Promise<void>;
}

export interface WorkspaceParts {
  readonly sandbox: Sandbox;
  readonly network?: boolean;
  readonly requireConfinement?: boolean;
  readonly context: Pick<PlanExecutionContext, "recordChanges">;
  /** Finds recorded bytes by their hash. */
  readonly contents: (hash: string) => Promise<Uint8Array | undefined>;
}
