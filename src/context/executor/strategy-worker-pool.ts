/**
 * The worker threads of an executor: at most `maxWorkers`, started when there is work, in the order of submission.
 * Where starting a thread takes longer than most jobs, jobs can wait a while for an existing one; if none of them gets
 * its turn by then, another thread is started, so a job that hangs holds up the others for that while and no longer.
 * Idle threads do not keep the process alive. A thread that is being terminated keeps its place until it is gone, so
 * the limit holds at every instant.
 *
 * A thread can die of something an earlier strategy left in it: a timer that throws, memory it filled. So that no
 * strategy is blamed for another's failure, a job whose thread dies after it served others runs once more in a thread
 * of its own, and only if that one dies too has the job failed.
 */
import type { SharedBreaker } from "../breaker/circuit-breaker.ts";
import type { StrategyCall, StrategyReply } from "./strategy-protocol.ts";
import { type AdmittedCall, StrategyThread, type ThreadEnd } from "./strategy-thread.ts";

export interface PoolJob {
  /** A thread is free. Undefined: not wanted any more, the thread goes to the next job. */
  begin(): StrategyCall | undefined;
  /** The outcome of the call that `begin` returned. */
  end(reply: StrategyReply): void;
  /** No thread could be started for it. */
  refuse(reason: string): void;
}

export interface PoolOptions {
  readonly breaker: SharedBreaker;
  readonly maxWorkers: number;
  readonly workerMemoryMb: number;
  /** How long jobs wait for a busy thread before another one is started. */
  readonly patienceMs: () => number;
  /** Modules that threads load before the first job. */
  readonly preload: readonly string[];
}

export class StrategyWorkerPool {
  readonly #options: PoolOptions;
  /** In order of submission; a set, because jobs are withdrawn from the middle. */
  readonly #queue = new Set<PoolJob>();
  readonly #threadJobs = new Map<PoolJob, AdmittedCall>();
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

  /** Starts threads for work that is about to come, so that they boot while the caller waits for something else. */
  warmUp(threads: number): void {
    while (!this.#closed && this.#threads.size < Math.min(threads, this.#options.maxWorkers)) {
      const before = this.#threads.size;
      this.#start();
      if (this.#threads.size === before) return;
    }
  }

  /** The job's result is not needed any more: its end is not reported, and its call is stopped. */
  withdraw(job: PoolJob): void {
    this.#queue.delete(job);
    const threadJob = this.#threadJobs.get(job);
    if (threadJob === undefined) return;
    this.#threadJobs.delete(job);
    for (const thread of this.#threads) thread.abandon(threadJob);
  }

  /** Ends all threads. Jobs should have been withdrawn before; the end of others is not reported. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#patience);
    this.#queue.clear();
    await Promise.all(Array.from(this.#threads, (thread) => thread.stop()));
  }

  /** Assigns jobs to threads. Jobs run code of others (listeners of a breaker) that may submit more meanwhile. */
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

  /** If the time is not up, checks again when it is. A booting thread reports by itself. */
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
          this.#threadJobs.delete(job);
          tell(argument);
        };
      };
      const threadJob: AdmittedCall = {
        call,
        end: finished((reply: StrategyReply) => job.end(reply)),
        refuse: finished((reason: string) => job.refuse(reason)),
      };
      this.#threadJobs.set(job, threadJob);
      thread.run(threadJob);
      return;
    }
  }

  #start(threadJob?: AdmittedCall): void {
    try {
      const thread: StrategyThread = new StrategyThread({
        breaker: this.#options.breaker,
        memoryMb: this.#options.workerMemoryMb,
        preload: this.#options.preload,
        job: threadJob,
        onIdle: () => this.#pump(),
        onGone: (end) => this.#onGone(thread, end),
      });
      this.#threads.add(thread);
    } catch (error) {
      this.#refuse(threadJob, error instanceof Error ? error.message : String(error));
    }
  }

  #onGone(thread: StrategyThread, { whileBooting, reason, job: threadJob }: ThreadEnd): void {
    this.#threads.delete(thread);
    if (whileBooting) this.#refuse(threadJob, reason);
    else if (threadJob !== undefined && thread.isUnshared) threadJob.end({ kind: "failed", reason });
    else if (threadJob !== undefined) this.#start(threadJob);
    this.#pump();
  }

  /** One failed start uses up one job, so that a pool which cannot start threads comes to an end. */
  #refuse(threadJob: AdmittedCall | undefined, reason: string): void {
    const sentence = `could not be run, no thread started: ${reason}`;
    if (threadJob !== undefined) {
      threadJob.refuse(sentence);
      return;
    }
    const [job] = this.#queue;
    if (job === undefined) return;
    this.#queue.delete(job);
    job.refuse(sentence);
  }
}
