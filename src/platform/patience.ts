/**
 * One loop for everything that fails only because another process is at work: a locked database, a file lock that is
 * taken. The waiting is asynchronous, so the thread does other work meanwhile.
 */
import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  /** The moment (of `performance.now()`) after which a failure is final. */
  readonly until: number;
  /** How many milliseconds to wait before round `round + 1`; the first round is 0. */
  readonly pause: (round: number) => number;
  /** Whether trying again can help. */
  readonly isTransient: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Calls `attempt` until it returns; a failure that is not transient, or that comes after `until`, is thrown. */
export async function withPatience<T>(attempt: () => T, patience: Patience): Promise<T> {
  const { until, pause, isTransient, signal } = patience;
  for (let round = 0; ; round += 1) {
    signal?.throwIfAborted();
    try {
      return attempt();
    } catch (error) {
      if (!isTransient(error) || performance.now() >= until) throw error;
    }
    await sleep(pause(round));
  }
}
