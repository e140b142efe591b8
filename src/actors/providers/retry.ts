import { setTimeout as wait } from "node:timers/promises";
import type { AskWait } from "../../domain/run-event.ts";
import type { ModelError } from "../models/model-error.ts";

/** When to send a call again, and what tests replace to make it happen at once and always the same. */
export interface RetryPatience {
  /** In [0, 1). */
  readonly random: () => number;
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const PATIENCE: RetryPatience = {
  random: Math.random,
  now: Date.now,
  sleep: async (milliseconds, signal) => {
    await wait(milliseconds, undefined, { signal });
  },
};

/** Tries of one call: with these delays they spread over five minutes, which outlasts a limit of calls per minute. */
export const TRIES = 10;

/**
 * Where waiting seldom helps, where each try may be billed in full, or where another model stands ready: a connection
 * that is refused or breaks off, a transcript, a configured fallback.
 */
const FEW_TRIES = 3;

const FIRST_DELAY_MS = 2_000;
const FIRST_DELAY_NETWORK_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;
/** All delays of our own together; how long a provider asks to wait does not count. */
const PATIENCE_MS = 600_000;
const LONGEST_RETRY_AFTER_MS = 900_000;

export interface Trying {
  /** The try that would be next, from 2 on. */
  readonly next: number;
  readonly tries: number;
  /** Another model may be asked instead, or there is nothing to wait for. */
  readonly impatient: boolean;
  /** Milliseconds of our own delays so far. */
  readonly waited: number;
}

/**
 * How long to wait before the next try, or undefined when there is to be none. The wait doubles with each try; half of
 * it is drawn by lot, so that many plans refused at the same moment do not come back at the same moment. When the
 * provider says how long to wait, exactly that; more than a quarter of an hour is for the user to decide.
 */
export function delayBefore(trying: Trying, error: ModelError, random: () => number): AskWait | undefined {
  const { next, tries, impatient, waited } = trying;
  const broken = error.kind === "network";
  const most = impatient || broken ? Math.min(FEW_TRIES, tries) : tries;
  if (next > most || !error.retried) return undefined;
  const why = WHY[error.kind] ?? "failed";
  const { retryAfterMs } = error;
  if (retryAfterMs !== undefined)
    return retryAfterMs > LONGEST_RETRY_AFTER_MS ? undefined : { why, delayMs: retryAfterMs, next, most };
  const first = broken ? FIRST_DELAY_NETWORK_MS : FIRST_DELAY_MS;
  const longest = Math.min(first * 2 ** (next - 2), LONGEST_DELAY_MS);
  const delayMs = Math.round(longest / 2 + random() * (longest / 2));
  return waited + delayMs > PATIENCE_MS ? undefined : { why, delayMs, next, most };
}

const WHY: Readonly<Partial<Record<ModelError["kind"], AskWait["why"]>>> = {
  rate_limit: "rate limited",
  overloaded: "overloaded",
  network: "unreachable",
};
