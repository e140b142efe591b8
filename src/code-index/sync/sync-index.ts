/**
 * Brings the index of a directory up to date. The file system's facts about each file (size, times, inode) are compared
 * first; files that differ are read and hashed; only contents never seen before are parsed. Readers see the tree as it
 * was until the last transaction, and then as it is: the paths change all at once, and the generation with them.
 *
 * One sync at a time works on an index; a second one waits, and then usually finds nothing to do.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { DEFAULT_MAX_FILE_SIZE } from "../../domain/context/context-policy.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { isCorrupt, storeError } from "../../platform/sqlite-errors.ts";
import type { Analyzer } from "../languages/analyze.ts";
import { languageOf } from "../model/language-of.ts";
import { ContentWriter } from "./content-writer.ts";
import { listFiles, type ListedTree } from "../../git/git-listing.ts";
import { eraseIndex, lockFileOf, openForSync, realRoot } from "../index/index-database.ts";
import { type FileToRead, readInThreads } from "./index-threads.ts";
import { type ProbeResult, FileProbe } from "./file-probe.ts";
import { NameNumbers, ReceivedNames } from "../index/name-numbers.ts";
import { type FileResult, prepareFile } from "./prepare-content.ts";
import { tooLarge } from "./read-file.ts";
import { BINARY, type EntryState, forgetTrees, LINK, TreeRecord } from "../index/tree-record.ts";

export interface SyncOptions {
  readonly indexFile: string;
  /** The directory the index is of. */
  readonly root: string;
  /** A copy of it to index instead, kept under a name of its own: a sandbox. */
  readonly overlay?: { readonly name: string } & ListedTree;
  readonly onProgress?: (progress: SyncProgress) => void;
  readonly signal?: AbortSignal;
  /** Threads that parse. */
  readonly workers?: number;
  /** In bytes; larger files are gaps. */
  readonly maxFileSize?: number;
  /** Begin with an empty index. */
  readonly rebuild?: boolean;
}

export interface SyncProgress {
  /** Files that had to be read, and how many of them have been. */
  readonly done: number;
  readonly total: number;
}

export interface SyncResult {
  /** The tree's generation, for a scope. It differs from the one before exactly when something changed. */
  readonly generation: number;
  /** In the index now. */
  readonly files: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Contents that were new. */
  readonly parsed: number;
  /** Files that are not text by their first bytes or name, and links, which are not followed. */
  readonly binaries: number;
  readonly links: number;
  /** Files that are not, or not completely, in the index, and why. */
  readonly gaps: readonly { readonly path: string; readonly reason: string }[];
  /** Why the previous index had to be rebuilt. */
  readonly rebuilt: string | undefined;
}

/** A few small files are parsed in this thread: starting a thread and its parser would take longer. */
const HERE_FILES = 8;
const HERE_BYTES = 192 * 1024;
/** How much is parsed between two commits. */
const COMMIT_EVERY_FILES = 256;
/**
 * At this part of the reading, the written pages are copied into the file while threads still parse; at the end, the
 * caller would wait for it.
 */
const NEARLY = 0.9;
const PROBES_PER_TURN = 2_000;
const THREADS = 2;
/** Another sync of a large directory may take minutes. */
const LOCK_PATIENCE_MS = 3_600_000;

export async function syncIndex(options: SyncOptions): Promise<SyncResult> {
  const { indexFile, signal, rebuild = false } = options;
  return withFileLock(
    lockFileOf(indexFile),
    async () => {
      if (rebuild) eraseIndex(indexFile);
      try {
        return await syncOnce(options, undefined);
      } catch (error) {
        if (!isCorrupt(error)) throw storeError(error, indexFile);
        eraseIndex(indexFile);
        return await syncOnce(options, "it was damaged");
      }
    },
    { patienceMs: LOCK_PATIENCE_MS, ...(signal === undefined ? {} : { signal }) },
  );
}

async function syncOnce(options: SyncOptions, damage: string | undefined): Promise<SyncResult> {
  const { indexFile, overlay, signal } = options;
  const root = realRoot(overlay?.root ?? options.root);
  const { database, rebuilt = damage } = openForSync(indexFile);
  try {
    const listed = listFiles({ ...overlay, root }, join(dirname(indexFile), "empty.git"), signal);
    // The `await` below receives a failure.
    listed.catch(() => undefined);
    const tree = new TreeRecord(database, overlay?.name ?? "", root);
    const sync = new Sync(database, tree, root, options);
    // While git lists the files: most files of the last sync still exist.
    await sync.probeKnown(tree.paths);
    const listing = await listed;
    const files = await sync.changedFiles(listing.paths);
    for (const { path, reason } of listing.gaps) tree.put(path, { ...UNSEEN, reason });
    await sync.read(files);
    signal?.throwIfAborted();
    return { ...sync.finish(), rebuilt };
  } finally {
    database.close();
  }
}

const UNSEEN: EntryState = { size: 0, stamp: "", racy: false, content: null, reason: null };

class Sync {
  readonly #database: DatabaseSync;
  readonly #tree: TreeRecord;
  readonly #root: string;
  readonly #options: SyncOptions;
  readonly #maxFileSize: number;
  readonly #writer: ContentWriter;
  readonly #probed = new Map<string, ProbeResult>();
  #parsed = 0;
  #uncommitted = 0;
  #done = 0;

  constructor(database: DatabaseSync, tree: TreeRecord, root: string, options: SyncOptions) {
    this.#database = database;
    this.#tree = tree;
    this.#root = root;
    this.#options = options;
    this.#maxFileSize = options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE;
    this.#writer = new ContentWriter(database);
  }

  /**
   * Probes files before it is known whether git still lists them. A file that is gone now may exist again when it is
   * read.
   */
  async probeKnown(paths: readonly string[]): Promise<void> {
    const probe = new FileProbe(this.#root);
    for (const [at, path] of paths.entries()) {
      if (at % PROBES_PER_TURN === PROBES_PER_TURN - 1) await this.#pause();
      const state = probe.probe(path);
      if (state.is !== "gone") this.#probed.set(path, state);
    }
  }

  /** The files that have to be read. */
  async changedFiles(paths: readonly string[]): Promise<readonly FileToRead[]> {
    const probe = new FileProbe(this.#root);
    const files: FileToRead[] = [];
    for (const [at, path] of paths.entries()) {
      if (at % PROBES_PER_TURN === PROBES_PER_TURN - 1) await this.#pause();
      const state = this.#probed.get(path) ?? probe.probe(path);
      if (state.is === "gone") continue;
      if (state.is === "link") this.#tree.put(path, { ...UNSEEN, reason: LINK });
      else if (state.is === "gap") this.#tree.put(path, { ...UNSEEN, reason: state.reason });
      else if (state.size <= this.#maxFileSize && this.#tree.keep(path, state)) continue;
      else if (languageOf(path) === undefined) this.#tree.put(path, { ...UNSEEN, size: state.size, reason: BINARY });
      else if (state.size > this.#maxFileSize) {
        this.#tree.put(path, { ...UNSEEN, size: state.size, reason: tooLarge(this.#maxFileSize) });
      } else files.push({ path, size: state.size });
    }
    return files;
  }

  /** Gives other work of this thread its turn. */
  async #pause(): Promise<void> {
    await turn();
    this.#options.signal?.throwIfAborted();
  }

  async read(files: readonly FileToRead[]): Promise<void> {
    if (files.length === 0) return;
    const { indexFile, onProgress, signal, workers = THREADS } = this.#options;
    const onResult = (path: string, result: FileResult, names: ReceivedNames): void => {
      if (result.is === "content" && result.prepared !== undefined) names.receive(result.prepared.names);
      this.#take(path, result, names);
      this.#done += 1;
      if (this.#done === Math.ceil(files.length * NEARLY) && this.#parsed > COMMIT_EVERY_FILES) this.#checkpoint();
      onProgress?.({ done: this.#done, total: files.length });
    };
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const [root, maxFileSize] = [this.#root, this.#maxFileSize];
    try {
      if (files.length <= HERE_FILES && bytes <= HERE_BYTES) {
        const isKnown = (hash: string, language: string): boolean => this.#writer.find(hash, language) !== undefined;
        const preparing = { root, maxFileSize, analyzer: await ownAnalyzer(), names: new NameNumbers(), isKnown };
        const names = new ReceivedNames();
        for (const { path } of files) onResult(path, await prepareFile(path, preparing), names);
      } else {
        await readInThreads(files, { root, indexFile, maxFileSize, threads: workers, signal, onResult });
      }
      this.#commit();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  #take(path: string, result: FileResult, names: ReceivedNames): void {
    switch (result.is) {
      case "gone":
        return;
      case "link":
        this.#tree.put(path, { ...UNSEEN, reason: LINK });
        return;
      case "gap":
        this.#tree.put(path, { ...this.#tree.probed(path), reason: result.reason });
        return;
      case "binary": {
        const { size, stamp, racy } = result;
        this.#tree.put(path, { size, stamp, racy, content: null, reason: BINARY });
        return;
      }
      case "content": {
        const { size, stamp, racy } = result;
        this.#tree.put(path, { size, stamp, racy, content: this.#contentOf(result, names), reason: null });
      }
    }
  }

  #contentOf(result: Extract<FileResult, { is: "content" }>, names: ReceivedNames): number {
    const { hash, language, prepared } = result;
    if (prepared === undefined) {
      const known = this.#writer.find(hash, language);
      if (known === undefined) throw new Error(`the content ${hash} was known and is gone`);
      return known;
    }
    if (!this.#database.isTransaction) this.#database.exec("BEGIN IMMEDIATE");
    const id = this.#writer.write(result, prepared, names);
    this.#parsed += 1;
    this.#uncommitted += 1;
    if (this.#uncommitted >= COMMIT_EVERY_FILES) this.#commit();
    return id;
  }

  #commit(): void {
    if (this.#database.isTransaction) this.#database.exec("COMMIT");
    this.#uncommitted = 0;
  }

  /** As far as no reader needs the pages from before; the rest is copied when the file is closed. */
  #checkpoint(): void {
    this.#commit();
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  finish(): Omit<SyncResult, "rebuilt"> {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const { id: own, rewritten, summary } = this.#tree.write();
      const forgotten = forgetTrees(this.#database, ({ id, root }) => id !== own && !existsSync(root));
      if (rewritten || forgotten || this.#parsed > 0) this.#writer.removeUnused();
      this.#database.exec("COMMIT");
      return { ...summary, parsed: this.#parsed };
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

/**
 * The parser of this thread, for as long as the process lives; loaded when needed, because loading takes a while and
 * most processes need none.
 */
let analyzer: Promise<Analyzer> | undefined;

function ownAnalyzer(): Promise<Analyzer> {
  return (analyzer ??= import("../languages/analyze.ts").then(({ createAnalyzer }) => createAnalyzer()));
}
