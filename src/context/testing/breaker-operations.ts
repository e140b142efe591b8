/**
 * The operations tests perform on one name of a breaker: as data, so that they can be generated, recorded and replayed.
 */
import type { BreakerPermit, CircuitBreaker } from "../breaker/circuit-breaker.ts";

export type BreakerOperation =
  | { readonly do: "success" | "failure" | "reset" | "state" | "failures" | "isOpen" }
  /** `as` is the place of the permit; an earlier one in that place is forgotten, not settled. */
  | { readonly do: "acquire"; readonly as: number }
  | { readonly do: "settle"; readonly permit: number; readonly verdict: OperationVerdict };

export type OperationVerdict = "success" | "failure" | "cancel";

export type OperationResult = string | number | boolean | undefined;

export class BreakerOperator {
  readonly #breaker: CircuitBreaker;
  readonly #name: string;
  readonly #permits = new Map<number, BreakerPermit | undefined>();

  constructor(breaker: CircuitBreaker, name: string) {
    this.#breaker = breaker;
    this.#name = name;
  }

  perform(operation: BreakerOperation): OperationResult {
    switch (operation.do) {
      case "success":
        this.#breaker.recordSuccess(this.#name);
        return undefined;
      case "failure":
        this.#breaker.recordFailure(this.#name);
        return undefined;
      case "reset":
        this.#breaker.reset(this.#name);
        return undefined;
      case "state":
        return this.#breaker.state(this.#name);
      case "failures":
        return this.#breaker.failures(this.#name);
      case "isOpen":
        return this.#breaker.isOpen(this.#name);
      case "acquire": {
        const permit = this.#breaker.tryAcquire(this.#name);
        this.#permits.set(operation.as, permit);
        return permit !== undefined;
      }
      case "settle":
        this.#permits.get(operation.permit)?.[operation.verdict]();
        return undefined;
    }
  }
}
