/**
 * The threads of one sync. Each has at most two batches of files, so memory is bounded however fast they are; it gets
 * the next one when the results of the one before have been processed. Towards the end batches get smaller, so that no
 * thread waits for the others. A thread that dies, or sends nothing for too long, is replaced: the file it was reading
 * becomes a gap, the others of its batches are read by another thread.
 */
import { Worker } from "node:worker_threads";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { IndexWorkerCommand, IndexWorkerData, IndexWorkerMessage } from "./index-worker.ts";
import { ReceivedNames } from "../index/name-numbers.ts";
import type { FileResult } from "./prepare-content.ts";
import { threadOptions } from "../../platform/thread-options.ts";

export interface FileToRead {
  readonly path: string;
  readonly size: number;
}

export interface IndexThreadsOptions extends IndexWorkerData {
  readonly threads: number;
  readonly signal: AbortSignal | undefined;
  /** How long a thread may work on one file. */
  readonly patienceMs?: number;
  readonly entry?: URL;
  readonly onResult: (path: string, result: FileResult, names: ReceivedNames) => void;
}

/** In a bundle the entry is a file next to the bundle. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./index-worker.ts" : "./index-worker.cjs", import.meta.url);
const BATCH_FILES = 32;
const BATCH_BYTES = 512 * 1024;
/** A batch is at most the remaining files divided by this and by the number of threads. */
const SHARES = 3;
/**
 * The analyzer gives up by itself, after a number of steps; this is for cases it does not foresee, also on a computer
 * that is very busy.
 */
const PATIENCE_MS = 60_000;
const STEPS = 5;
/** Of JavaScript; the parser's memory is separate, and stays within a few times the size of a file. */
const HEAP_MB = 256;
/**
 * For new objects. With 4 MB, garbage takes a fifth more time to collect; with more than this it does not take less.
 */
const YOUNG_HEAP_MB = 24;

export async function readInThreads(files: readonly FileToRead[], options: IndexThreadsOptions): Promise<void> {
  const batches = new Batches(files, options.threads);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const threads = Math.min(options.threads, Math.ceil(Math.max(files.length / BATCH_FILES, bytes / BATCH_BYTES)));
  const failed = new AbortController();
  const signals = [failed.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(signals);
  const work = Array.from({ length: threads }, async () => {
    try {
      while (!batches.isEmpty && !signal.aborted) await new IndexThread(batches, options, signal).done;
    } catch (error) {
      failed.abort();
      throw error;
    }
  });
  const results = await Promise.allSettled(work);
  options.signal?.throwIfAborted();
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** The files that no thread has been given yet. */
class Batches {
  /** The last is the next. */
  readonly #files: FileToRead[];
  readonly #threads: number;

  constructor(files: readonly FileToRead[], threads: number) {
    this.#files = files.toReversed();
    this.#threads = threads;
  }

  get isEmpty(): boolean {
    return this.#files.length === 0;
  }

  /** How many files the next one has at most. */
  get size(): number {
    return Math.min(BATCH_FILES, Math.ceil(this.#files.length / (this.#threads * SHARES)));
  }

  next(): readonly FileToRead[] {
    const most = this.size;
    const batch: FileToRead[] = [];
    let bytes = 0;
    for (let file = this.#files.at(-1); file !== undefined && batch.length < most; file = this.#files.at(-1)) {
      bytes += file.size;
      if (batch.length > 0 && bytes > BATCH_BYTES) break;
      batch.push(file);
      this.#files.pop();
    }
    return batch;
  }

  giveBack(files: readonly FileToRead[]): void {
    this.#files.push(...files.toReversed());
  }
}

/**
 * From its first batch to the end of all of them, or to its own end; then the files it had not finished are in
 * `batches` again.
 */
class IndexThread {
  readonly done: Promise<void>;
  readonly #batches: Batches;
  readonly #options: IndexThreadsOptions;
  readonly #worker: Worker;
  /** The files it was given and has not answered, in order. */
  readonly #open: FileToRead[] = [];
  readonly #names = new ReceivedNames();
  #watch: NodeJS.Timeout | undefined;
  #ready = false;
  #silentFor = 0;
  #gone = "";
  /** Messages that arrive after this are ignored. */
  #ended = false;
  #failure: unknown;

  constructor(batches: Batches, options: IndexThreadsOptions, signal: AbortSignal) {
    this.#batches = batches;
    this.#options = options;
    const { root, indexFile, maxFileSize, entry = ENTRY } = options;
    const data: IndexWorkerData = { root, indexFile, maxFileSize };
    this.#worker = new Worker(entry, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      ...threadOptions(),
    });
    this.#worker.on("message", (message: IndexWorkerMessage) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#gone ||= `ended the parser: ${error instanceof Error ? error.message : String(error)}`;
    });
    this.#watch = setInterval(() => this.#tick(), (options.patienceMs ?? PATIENCE_MS) / STEPS);
    this.done = this.#run(signal);
    this.#feed();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const stop = (): void => void this.#worker.terminate();
    signal.addEventListener("abort", stop, { once: true });
    // Not `once`, which would take the thread's last error for ours.
    await new Promise((resolve) => this.#worker.on("exit", resolve));
    signal.removeEventListener("abort", stop);
    clearInterval(this.#watch);
    if (this.#failure !== undefined) throw this.#failure;
    if (signal.aborted) return;
    // Then the cause is not a file, and every other thread would fail in the same way.
    if (!this.#ready) throw new AgentsError("internal", `The parser cannot be started: it ${this.#gone || "ended"}.`);
    this.#giveBack();
  }

  #receive(message: IndexWorkerMessage): void {
    if (this.#ended) return;
    if (message === "ready") {
      this.#ready = true;
      return;
    }
    const { path, result } = message;
    this.#open.shift();
    this.#silentFor = 0;
    try {
      this.#options.onResult(path, result, this.#names);
    } catch (error) {
      this.#failure = error;
      this.#end("");
      return;
    }
    this.#feed();
  }

  #feed(): void {
    while (!this.#batches.isEmpty && this.#open.length <= this.#batches.size) {
      const batch = this.#batches.next();
      this.#open.push(...batch);
      const paths: IndexWorkerCommand = batch.map(({ path }) => path);
      this.#worker.postMessage(paths, []);
    }
    if (this.#open.length === 0) this.#end("");
  }

  /** Counted in steps: a computer that slept for an hour is not a thread that hangs. */
  #tick(): void {
    this.#silentFor += 1;
    if (this.#silentFor >= STEPS) this.#end("took too long to parse");
  }

  #end(why: string): void {
    this.#ended = true;
    this.#gone ||= why;
    void this.#worker.terminate();
  }

  /** The file it was working on becomes a gap; the others are tried again. */
  #giveBack(): void {
    const [culprit, ...others] = this.#open;
    if (culprit === undefined) return;
    this.#options.onResult(culprit.path, { is: "gap", reason: this.#gone || "ended the parser" }, this.#names);
    this.#batches.giveBack(others);
  }
}
