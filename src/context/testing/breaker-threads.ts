/** A group of threads that share one breaker; see breaker-worker.ts. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { SharedBreaker } from "../breaker/circuit-breaker.ts";
import type { BreakerCommand, BreakerReply, BreakerWorkerData } from "./breaker-worker.ts";

export class BreakerThreads implements AsyncDisposable {
  readonly #workers: readonly Worker[];

  constructor(options: { shared: SharedBreaker; threads: number; module?: string; now?: number }) {
    const { shared, threads, now } = options;
    const data: BreakerWorkerData = {
      shared,
      threads,
      module: options.module ?? new URL("./attach-breaker.ts", import.meta.url).href,
      startLine: new SharedArrayBuffer(8),
      ...(now === undefined ? {} : { now }),
    };
    const entry = new URL("./breaker-worker.ts", import.meta.url);
    this.#workers = Array.from({ length: threads }, () => new Worker(entry, { workerData: data }));
  }

  /** Gives each thread its command and waits for all replies; a single command goes to every thread. */
  async run(command: BreakerCommand | readonly BreakerCommand[]): Promise<BreakerReply[]> {
    return Promise.all(
      this.#workers.map(async (worker, index) => {
        const own = "kind" in command ? command : command[index];
        const reply = once(worker, "message");
        worker.postMessage(own, []);
        const [message]: BreakerReply[] = await reply;
        if (message === undefined) throw new Error("A thread answered with nothing.");
        return message;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
