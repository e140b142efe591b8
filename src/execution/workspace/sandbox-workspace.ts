/**
 * The workspace of a sandbox. Nothing else touches its files, so a change is written and recorded at once, commands
 * can run in it, and a resumed execution makes it again from its base and the recorded changes.
 */
import { basename } from "node:path";
import { CommandNetwork } from "../../confinement/network/command-network.ts";
import type { NetChange } from "../../changes/net-changes.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { ChangeEntryInput } from "../../domain/plan/change-entry.ts";
import { shown } from "../../domain/text/text.ts";
import { removeEmptyDirectories } from "../../platform/contained-directories.ts";
import { removeState, writeState, type FileState } from "../../platform/file-state.ts";
import type { ReadTree } from "../sandbox/sandbox-facts.ts";
import { resetSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { writableParts } from "../sandbox/writable-parts.ts";
import { BackgroundCommands, type BackgroundCommand } from "./background-commands.ts";
import { CommandCapture } from "./command-capture.ts";
import { changeFile, moveFile, removeFilesBelow, type ChangeWriter } from "./file-changes.ts";
import type { Snapshot } from "./file-listing.ts";
import type { PendingChange } from "./pending-changes.ts";
import { PlanTree } from "./resource-files.ts";
import { noBackgroundError } from "./workspace-failures.ts";
import type { HostedFiles, TreeAccess, Workspace, WorkspaceParts } from "./workspace.ts";

export class SandboxWorkspace implements Workspace {
  readonly worksInPlace = false;
  readonly sandbox: Sandbox;
  readonly network: CommandNetwork;
  readonly #ownNetwork: CommandNetwork | undefined;
  readonly requireConfinement: boolean;
  readonly background: BackgroundCommands;
  readonly #late: WorkspaceParts["late"];
  readonly #context: WorkspaceParts["context"];
  readonly #contents: WorkspaceParts["contents"];
  readonly #tree: PlanTree;
  readonly #capture: CommandCapture;
  readonly #writer: ChangeWriter;

  constructor(parts: WorkspaceParts) {
    this.sandbox = parts.sandbox;
    const { network = false } = parts;
    this.#ownNetwork =
      typeof network === "boolean" ? new CommandNetwork(network ? "on" : "off", parts.sandbox.path) : undefined;
    this.network = typeof network === "boolean" ? (this.#ownNetwork as CommandNetwork) : network;
    this.requireConfinement = parts.requireConfinement ?? true;
    this.#context = parts.context;
    this.#contents = parts.contents;
    this.#tree = new PlanTree(parts.sandbox);
    const record = (entries: readonly ChangeEntryInput[]): Promise<void> => this.#record(entries);
    this.#capture = new CommandCapture({ tree: this.#tree, record, contents: parts.contents });
    this.#late = parts.late;
    this.background = new BackgroundCommands({
      look: () => this.#tree.lookNow(),
      record: (foundBy, { id }, before) =>
        this.#capture.found(id, before, async (late) => this.#late?.recordFor(id, foundBy, late)),
    });
    this.#writer = {
      alone: (by, section) => this.#tree.exclusion.alone(() => this.background.quietly(by, section)),
      writing: (by, paths, section) => this.#writing(by, paths, section),
      carryOut: (by, change) => this.#carryOut(by, change),
      removeEmptied: (_by, path) => removeEmptyDirectories(this.sandbox.root, path),
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

  async capture<T>(by: string, run: (tree: TreeAccess) => Promise<T>): Promise<T> {
    this.#tree.assertNotReadOnly();
    return this.#tree.exclusion.alone(async () => {
      const writer = await this.#settled(by);
      if (writer === undefined) return this.#capture.watch(by, [], () => run(this.#wholeTree()));
      return run(await this.#besideWriter(writer.id));
    });
  }

  async startBackground(
    by: string,
    { readOnly }: { readonly readOnly: boolean },
    begin: (tree: TreeAccess) => Promise<BackgroundCommand>,
  ): Promise<BackgroundCommand> {
    this.#tree.assertNotReadOnly();
    if (this.#late?.begin(by) !== true) throw noBackgroundError();
    return this.#tree.exclusion.alone(async () => {
      const writer = await this.#settled(by);
      // From now on all commands have one network, so that they reach each other's servers.
      await this.network.share();
      const beside = readOnly || writer !== undefined;
      const access = beside ? await this.#besideWriter(writer?.id) : this.#wholeTree();
      return this.background.start(beside, () => begin(access));
    });
  }

  async settleBackground(foundBy: string): Promise<void> {
    await this.#tree.exclusion.alone(() => this.#settled(foundBy));
  }

  host<T>(by: string, run: (files: HostedFiles) => Promise<T>): Promise<T> {
    this.#tree.assertNotReadOnly();
    return this.#tree.exclusion.alone(async () => {
      await this.#settled(by);
      let seen = await this.#tree.lookNow();
      return run({
        workspace: this,
        found: async () => {
          const { entries, after } = await this.#capture.collected(by, seen);
          return { entries, files: after };
        },
        noted: ({ entries, files }) => {
          for (const { path, fromPath } of entries) this.#tree.noteChange({ path, fromPath, after: files.get(path) });
          seen = files;
        },
        restore: async (changes) => {
          await this.#restored(changes);
          seen = await this.#tree.lookNow();
        },
      });
    });
  }

  /** Has its changes recorded so far; undefined when no command in the background can change files now. */
  async #settled(foundBy: string): Promise<BackgroundCommand | undefined> {
    await this.background.quietly(foundBy, async () => undefined);
    return this.background.writer;
  }

  #wholeTree(): TreeAccess {
    return { root: this.sandbox.root, readOnlyTree: false, writable: [], beside: undefined };
  }

  async #besideWriter(beside: string | undefined): Promise<TreeAccess> {
    const writable = await writableParts(this.sandbox, (directory) => this.#tree.hasLeftBelow(directory));
    return { root: this.sandbox.root, readOnlyTree: true, writable, beside };
  }

  /** Every change is written when it is made: none waits for the end of its call. */
  landCall(): Promise<boolean> {
    return Promise.resolve(false);
  }

  dropCall(): void {}

  /** Makes the sandbox again from its base and these changes. */
  async restore(changes: ReadonlyMap<string, NetChange>): Promise<void> {
    await this.#tree.exclusion.alone(() => this.#restored(changes));
  }

  async #restored(changes: ReadonlyMap<string, NetChange>): Promise<void> {
    const { root } = this.sandbox;
    await this.#tree.ignored.forget();
    this.#tree.forgetChanges();
    await resetSandbox(this.sandbox);
    // Removed files make room first: a file may stand now where a directory was.
    for (const [path, { before, after }] of changes) {
      if (after === undefined && before !== undefined) await removeState(root, path);
    }
    for (const [path, { after }] of changes) {
      if (after === undefined) continue;
      const content = await this.#contents(after.hash);
      if (content === undefined) {
        throw new AgentsError("tool_failed", `The recorded content of ${shown(path)} is not there.`, {
          detail: { path },
        });
      }
      await writeState(root, path, { content, mode: after.mode });
      this.#tree.noteChange({ path, after });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.background[Symbol.asyncDispose]();
    await this.#ownNetwork?.[Symbol.asyncDispose]();
    await this.#tree[Symbol.asyncDispose]();
  }

  /**
   * With a change of git's rules not only the changed file is recorded: files that were ignored and are so no longer
   * become part of the plan, as created by the call that changed the rules.
   */
  async #writing<T>(by: string, paths: readonly string[], section: () => Promise<T>): Promise<T> {
    const rules = this.sandbox.strategy === "git_worktree" && paths.some((path) => basename(path) === ".gitignore");
    if (rules) return this.#writer.alone(by, () => this.#capture.watch(by, paths, section));
    const beside = await this.#tree.exclusion.onPaths(paths, async () =>
      this.background.writer === undefined ? { done: await section() } : undefined,
    );
    return beside === undefined ? this.#writer.alone(by, section) : beside.done;
  }

  async #carryOut(by: string, change: PendingChange): Promise<void> {
    const { root, alias: resource } = this.sandbox;
    const { path, fromPath, after } = change;
    await writeState(root, path, after);
    if (fromPath !== undefined) await this.#removeSource(fromPath, path);
    await this.#record([{ resource, ...change, toolInvocation: by }]);
  }

  /** The second half of a move; when it fails, the first one is undone. */
  async #removeSource(from: string, to: string): Promise<void> {
    const { root } = this.sandbox;
    try {
      await writeState(root, from, undefined);
    } catch (error) {
      await removeState(root, to);
      throw error;
    }
  }

  async #record(entries: readonly ChangeEntryInput[]): Promise<void> {
    for (const recorded of await this.#context.recordChanges(entries)) this.#tree.noteChange(recorded);
  }
}
