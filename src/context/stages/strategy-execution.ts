/** Brings the selected strategies to the parallel executor, and what it returns back to each of them. */
import type { SelectedStrategy, StrategyInput } from "../model.ts";
import type { ParallelStrategyExecutor, StrategyOutcome } from "../parallel-strategy-executor.ts";
import type { ContextStrategy, StrategyExecutor } from "../stages.ts";

export class StrategyExecution implements StrategyExecutor {
  readonly name = "ParallelStrategyExecutor";
  readonly #executor: ParallelStrategyExecutor;
  readonly #strategies: readonly ContextStrategy[];
  readonly #circuitOf: (strategy: string) => string;

  constructor(
    executor: ParallelStrategyExecutor,
    strategies: readonly ContextStrategy[],
    circuitOf: (strategy: string) => string,
  ) {
    this.#executor = executor;
    this.#strategies = strategies;
    this.#circuitOf = circuitOf;
  }

  async execute(
    selected: readonly SelectedStrategy[],
    input: StrategyInput,
    signal: AbortSignal | undefined,
  ): ReturnType<StrategyExecutor["execute"]> {
    const allocations = selected.flatMap(({ name, tokens }) => {
      const strategy = this.#strategies.find((candidate) => candidate.name === name);
      if (strategy === undefined || tokens <= 0) return [];
      const { module, exportName } = strategy;
      return { strategy: name, circuit: this.#circuitOf(name), module, exportName, tokens };
    });
    const { fragments, outcomes } = await this.#executor.execute(
      allocations,
      input,
      signal === undefined ? {} : { signal },
    );
    let at = 0;
    const found = outcomes.map((outcome) => {
      const size = outcome.status === "ran" ? outcome.fragments : 0;
      const own = fragments.slice(at, at + size);
      at += size;
      return { strategy: outcome.strategy, fragments: own };
    });
    return { found, outcomes };
  }
}

/** Why a strategy contributed nothing, for people; undefined when it did what it could. */
export function failureOf(outcome: StrategyOutcome): string | undefined {
  switch (outcome.status) {
    case "ran":
    case "cancelled":
      return undefined;
    case "failed":
      return `failed: ${outcome.reason}`;
    case "timed_out":
      return "did not answer in time";
    case "skipped":
      return outcome.reason === "breaker open"
        ? "is switched off for now because it kept failing"
        : "did not get its turn in time";
  }
}
