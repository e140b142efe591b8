/**
 * An executor with its breaker, calls of the strategies in strategies.ts, and memory in which these report their state.
 */
import { CircuitBreaker, type CircuitBreakerOptions } from "../breaker/circuit-breaker.ts";
import {
  ParallelStrategyExecutor,
  type ParallelStrategyExecutorOptions,
  type StrategyAllocation,
} from "../executor/parallel-strategy-executor.ts";

export const STRATEGIES = new URL("./strategies.ts", import.meta.url);
/** Longer than any test takes: a test that waits for it fails. */
export const NEVER_MS = 120_000;

export function setUp(
  options: Partial<ParallelStrategyExecutorOptions> = {},
  breakerOptions: CircuitBreakerOptions = {},
): { breaker: CircuitBreaker; executor: ParallelStrategyExecutor } {
  const breaker = options.breaker ?? new CircuitBreaker(breakerOptions);
  const executor = new ParallelStrategyExecutor({
    strategyTimeoutMs: NEVER_MS,
    totalTimeoutMs: NEVER_MS,
    ...options,
    breaker,
  });
  return { breaker, executor };
}

export function allocation(exportName: string, tokens = 1, strategy = exportName): StrategyAllocation {
  return { strategy, module: STRATEGIES.href, exportName, tokens };
}

/** Cells shared with strategies; see `TestRequest`. */
export class Cells {
  readonly cells = new SharedArrayBuffer(24);
  readonly #view = new Int32Array(this.cells);

  get mostBusy(): number {
    return Atomics.load(this.#view, 1);
  }

  get heartbeat(): number {
    return Atomics.load(this.#view, 2);
  }

  get aborts(): number {
    return Atomics.load(this.#view, 3);
  }

  async untilStarted(count = 1): Promise<void> {
    while (Atomics.load(this.#view, 4) < count) await pause(5);
  }

  /** Waits until no thread counts its heartbeat any more. */
  async untilSilent(): Promise<void> {
    for (let before = -1; before !== this.heartbeat; await pause(50)) before = this.heartbeat;
  }

  go(): void {
    Atomics.store(this.#view, 5, 1);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
