/**
 * The low half of a breaker's 64-bit word, as a plain 32-bit number: 2 bits of phase, 6 bits of cooldown step, 24 bits
 * of failure count. (The high half is the generation.) Everything here is arithmetic on that number, without memory and
 * without time, so the rules of the breaker can be read in one place.
 *
 * A phase is finer than the state a caller sees: half-open is either "a probe is running" or "a probe was given back,
 * the next may start". A closed breaker without failures is the number 0, so the common case is one comparison.
 */

export type BreakerState = "closed" | "open" | "half-open";

export const CLOSED = 0;
/** The cooldown is running; after it the next caller becomes the probe. */
export const OPEN = 1;
/** One probe is running and has a deadline. */
export const PROBING = 2;
/** The probe was canceled without a verdict: the next caller becomes the probe at once. */
export const READY = 3;

const STEP_SHIFT = 2;
const COUNT_SHIFT = 8;
const MAX_STEP = 63;
export const MAX_COUNT = 2 ** 24 - 1;

/** One of the four phases; a number because it is two bits of the word. */
export function phaseOf(low: number): number {
  return low & 3;
}

export function failuresOf(low: number): number {
  return low >>> COUNT_SHIFT;
}

export function stateOf(low: number): BreakerState {
  switch (phaseOf(low)) {
    case CLOSED:
      return "closed";
    case OPEN:
      return "open";
    default:
      return "half-open";
  }
}

export interface PhaseDurations {
  readonly cooldownMs: number;
  readonly maxCooldownMs: number;
  readonly probeTimeoutMs: number;
}

/** How long the phase lasts from the moment it was entered; 0 for phases that time does not end. */
export function durationOf(low: number, settings: PhaseDurations): number {
  switch (phaseOf(low)) {
    case OPEN:
      return Math.min(settings.cooldownMs * 2 ** stepOf(low), settings.maxCooldownMs);
    case PROBING:
      return settings.probeTimeoutMs;
    default:
      return 0;
  }
}

/** A success closes and zeroes from any phase. */
export function afterSuccess(): number {
  return 0;
}

/**
 * A failure always counts. It opens a closed breaker at the threshold and re-opens one whose probe is running with the
 * next longer cooldown; otherwise the phase stays, so that failures while open do not extend the cooldown.
 */
export function afterFailure(low: number, failureThreshold: number): number {
  const count = Math.min(failuresOf(low) + 1, MAX_COUNT);
  const step = stepOf(low);
  switch (phaseOf(low)) {
    case CLOSED:
      return pack(count >= failureThreshold ? OPEN : CLOSED, step, count);
    case PROBING:
      return pack(OPEN, Math.min(step + 1, MAX_STEP), count);
    default:
      return pack(phaseOf(low), step, count);
  }
}

/** The probe's place is free again; without a running probe nothing changes. */
export function afterCancel(low: number): number {
  return phaseOf(low) === PROBING ? withPhase(low, READY) : low;
}

export function withPhase(low: number, phase: number): number {
  return pack(phase, stepOf(low), failuresOf(low));
}

export function stepOf(low: number): number {
  return (low >>> STEP_SHIFT) & MAX_STEP;
}

/** Signed like an element of an Int32Array, so that what was packed equals what is read back. */
export function pack(phase: number, step: number, count: number): number {
  return (count << COUNT_SHIFT) | (step << STEP_SHIFT) | phase;
}
