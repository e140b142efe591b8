/**
 * One worker thread and its state: booting, idle, busy, or ending. A thread whose job was abandoned gets an abort and a
 * short grace; if the job does not settle by then the thread is terminated, because a busy loop defeats every timer of
 * its own thread.
 */
import { Worker } from "node:worker_threads";
import { threadOptions } from "../../platform/thread-options.ts";
import type { SharedBreaker } from "../breaker/circuit-breaker.ts";
import {
  parseWorkerMessage,
  type StrategyCall,
  type StrategyReply,
  type StrategyWorkerData,
  type WorkerCommand,
} from "./strategy-protocol.ts";

const GRACE_MS = 100;

/** In a bundle the entry is a file next to the bundle. */
const ENTRY = new URL(
  import.meta.url.endsWith(".ts") ? "./strategy-worker.ts" : "./strategy-worker.cjs",
  import.meta.url,
);

/** A call that has a permit, with the callbacks for its end. */
export interface AdmittedCall {
  readonly call: StrategyCall;
  readonly end: (reply: StrategyReply) => void;
  /** It could not be run because no thread could be started. */
  readonly refuse: (reason: string) => void;
}

type ThreadState =
  /** With a job if it was started for that one, otherwise for the next job in the queue. */
  | { readonly is: "booting"; readonly job: AdmittedCall | undefined }
  | { readonly is: "idle" }
  /** Without a job once that was abandoned. */
  | { readonly is: "busy"; readonly id: number; readonly job: AdmittedCall | undefined }
  | { readonly is: "ending" };

export interface ThreadEnd {
  readonly whileBooting: boolean;
  /** As the end of a sentence that begins with the strategy. */
  readonly reason: string;
  /** The job it was running, if a caller still waits for it. */
  readonly job: AdmittedCall | undefined;
}

export interface ThreadOptions {
  readonly breaker: SharedBreaker;
  readonly memoryMb: number;
  readonly preload: readonly string[];
  readonly job?: AdmittedCall | undefined;
  /** Free for a job: it has booted, or finished the last one. */
  readonly onIdle: () => void;
  readonly onGone: (end: ThreadEnd) => void;
}

export class StrategyThread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #exited: Promise<void>;
  #state: ThreadState;
  #grace: NodeJS.Timeout | undefined;
  #jobCount = 0;
  #error: unknown;

  constructor(options: ThreadOptions) {
    const data: StrategyWorkerData = { breaker: options.breaker, preload: options.preload };
    this.#options = options;
    this.#state = { is: "booting", job: options.job };
    this.#worker = new Worker(ENTRY, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
      ...threadOptions(),
    });
    this.#worker.on("message", (message: unknown) => this.#receive(message));
    this.#worker.on("messageerror", (error) =>
      this.#settle({ kind: "failed", reason: `returned something unreadable: ${error.message}` }),
    );
    this.#worker.on("error", (error) => {
      this.#error = error;
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        this.#end(code);
        resolve();
      });
    });
  }

  get isIdle(): boolean {
    return this.#state.is === "idle";
  }

  /** Whether it will ask for a job as soon as it has booted. */
  get isBootingForAnyone(): boolean {
    return this.#state.is === "booting" && this.#state.job === undefined;
  }

  /** Whether at most one job has ever run here, so that a failure of the thread is caused by that job. */
  get isUnshared(): boolean {
    return this.#jobCount <= 1;
  }

  run(job: AdmittedCall): void {
    const id = ++this.#jobCount;
    this.#state = { is: "busy", id, job };
    this.#worker.ref();
    this.#send({ kind: "run", id, call: job.call });
  }

  /** No caller waits for this job any more; so the thread does not keep the process alive either. */
  abandon(job: AdmittedCall): void {
    const state = this.#state;
    if (state.is === "booting" && state.job === job) this.#state = { is: "booting", job: undefined };
    if (state.is !== "busy" || state.job !== job) return;
    this.#state = { is: "busy", id: state.id, job: undefined };
    this.#send({ kind: "abort", id: state.id });
    this.#worker.unref();
    this.#grace = setTimeout(() => this.#terminate(), GRACE_MS).unref();
  }

  /**
   * An idle thread ends by itself, so that its exit handlers run; any other is terminated. Its job gets no callback.
   */
  async stop(): Promise<void> {
    // A caller that awaits the end must not be cut off by a process that has nothing else to do.
    this.#worker.ref();
    if (this.#state.is === "idle") {
      this.#state = { is: "ending" };
      this.#send({ kind: "stop" });
      this.#grace = setTimeout(() => this.#terminate(), GRACE_MS);
    } else {
      this.#terminate();
    }
    await this.#exited;
  }

  #receive(value: unknown): void {
    const message = parseWorkerMessage(value);
    if (message === undefined) return;
    const state = this.#state;
    if (message.kind === "ready") {
      if (state.is !== "booting") return;
      if (state.job === undefined) this.#becomeIdle();
      else this.run(state.job);
      return;
    }
    if (state.is === "busy" && state.id === message.id) this.#settle(message);
  }

  #settle(reply: StrategyReply): void {
    if (this.#state.is !== "busy") return;
    const { job } = this.#state;
    clearTimeout(this.#grace);
    this.#state = { is: "idle" };
    // The callback may give this thread its next job or stop it.
    job?.end(reply);
    if (this.isIdle) this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.#state = { is: "idle" };
    this.#worker.unref();
    this.#options.onIdle();
  }

  #terminate(): void {
    clearTimeout(this.#grace);
    this.#state = { is: "ending" };
    // The exit event reports the end.
    void this.#worker.terminate();
  }

  #end(code: number): void {
    clearTimeout(this.#grace);
    const state = this.#state;
    this.#state = { is: "ending" };
    const reason =
      this.#error === undefined ? `ended its thread with code ${code}` : `broke its thread: ${messageOf(this.#error)}`;
    const job = state.is === "busy" || state.is === "booting" ? state.job : undefined;
    this.#options.onGone({ whileBooting: state.is === "booting", reason, job });
  }

  #send(command: WorkerCommand): void {
    this.#worker.postMessage(command, []);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
