/**
 * One worker thread and what it is doing: booting, idle, busy, or ending. A thread whose errand was abandoned gets an abort and a short
 * grace; if the errand does not settle by then the thread is terminated, because a busy loop defeats every timer of its own thread.
 */
import { Worker } from "node:worker_threads";
import { threadOptions } from "../code-index/thread-options.ts";
import type { SharedBreaker } from "./circuit-breaker.ts";
import {
  parseWorkerMessage,
  type StrategyCall,
  type StrategyReply,
  type StrategyWorkerData,
  type WorkerCommand,
} from "./strategy-protocol.ts";

const GRACE_MS = 100;

/** In a bundle the entry is a file beside the one this is in. */
const ENTRY = new URL(
  import.meta.url.endsWith(".ts") ? "./strategy-worker.ts" : "./strategy-worker.cjs",
  import.meta.url,
);

/** A call that has a permit, and whom to tell how it ended. */
export interface Errand {
  readonly call: StrategyCall;
  readonly end: (reply: StrategyReply) => void;
  /** It could not be run for want of a thread. */
  readonly refuse: (reason: string) => void;
}

type ThreadState =
  /** With an errand if it was started for that one, otherwise for whoever is next. */
  | { readonly is: "booting"; readonly errand: Errand | undefined }
  | { readonly is: "idle" }
  /** Without an errand once that was abandoned. */
  | { readonly is: "busy"; readonly id: number; readonly errand: Errand | undefined }
  | { readonly is: "ending" };

export interface ThreadEnd {
  readonly whileBooting: boolean;
  /** As the end of a sentence that begins with the strategy. */
  readonly reason: string;
  /** What it was doing, if anybody still waits for that. */
  readonly errand: Errand | undefined;
}

export interface ThreadOptions {
  readonly breaker: SharedBreaker;
  readonly memoryMb: number;
  readonly preload: readonly string[];
  readonly errand?: Errand | undefined;
  /** Free for an errand: it has booted, or finished the last one. */
  readonly onIdle: () => void;
  readonly onGone: (end: ThreadEnd) => void;
}

export class StrategyThread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #exited: Promise<void>;
  #state: ThreadState;
  #grace: NodeJS.Timeout | undefined;
  #errands = 0;
  #error: unknown;

  constructor(options: ThreadOptions) {
    const data: StrategyWorkerData = { breaker: options.breaker, preload: options.preload };
    this.#options = options;
    this.#state = { is: "booting", errand: options.errand };
    this.#worker = new Worker(ENTRY, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
      ...threadOptions(),
    });
    this.#worker.on("message", (message: unknown) => this.#hear(message));
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

  /** Whether it will ask for an errand as soon as it has booted. */
  get isBootingForAnyone(): boolean {
    return this.#state.is === "booting" && this.#state.errand === undefined;
  }

  /** Whether at most one errand has ever run here, so that what happens to the thread is that errand's own doing. */
  get isUnshared(): boolean {
    return this.#errands <= 1;
  }

  run(errand: Errand): void {
    const id = ++this.#errands;
    this.#state = { is: "busy", id, errand };
    this.#worker.ref();
    this.#send({ kind: "run", id, call: errand.call });
  }

  /** Nobody waits for this errand any more; nor need the process, should it want to end meanwhile. */
  abandon(errand: Errand): void {
    const state = this.#state;
    if (state.is === "booting" && state.errand === errand) this.#state = { is: "booting", errand: undefined };
    if (state.is !== "busy" || state.errand !== errand) return;
    this.#state = { is: "busy", id: state.id, errand: undefined };
    this.#send({ kind: "abort", id: state.id });
    this.#worker.unref();
    this.#grace = setTimeout(() => this.#terminate(), GRACE_MS).unref();
  }

  /** An idle thread ends by itself, so that its exit handlers run; any other is terminated. Nobody is told of its errand. */
  async stop(): Promise<void> {
    // Whoever waits for the end must not be left behind by a process that has nothing else to do.
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

  #hear(value: unknown): void {
    const message = parseWorkerMessage(value);
    if (message === undefined) return;
    const state = this.#state;
    if (message.kind === "ready") {
      if (state.is !== "booting") return;
      if (state.errand === undefined) this.#becomeIdle();
      else this.run(state.errand);
      return;
    }
    if (state.is === "busy" && state.id === message.id) this.#settle(message);
  }

  #settle(reply: StrategyReply): void {
    if (this.#state.is !== "busy") return;
    const { errand } = this.#state;
    clearTimeout(this.#grace);
    this.#state = { is: "idle" };
    // Whoever is told may give this thread its next errand or stop it.
    errand?.end(reply);
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
    // The exit event says when it is done.
    void this.#worker.terminate();
  }

  #end(code: number): void {
    clearTimeout(this.#grace);
    const state = this.#state;
    this.#state = { is: "ending" };
    const reason =
      this.#error === undefined ? `ended its thread with code ${code}` : `broke its thread: ${messageOf(this.#error)}`;
    const errand = state.is === "busy" || state.is === "booting" ? state.errand : undefined;
    this.#options.onGone({ whileBooting: state.is === "booting", reason, errand });
  }

  #send(command: WorkerCommand): void {
    this.#worker.postMessage(command, []);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
