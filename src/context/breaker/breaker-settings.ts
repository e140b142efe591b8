/**
 * The settings of a circuit breaker. They travel to worker threads together with the shared memory, so every thread
 * computes the same cooldowns; only the clock is a function and stays behind.
 */
import { ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { MAX_COUNT } from "./breaker-word.ts";

/** When a breaker opens, for how long, and for how many names. */
export interface BreakerSettings {
  /** Consecutive failures that open a closed breaker. */
  readonly failureThreshold: number;
  /** How long it stays open the first time; doubles with each failed probe. */
  readonly cooldownMs: number;
  /** Where the doubling ends. */
  readonly maxCooldownMs: number;
  /** How long a probe may take before the next caller may probe in its place. */
  readonly probeTimeoutMs: number;
  /** How many names fit. */
  readonly capacity: number;
}

/** Milliseconds that never run backwards and mean the same in every thread of the process. */
export type BreakerClock = () => number;

const DEFAULTS: BreakerSettings = {
  failureThreshold: 3,
  cooldownMs: 30_000,
  maxCooldownMs: 300_000,
  probeTimeoutMs: 30_000,
  capacity: 256,
};

// Durations stay within what a timer can hold; the count has 24 bits; 65,536 names are 32 MB.
const LIMITS: Readonly<Record<keyof BreakerSettings, number>> = {
  failureThreshold: MAX_COUNT,
  cooldownMs: 2 ** 31 - 1,
  maxCooldownMs: 2 ** 31 - 1,
  probeTimeoutMs: 2 ** 31 - 1,
  capacity: 65_536,
};

const KEYS = ["failureThreshold", "cooldownMs", "maxCooldownMs", "probeTimeoutMs", "capacity"] as const;

export function breakerSettings(options: Partial<BreakerSettings>): BreakerSettings {
  const cooldownMs = options.cooldownMs ?? DEFAULTS.cooldownMs;
  const settings: BreakerSettings = {
    failureThreshold: options.failureThreshold ?? DEFAULTS.failureThreshold,
    cooldownMs,
    maxCooldownMs: options.maxCooldownMs ?? Math.max(DEFAULTS.maxCooldownMs, cooldownMs),
    probeTimeoutMs: options.probeTimeoutMs ?? DEFAULTS.probeTimeoutMs,
    capacity: options.capacity ?? DEFAULTS.capacity,
  };
  const issues: ValidationIssue[] = [];
  for (const key of KEYS) {
    const value = settings[key];
    if (Number.isInteger(value) && value >= 1 && value <= LIMITS[key]) continue;
    issues.push({ path: key, message: `must be an integer from 1 to ${LIMITS[key]}, not ${String(value)}` });
  }
  if (issues.length === 0 && settings.maxCooldownMs < settings.cooldownMs) {
    issues.push({ path: "maxCooldownMs", message: `must not be below cooldownMs (${settings.cooldownMs})` });
  }
  if (issues.length > 0) throw new ValidationError("The circuit breaker's options are not valid.", issues);
  return settings;
}

/**
 * `process.hrtime` reads the system's monotonic clock, so it counts from the same instant in every thread.
 * `performance.now` happens to do so in Node 24, but its standard lets each thread start at zero; `Date.now` jumps when
 * a user or a service sets the clock.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
