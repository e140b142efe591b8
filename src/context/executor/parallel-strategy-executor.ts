/**
 * Runs the strategies of a context request side by side in worker threads and collects the results that arrive in time.
 * The failure of a strategy (hang, spin, throw, end of its thread) is its own outcome and never the others': deadlines
 * are kept by the calling thread, which no strategy can block. Fragments are merged in the order of the allocations,
 * not of arrival, so the same answers give the same context.
 */
import { availableParallelism } from "node:os";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentsError, ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import type { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { type DeadlineTimers, REAL_TIMERS } from "./deadline-timers.ts";
import type { Fragment } from "./strategy-protocol.ts";
import { type StrategyOutcome, StrategyTask } from "./strategy-task.ts";
import { StrategyWorkerPool } from "./strategy-worker-pool.ts";

export type { DeadlineTimers } from "./deadline-timers.ts";
export type { Fragment, Strategy, StrategyContext } from "./strategy-protocol.ts";
export type { StrategyOutcome } from "./strategy-task.ts";

/** The breaker, the deadlines and the threads of an executor. */
export interface ParallelStrategyExecutorOptions {
  /**
   * Asked before each strategy and informed of its outcome. Worker threads use it with the default clock, even if it
   * has another.
   */
  readonly breaker: CircuitBreaker;
  readonly maxWorkers?: number;
  /** How long one strategy may take from its start. */
  readonly strategyTimeoutMs: number;
  /** How long one `execute` may take, waiting for a thread included. */
  readonly totalTimeoutMs: number;
  /** Heap of one thread; a strategy that needs more loses its thread. */
  readonly workerMemoryMb?: number;
  /**
   * How long strategies wait for an existing thread before another one is started, up to `maxWorkers`; 0 when it is
   * left out.
   */
  readonly threadPatienceMs?: number | (() => number);
  /** URLs of modules that each thread loads as it starts. */
  readonly preload?: readonly string[];
  /** The time by which the two deadlines are kept; the real one when it is left out. */
  readonly timers?: DeadlineTimers;
}

/** One strategy to run, with its module and its budget. */
export interface StrategyAllocation {
  readonly strategy: string;
  /** The name under which the breaker knows it; left out: the strategy's. */
  readonly circuit?: string;
  /** The ES module it is in: a file URL or an absolute path. */
  readonly module: string;
  readonly exportName?: string;
  /** Its budget. */
  readonly tokens: number;
}

/** Everything the strategies found, and what became of each. */
export interface StrategyResults {
  readonly fragments: readonly Fragment[];
  /** One for each allocation, in their order. */
  readonly outcomes: readonly StrategyOutcome[];
}

/**
 * @example
 * ```js
 * import { CircuitBreaker, ParallelStrategyExecutor } from "cleveragents/primitives";
 *
 * await using executor = new ParallelStrategyExecutor({
 *   breaker: new CircuitBreaker(),
 *   strategyTimeoutMs: 2_000,
 *   totalTimeoutMs: 5_000,
 * });
 * const { fragments, outcomes } = await executor.execute(
 *   [{ strategy: "keyword", module: new URL("./keyword-strategy.js", import.meta.url).href, tokens: 4_000 }],
 *   { query: "where are leases renewed?" },
 * );
 * for (const outcome of outcomes) console.log(outcome.strategy, outcome.status);
 * console.log(fragments.map((fragment) => fragment.content).join("\n"));
 * ```
 */
export class ParallelStrategyExecutor implements AsyncDisposable {
  readonly #breaker: CircuitBreaker;
  readonly #strategyTimeoutMs: number;
  readonly #totalTimeoutMs: number;
  readonly #timers: DeadlineTimers;
  readonly #pool: StrategyWorkerPool;
  readonly #unsettled = new Set<StrategyTask>();
  #hasExecuted = false;
  #closing: Promise<void> | undefined;

  constructor(options: ParallelStrategyExecutorOptions) {
    const { breaker, maxWorkers = 4, strategyTimeoutMs, totalTimeoutMs, workerMemoryMb = 512 } = options;
    const { preload = [], threadPatienceMs = 0, timers = REAL_TIMERS } = options;
    const patienceMs = typeof threadPatienceMs === "function" ? threadPatienceMs : () => threadPatienceMs;
    requireIntegers({ maxWorkers, strategyTimeoutMs, totalTimeoutMs, workerMemoryMb }, 1);
    requireIntegers({ threadPatienceMs: patienceMs() }, 0);
    this.#breaker = breaker;
    this.#strategyTimeoutMs = strategyTimeoutMs;
    this.#totalTimeoutMs = totalTimeoutMs;
    this.#timers = timers;
    this.#pool = new StrategyWorkerPool({ breaker: breaker.shared, maxWorkers, workerMemoryMb, preload, patienceMs });
  }

  /**
   * Never rejects because of a strategy: a failure is in its outcome.
   *
   * @param request passed to each strategy as a copy, taken now.
   * @param options.signal stops everything; unfinished strategies become `cancelled`, which does not count against
   *   them.
   * @param options.onFound called with the fragments of a strategy when it has ended, while others may still run. Must
   *   not throw.
   * @throws ValidationError if an allocation is malformed or the request cannot be copied to another thread.
   */
  async execute(
    allocations: readonly StrategyAllocation[],
    request: unknown,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly onFound?: (strategy: string, fragments: readonly Fragment[]) => void;
    } = {},
  ): Promise<StrategyResults> {
    if (this.#closing !== undefined) throw new AgentsError("internal", "The strategy executor is closed.");
    requireValid(allocations);
    if (allocations.length === 0) return { fragments: [], outcomes: [] };

    // A process that asks again stays, and asks more often: from now on a thread for each processor is worth its start.
    if (this.#hasExecuted) this.#pool.warmUp(Math.min(allocations.length, availableParallelism()));
    this.#hasExecuted = true;
    const copy = copyOf(request);
    const tasks = allocations.map((allocation) => this.#task(allocation, copy));
    const cancel = (): void => tasks.forEach((task) => task.cancel());
    const stopDeadline = this.#timers.start(this.#totalTimeoutMs, () => tasks.forEach((task) => task.expire()));
    options.signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (options.signal?.aborted === true) cancel();
      else for (const task of tasks) this.#submit(task);
      const ended = tasks.map(async (task) => {
        const outcome = await task.settled;
        if (outcome.status === "ran") options.onFound?.(outcome.strategy, task.fragments);
        return outcome;
      });
      const outcomes = await Promise.all(ended);
      return { fragments: tasks.flatMap((task) => task.fragments), outcomes };
    } finally {
      stopDeadline();
      options.signal?.removeEventListener("abort", cancel);
      for (const task of tasks) this.#unsettled.delete(task);
    }
  }

  /** Whether a strategy would be skipped now, by the name under which the breaker knows it. */
  isSwitchedOff(circuit: string): boolean {
    return this.#breaker.isOpen(circuit);
  }

  /**
   * Starts threads that will be needed soon. Does not report threads that cannot be started: the call that needs them
   * will.
   */
  warmUp(threads: number): void {
    this.#pool.warmUp(threads);
  }

  /** Ends the worker threads. Running strategies are canceled. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      // Set before anything is canceled: a listener for that must find the executor closed.
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#closing = promise;
      for (const task of this.#unsettled) task.cancel();
      resolve(this.#pool.close());
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #task(allocation: StrategyAllocation, request: unknown): StrategyTask {
    const { strategy, circuit = strategy, module, exportName = "default", tokens } = allocation;
    return new StrategyTask({
      strategy,
      circuit,
      call: { module: isAbsolute(module) ? pathToFileURL(module).href : module, exportName, tokens, request },
      breaker: this.#breaker,
      timeoutMs: this.#strategyTimeoutMs,
      timers: this.#timers,
      withdraw: (task) => this.#pool.withdraw(task),
    });
  }

  #submit(task: StrategyTask): void {
    // Submitting the one before may have run a listener that closed the executor.
    if (this.#closing !== undefined) {
      task.cancel();
      return;
    }
    this.#unsettled.add(task);
    this.#pool.submit(task);
  }
}

function requireIntegers(options: Readonly<Record<string, number>>, least: 0 | 1): void {
  const issues: ValidationIssue[] = Object.entries(options)
    .filter(([, value]) => !Number.isInteger(value) || value < least || value > 2 ** 31 - 1)
    .map(([path, value]) => ({
      path,
      message: `must be ${least === 0 ? "0 or " : ""}a positive integer, not ${String(value)}`,
    }));
  if (issues.length > 0) throw new ValidationError("The strategy executor's options are not valid.", issues);
}

function requireValid(allocations: readonly StrategyAllocation[]): void {
  const issues: ValidationIssue[] = [];
  for (const [index, { strategy, module, tokens }] of allocations.entries()) {
    if (strategy === "") issues.push({ path: `allocations.${index}.strategy`, message: "must not be empty" });
    if (!isAbsolute(module) && !module.startsWith("file:")) {
      issues.push({
        path: `allocations.${index}.module`,
        message: `must be a file URL or an absolute path, not "${module}"`,
      });
    }
    if (!Number.isSafeInteger(tokens) || tokens < 0) {
      issues.push({
        path: `allocations.${index}.tokens`,
        message: `must be a whole number of tokens, not ${String(tokens)}`,
      });
    }
  }
  if (issues.length > 0) throw new ValidationError("The strategy allocations are not valid.", issues);
}

function copyOf(request: unknown): unknown {
  try {
    return structuredClone(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ValidationError("The request cannot be handed to another thread.", [{ path: "request", message }], {
      cause: error,
    });
  }
}
