/**
 * Plan workers: a loop that claims queued plans and carries them out, several at a time, until it is stopped. It keeps
 * nothing that the next process would need: a killed worker's plans are given back to the queue by the sweep of any
 * other one, and continue after their last recorded step.
 *
 * The loop looks at the queue ten times a second, by one read. Commits of other processes change a counter that is
 * cheaper still, but a job also comes due by the clock, and an owner dies without a commit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Background } from "../app/background.ts";
import type { OpenOptions } from "../app/open.ts";
import { tellNothing, type Tell } from "../domain/run-event.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import { storeQueue, type ClaimedJob, type JobEnd, type JobQueue } from "../ledger/jobs.ts";
import { beatWorker, removeWorker } from "../ledger/plan-workers.ts";
import type { Store } from "../store/port.ts";

/** How a process works on the queue. */
export interface WorkerOptions {
  /** Where the application lives. */
  readonly open: OpenOptions;
  /** So many plans at once in this process. */
  readonly workers: number;
  /** So many plans of one project at once, over all processes; as many as there are workers unless given. */
  readonly perProject?: number | undefined;
  /** Stops the loop: running plans stop where they can continue, and go back into the queue. */
  readonly signal: AbortSignal;
  /** Stop by itself when nothing is queued or worked on any more. */
  readonly untilEmpty?: boolean;
  readonly tell?: Tell;
}

const LOOK_MS = 100;
const SWEEP_MS = 500;
const BEAT_MS = 3_000;
/** After a failure of the store itself. */
const TROUBLE_MS = 1_000;

/** Resolves when the loop has stopped and its plans are back in the queue; how many plans came to an end in it. */
export async function workOnPlans(options: WorkerOptions): Promise<number> {
  await using background = new Background(options.open);
  const store = await background.store();
  await using loop = new WorkerLoop(background, store, options);
  await loop.run();
  return loop.ended;
}

interface Running {
  readonly job: ClaimedJob;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

class WorkerLoop {
  readonly #id = monotonicIds()();
  readonly #background: Background;
  readonly #store: Store;
  readonly #queue: JobQueue;
  readonly #options: WorkerOptions;
  readonly #tell: Tell;
  readonly #running = new Map<string, Running>();
  #sweptAt = -Infinity;
  #beatAt = -Infinity;
  #trouble = "";
  #woken = new AbortController();
  /** Plans that came to an end. */
  ended = 0;

  constructor(background: Background, store: Store, options: WorkerOptions) {
    this.#background = background;
    this.#store = store;
    this.#queue = storeQueue(store);
    this.#options = options;
    this.#tell = options.tell ?? tellNothing;
  }

  async run(): Promise<void> {
    const { signal, untilEmpty = false } = this.#options;
    while (!signal.aborted) {
      const pause = await this.#look().catch((error: unknown) => this.#troubled(error));
      if (untilEmpty && pause === LOOK_MS && this.#running.size === 0 && !(await this.#queue.isPending())) return;
      this.#woken = new AbortController();
      await sleep(pause, undefined, { signal: AbortSignal.any([signal, this.#woken.signal]) }).catch(() => undefined);
    }
  }

  /** One round; how long to pause after it. */
  async #look(): Promise<number> {
    const now = performance.now();
    if (now - this.#beatAt >= BEAT_MS) {
      const { workers: slots } = this.#options;
      await this.#store.transaction((tx) => beatWorker(tx, { id: this.#id, slots }));
      await this.#queue.renew(this.#claims);
      this.#beatAt = now;
    }
    if (now - this.#sweptAt >= SWEEP_MS) {
      await this.#queue.sweep();
      this.#sweptAt = now;
    }
    const held = await this.#queue.held(this.#claims);
    for (const { job, controller } of this.#running.values()) if (!held.has(job.claim)) controller.abort();
    await this.#claimAll();
    this.#trouble = "";
    return LOOK_MS;
  }

  get #claims(): string[] {
    return [...this.#running.values()].map(({ job }) => job.claim);
  }

  async #claimAll(): Promise<void> {
    const { workers, perProject = workers, signal } = this.#options;
    while (this.#running.size < workers && !signal.aborted && (await this.#queue.isDue())) {
      const job = await this.#queue.claim({ perProject });
      // Another worker was faster, or the projects of all that wait are at their limit.
      if (job === undefined) return;
      this.#begin(job);
    }
  }

  #begin(job: ClaimedJob): void {
    const controller = new AbortController();
    const done = this.#carry(job, controller.signal).finally(() => {
      this.#running.delete(job.claim);
      this.#woken.abort();
    });
    this.#running.set(job.claim, { job, controller, done });
  }

  /** Never rejects: what cannot be settled is found by a sweep. */
  async #carry(job: ClaimedJob, signal: AbortSignal): Promise<void> {
    this.#say(`plan ${job.planId}: begun${job.attempts > 1 ? ` (try ${job.attempts})` : ""}`);
    try {
      const found = await this.#background.carry(job, { signal, tell: tellNothing, user: job.askedBy });
      // A plan that this process stopped did not fail.
      const stopped = signal.aborted && (found.state === "again" || found.state === "failed");
      const end: JobEnd = stopped ? { state: "back" } : found;
      if (!(await this.#queue.settle(job, end))) return;
      if (end.state !== "back" && end.state !== "again") this.ended += 1;
      this.#say(`plan ${job.planId}: ${endText(end)}`);
    } catch (error) {
      this.#troubled(error);
    }
  }

  #troubled(error: unknown): number {
    const text = error instanceof Error ? error.message : String(error);
    if (text !== this.#trouble) this.#tell({ type: "notice", level: "warning", text });
    this.#trouble = text;
    return TROUBLE_MS;
  }

  #say(text: string): void {
    this.#tell({ type: "notice", level: "info", text });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { controller } of this.#running.values()) controller.abort();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#store.transaction((tx) => removeWorker(tx, this.#id));
  }
}

function endText(end: JobEnd): string {
  switch (end.state) {
    case "waiting":
      return "waits for a person";
    case "done":
      return "done";
    case "failed":
      return `stopped: ${end.error}`;
    case "again":
      return `tried again later: ${end.error}`;
    case "back":
      return "back in the queue";
  }
}
