/**
 * The worker threads of an executor: at most so many, started when there is work, first come first served whoever submitted it. Where
 * starting a thread takes longer than most jobs, jobs can wait a while for one that is there; if none of them gets its turn by then,
 * another thread is started, so a job that hangs holds up the others for that while and no longer. Idle threads do not keep the
 * process alive. A thread that is being terminated keeps its place until it is gone, so the limit holds at every instant.
 *
 * A thread can die of something an earlier strategy left in it: a timer that throws, memory it filled. So that nobody is blamed for
 * another's doing, an errand whose thread dies after it served others runs once more in a thread of its own, and only
 * if that one dies too has the errand failed.
 */
import type { SharedBreaker } from "./circuit-breaker.ts";
import type { StrategyCall, StrategyReply } from "./strategy-protocol.ts";
import { type Errand, StrategyThread, type ThreadEnd } from "./strategy-thread.ts";

export interface PoolJob {
  /** A thread is free. Undefined: not wanted any more, the thread goes to the next job. */
  begin(): StrategyCall | undefined;
  /** How the call that `begin` returned ended. */
  end(reply: StrategyReply): void;
  /** No thread could be started for it. */
  refuse(reason: string): void;
}

export interface PoolOptions {
  readonly breaker: SharedBreaker;
  readonly maxWorkers: number;
  readonly workerMemoryMb: number;
  /** How long jobs wait for a thread that is busy before there is another one. */
  readonly patienceMs: () => number;
  /** Modules that threads load before they are asked to. */
  readonly preload: readonly string[];
}

export class StrategyWorkerPool {
  readonly #options: PoolOptions;
  /** In order of submission; a set, because jobs are withdrawn from the middle. */
  readonly #queue = new Set<PoolJob>();
  readonly #errands = new Map<PoolJob, Errand>();
  readonly #threads = new Set<StrategyThread>();
  /** When a job last got its turn, or came to an empty queue. */
  #movedAt = 0;
  #patience: NodeJS.Timeout | undefined;
  #pumping = false;
  #pumpAgain = false;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  submit(job: PoolJob): void {
    if (this.#queue.size === 0) this.#movedAt = performance.now();
    this.#queue.add(job);
    this.#pump();
  }

  /** Starts threads for work that is about to come, so that they boot while something else is waited for. */
  warmUp(threads: number): void {
    while (!this.#closed && this.#threads.size < Math.min(threads, this.#options.maxWorkers)) {
      const before = this.#threads.size;
      this.#start();
      if (this.#threads.size === before) return;
    }
  }

  /** The job's result is of no interest any more: it will not be told of its end, and what runs is stopped. */
  withdraw(job: PoolJob): void {
    this.#queue.delete(job);
    const errand = this.#errands.get(job);
    if (errand === undefined) return;
    this.#errands.delete(job);
    for (const thread of this.#threads) thread.abandon(errand);
  }

  /** Ends all threads. Jobs should have been withdrawn before; those that were not are not told. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#patience);
    this.#queue.clear();
    await Promise.all(Array.from(this.#threads, (thread) => thread.stop()));
  }

  /** Brings jobs and threads together. Jobs run foreign code (listeners of a breaker) that may submit more meanwhile. */
  #pump(): void {
    this.#pumpAgain = true;
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#pumpAgain && !this.#closed) {
        this.#pumpAgain = false;
        for (const thread of this.#threads) if (thread.isIdle) this.#serve(thread);
        while (this.#wantsThread()) this.#start();
      }
    } finally {
      this.#pumping = false;
    }
  }

  #wantsThread(): boolean {
    if (this.#closed || this.#threads.size >= this.#options.maxWorkers) return false;
    const coming = Array.from(this.#threads).filter((thread) => thread.isBootingForAnyone).length;
    if (coming >= this.#queue.size) return false;
    return this.#threads.size === 0 || this.#options.patienceMs() === 0 || (coming === 0 && this.#isOutOfPatience());
  }

  /** Otherwise it looks again when the time has come. A thread that is coming will say so by itself. */
  #isOutOfPatience(): boolean {
    const left = this.#movedAt + this.#options.patienceMs() - performance.now();
    if (left <= 0) return true;
    clearTimeout(this.#patience);
    // A little more: timers may be early by part of a millisecond.
    this.#patience = setTimeout(() => this.#pump(), left + 1).unref();
    return false;
  }

  /** Gives the thread the first job that still wants one. */
  #serve(thread: StrategyThread): void {
    for (const job of this.#queue) {
      this.#queue.delete(job);
      this.#movedAt = performance.now();
      const call = job.begin();
      if (this.#closed) return;
      if (call === undefined) continue;
      const finished = <Argument>(tell: (argument: Argument) => void) => {
        return (argument: Argument): void => {
          this.#errands.delete(job);
          tell(argument);
        };
      };
      const errand: Errand = {
        call,
        end: finished((reply: StrategyReply) => job.end(reply)),
        refuse: finished((reason: string) => job.refuse(reason)),
      };
      this.#errands.set(job, errand);
      thread.run(errand);
      return;
    }
  }

  #start(errand?: Errand): void {
    try {
      const thread: StrategyThread = new StrategyThread({
        breaker: this.#options.breaker,
        memoryMb: this.#options.workerMemoryMb,
        preload: this.#options.preload,
        errand,
        onIdle: () => this.#pump(),
        onGone: (end) => this.#onGone(thread, end),
      });
      this.#threads.add(thread);
    } catch (error) {
      this.#refuse(errand, error instanceof Error ? error.message : String(error));
    }
  }

  #onGone(thread: StrategyThread, { whileBooting, reason, errand }: ThreadEnd): void {
    this.#threads.delete(thread);
    if (whileBooting) this.#refuse(errand, reason);
    else if (errand !== undefined && thread.isUnshared) errand.end({ kind: "failed", reason });
    else if (errand !== undefined) this.#start(errand);
    this.#pump();
  }

  /** One start that failed uses up one job, so that a pool which cannot start threads comes to an end. */
  #refuse(errand: Errand | undefined, reason: string): void {
    const sentence = `could not be run, no thread started: ${reason}`;
    if (errand !== undefined) {
      errand.refuse(sentence);
      return;
    }
    const [job] = this.#queue;
    if (job === undefined) return;
    this.#queue.delete(job);
    job.refuse(sentence);
  }
}
