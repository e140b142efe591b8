import { setTimeout as wait } from "node:timers/promises";
import type { ModelError } from "../models/model-error.ts";

/** When to send a call again, and what tests replace to make it happen at once and always the same. */
export interface Patience {
  /** In [0, 1). */
  readonly random: () => number;
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const PATIENCE: Patience = {
  random: Math.random,
  now: Date.now,
  sleep: async (milliseconds, signal) => {
    await wait(milliseconds, undefined, { signal });
  },
};

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * How long to wait before the next try, or undefined when there is to be none. The wait doubles with each try; half of
 * it is random, so that many plans refused at the same moment do not come back at the same moment. When the provider
 * says how long to wait, exactly that; more than a minute is for the user to decide.
 */
export function delayBefore(next: number, error: ModelError, random: () => number): number | undefined {
  if (next > ATTEMPTS || !error.retried) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= LONGEST_DELAY_MS ? error.retryAfterMs : undefined;
  const most = Math.min(FIRST_DELAY_MS * 2 ** (next - 2), LONGEST_DELAY_MS);
  return Math.round(most / 2 + random() * (most / 2));
}
