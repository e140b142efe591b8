/** The real breaker in the shape in which breaker-worker.ts loads an implementation. */
import { CircuitBreaker, type SharedBreaker } from "../breaker/circuit-breaker.ts";
import type { BreakerClock } from "../breaker/breaker-settings.ts";

export function attach(shared: SharedBreaker, options: { readonly clock?: BreakerClock }): CircuitBreaker {
  return CircuitBreaker.attach(shared, options);
}
