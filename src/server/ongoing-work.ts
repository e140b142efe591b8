/** The operations that run now: how many, and how they end when the server does. */
import { setTimeout as sleep } from "node:timers/promises";
import { AgentsError } from "../domain/errors/errors.ts";

/** Operations at the same time; one more is refused and may come again. */
const MOST = 256;

export class OngoingWork {
  readonly #running = new Set<Promise<unknown>>();
  readonly #abort = new AbortController();
  readonly #most: number;
  #isStopping = false;

  constructor(most: number = MOST) {
    this.#most = most;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get running(): number {
    return this.#running.size;
  }

  requireRunning(): void {
    if (this.#isStopping) throw busyError("The server is stopping.");
  }

  /**
   * A client that goes away does not stop what it asked for: its outcome is recorded, and only the end of the server
   * stops it, where it can go on later.
   */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.requireRunning();
    if (this.#running.size >= this.#most) throw busyError(`The server carries out ${this.#most} requests already.`);
    const running = work(this.#abort.signal);
    const known = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(known);
    try {
      return await running;
    } finally {
      this.#running.delete(known);
    }
  }

  /** From here on nothing begins. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Operations may end by themselves for so long; then they are stopped where they can go on, and hand back leases. */
  async end(patienceMs: number): Promise<void> {
    this.stop();
    const patience = new AbortController();
    const done = Promise.all(this.#running);
    await Promise.race([done, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined)]);
    patience.abort();
    this.#abort.abort();
    await done;
  }
}

function busyError(message: string): AgentsError {
  return new AgentsError("server_busy", message, { kept: "Nothing was changed.", next: [{ text: "try again" }] });
}
