/**
 * One strategy of one `execute` call, from the queue to its outcome. It settles exactly once; later results are
 * dropped. Each way to settle determines the breaker's verdict: a result is a success; an error, a timeout and a dead
 * thread are failures; a caller that gives up is neither.
 */
import { isIndexMoved } from "../../code-index/model/index-errors.ts";
import type { BreakerPermit, CircuitBreaker } from "../breaker/circuit-breaker.ts";
import type { DeadlineTimers } from "./deadline-timers.ts";
import type { Fragment, StrategyCall, StrategyReply } from "./strategy-protocol.ts";
import type { PoolJob } from "./strategy-worker-pool.ts";

/** The end of one strategy: it ran, or why it did not. */
export type StrategyOutcome = { readonly strategy: string } & (
  | { readonly status: "ran"; readonly fragments: number; readonly tokens: number; readonly durationMs: number }
  | { readonly status: "failed"; readonly reason: string; readonly durationMs: number }
  | { readonly status: "timed_out"; readonly durationMs: number }
  /** Never started: its breaker is open, or the overall deadline passed first. */
  | { readonly status: "skipped"; readonly reason: "breaker open" | "deadline" }
  | { readonly status: "cancelled" }
);

type Ending = StrategyOutcome extends infer Outcome
  ? Outcome extends unknown
    ? Omit<Outcome, "strategy">
    : never
  : never;

export interface TaskOptions {
  readonly strategy: string;
  /** The breaker's name for it. */
  readonly circuit: string;
  readonly call: StrategyCall;
  readonly breaker: CircuitBreaker;
  readonly timeoutMs: number;
  readonly timers: DeadlineTimers;
  /** Stops everything that still runs for this task. */
  readonly withdraw: (task: StrategyTask) => void;
}

export class StrategyTask implements PoolJob {
  readonly settled: Promise<StrategyOutcome>;
  #fragments: readonly Fragment[] = [];
  readonly #options: TaskOptions;
  readonly #resolve: (outcome: StrategyOutcome) => void;
  #isSettled = false;
  #permit: BreakerPermit | undefined;
  #startedAt: number | undefined;
  #stopDeadline: () => void = () => {};

  constructor(options: TaskOptions) {
    const { promise, resolve } = Promise.withResolvers<StrategyOutcome>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#options = options;
  }

  /** Empty unless the strategy ran. */
  get fragments(): readonly Fragment[] {
    return this.#fragments;
  }

  begin(): StrategyCall | undefined {
    if (this.#isSettled) return undefined;
    try {
      this.#permit = this.#options.breaker.tryAcquire(this.#options.circuit);
    } catch (error) {
      // A name that the breaker does not accept. The strategy was not run, and there is no name to count it under.
      this.refuse(error instanceof Error ? error.message : String(error));
      return undefined;
    }
    if (this.#permit === undefined) {
      this.#settle({ status: "skipped", reason: "breaker open" });
      return undefined;
    }
    // A listener of the breaker may have canceled this task just now.
    if (this.#isSettled) {
      this.#permit.cancel();
      return undefined;
    }
    const { timers, timeoutMs, call } = this.#options;
    this.#startedAt = timers.now();
    this.#stopDeadline = timers.start(timeoutMs, () => this.#timeOut());
    return call;
  }

  end(reply: StrategyReply): void {
    if (this.#isSettled) return;
    const durationMs = this.#durationMs();
    if (reply.kind === "failed") {
      this.#settle({ status: "failed", reason: reply.reason, durationMs });
      // Files that change meanwhile are not the strategy's failure.
      if (isIndexMoved(reply.reason)) this.#permit?.cancel();
      else this.#permit?.failure();
      return;
    }
    this.#fragments = reply.fragments;
    const tokens = reply.fragments.reduce((sum, fragment) => sum + fragment.tokens, 0);
    this.#settle({ status: "ran", fragments: reply.fragments.length, tokens, durationMs });
    this.#permit?.success();
  }

  /** Could not be run, for reasons outside the strategy. */
  refuse(reason: string): void {
    this.#settle({ status: "failed", reason, durationMs: this.#durationMs() });
    this.#permit?.cancel();
  }

  /** The overall deadline has passed. */
  expire(): void {
    if (this.#startedAt === undefined) this.#settle({ status: "skipped", reason: "deadline" });
    else this.#timeOut();
    this.#options.withdraw(this);
  }

  /** The caller gave up. */
  cancel(): void {
    this.#settle({ status: "cancelled" });
    this.#permit?.cancel();
    this.#options.withdraw(this);
  }

  #timeOut(): void {
    this.#settle({ status: "timed_out", durationMs: this.#durationMs() });
    this.#permit?.failure();
    this.#options.withdraw(this);
  }

  #settle(ending: Ending): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopDeadline();
    this.#resolve({ strategy: this.#options.strategy, ...ending });
  }

  #durationMs(): number {
    return this.#startedAt === undefined ? 0 : Math.round(this.#options.timers.now() - this.#startedAt);
  }
}
