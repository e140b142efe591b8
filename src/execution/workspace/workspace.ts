/**
 * The directory of one resource, in use by a plan's steps. Every write of a step goes through its workspace, which
 * records the bytes before and after in the scope of the call that made it. There are two: in a sandbox a change is
 * written at once to the plan's own copy and waits there for apply; in place it is kept in memory and written to the
 * user's files when its call has ended.
 */
import type { CommandNetwork } from "../../confinement/network/command-network.ts";
import type { NetChange } from "../../changes/net-changes.ts";
import type { ChangeEntryInput } from "../../domain/plan/change-entry.ts";
import type { FileState } from "../../platform/file-state.ts";
import type { ReadTree } from "../sandbox/sandbox-facts.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { BackgroundCommand, BackgroundCommands } from "./background-commands.ts";
import type { Snapshot } from "./file-listing.ts";
import type { PendingChanges } from "./pending-changes.ts";
import type { PlanExecutionContext } from "./plan-execution-context.ts";

export interface Workspace extends AsyncDisposable {
  readonly sandbox: Sandbox;
  /** Whether the changes of a call are in the user's own files once it has ended. */
  readonly worksInPlace: boolean;
  /** Whether commands may use the network, or what they reach of it. */
  readonly network: boolean | CommandNetwork;
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
  /**
   * Runs a program whose changes are found by comparing the files before and after; nothing else runs meanwhile. Beside
   * a command in the background that may change files it can only read them.
   */
  capture<T>(by: string, run: (tree: TreeAccess) => Promise<T>): Promise<T>;
  /** The commands that go on while other calls are made; undefined where none can. */
  readonly background: BackgroundCommands | undefined;
  /** Starts one of them. */
  startBackground(
    by: string,
    options: { readonly readOnly: boolean },
    begin: (tree: TreeAccess) => Promise<BackgroundCommand>,
  ): Promise<BackgroundCommand>;
  /** Has the changes of commands in the background recorded as far as they are made. */
  settleBackground(foundBy: string): Promise<void>;

  /**
   * Lets another program work in the files for as long as `run` takes; nothing else touches them meanwhile. Its changes
   * are found whenever `run` looks, and are recorded by it.
   */
  host<T>(by: string, run: (files: HostedFiles) => Promise<T>): Promise<T>;

  /** Writes the changes that wait for the end of a call, by `land`; false when there are none. */
  landCall(by: string, land: (pending: PendingChanges) => Promise<void>): Promise<boolean>;
  /** Forgets the changes that wait for the end of a call. */
  dropCall(by: string): void;
  /** Prepares a resumed execution: the recorded changes are these. */
  restore(changes: ReadonlyMap<string, NetChange>): Promise<void>;
}

/** The files of the sandbox as a command may use them. */
export interface TreeAccess {
  readonly root: string;
  readonly readOnlyTree: boolean;
  /** Parts of a read-only tree that are not part of the plan, and so can be written. */
  readonly writable: readonly string[];
  /** The command in the background because of which the tree is read-only. */
  readonly beside: string | undefined;
}

/** The files of a sandbox while another program works in them. */
export interface HostedFiles {
  readonly workspace: Workspace;
  /** The changes since the last `noted`; nothing may move meanwhile. */
  found(): Promise<FoundChanges>;
  /** The changes are recorded, or were before: the next ones count from here. */
  noted(found: FoundChanges): void;
  /** Makes the files again from their base and these changes. */
  restore(changes: ReadonlyMap<string, NetChange>): Promise<void>;
}

export interface FoundChanges {
  readonly entries: readonly ChangeEntryInput[];
  /** All files as they are. */
  readonly files: Snapshot;
}

/** Records changes that are found by one call and were made by a command that another one had started. */
export interface LateChanges {
  /** Whether the call may leave a command running; from here on its changes can be recorded. */
  begin(startedBy: string): boolean;
  /** The changes that `record` records are credited to the call that started the command, and counts from here on. */
  recordFor(startedBy: string, foundBy: string, record: () => Promise<void>): Promise<void>;
}

export interface WorkspaceParts {
  /** Undefined where no command can stay in the background. */
  readonly late?: LateChanges | undefined;
  readonly sandbox: Sandbox;
  readonly network?: boolean | CommandNetwork;
  readonly requireConfinement?: boolean;
  readonly context: Pick<PlanExecutionContext, "recordChanges">;
  /** Finds recorded bytes by their hash. */
  readonly contents: (hash: string) => Promise<Uint8Array | undefined>;
}
