/** The real breaker in the shape in which breaker-worker.ts loads an implementation. */
import { CircuitBreaker, type SharedBreaker } from "../breaker/circuit-breaker.ts";
import type { Clock } from "../breaker/breaker-settings.ts";

export function attach(shared: SharedBreaker, options: { readonly clock?: Clock }): CircuitBreaker {
  return CircuitBreaker.attach(shared, options);
}
