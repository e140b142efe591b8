/** Breakers for unit tests: one name, short times, a clock that moves by hand. */
import { type BreakerPermit, CircuitBreaker, type CircuitBreakerOptions } from "../breaker/circuit-breaker.ts";

export const NAME = "search";

/** A breaker on a clock the test moves. */
export function breakerAt(options: CircuitBreakerOptions = {}): { breaker: CircuitBreaker; time: { now: number } } {
  const time = { now: 1_000 };
  const breaker = new CircuitBreaker({
    cooldownMs: 100,
    maxCooldownMs: 1_000,
    probeTimeoutMs: 50,
    clock: () => time.now,
    ...options,
  });
  return { breaker, time };
}

/** Opened, and its cooldown just over. */
export function readyForProbe(options: CircuitBreakerOptions = {}): { breaker: CircuitBreaker; time: { now: number } } {
  const made = breakerAt(options);
  for (let i = 0; i < 3; i++) made.breaker.recordFailure(NAME);
  made.time.now += 100;
  return made;
}

export function acquired(permit: BreakerPermit | undefined): BreakerPermit {
  if (permit === undefined) throw new Error("The breaker rejected a call the test relies on.");
  return permit;
}
