/** Passes the selected strategies to the parallel executor, and its results back to each of them. */
import type { Backend } from "../../domain/context/context-question.ts";
import type { SelectedStrategy, StrategyInput } from "../model/context-model.ts";
import type {
  Fragment,
  ParallelStrategyExecutor,
  StrategyAllocation,
  StrategyOutcome,
} from "../executor/parallel-strategy-executor.ts";
import type { ContextStrategy, StrategyExecutor } from "../model/stage-interfaces.ts";

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
    onFound: Parameters<StrategyExecutor["execute"]>[3],
  ): ReturnType<StrategyExecutor["execute"]> {
    const asked = selected.flatMap(({ name, tokens }): readonly AskedStrategy[] => {
      const strategy = this.#strategies.find((candidate) => candidate.name === name);
      if (strategy === undefined || tokens <= 0) return [];
      const { module, exportName, needs } = strategy;
      return [{ strategy: name, circuit: this.#circuitOf(name), module, exportName, tokens, needs }];
    });
    // The quick ones start first: their fragments are vetted while the others run.
    const inOrder = asked.toSorted((a, b) => effortOf(a) - effortOf(b));
    const { fragments, outcomes } = await this.#executor.execute(inOrder, input, { signal, onFound });
    const answers = new Map<string, StrategyAnswer>();
    let at = 0;
    for (const outcome of outcomes) {
      const size = outcome.status === "ran" ? outcome.fragments : 0;
      answers.set(outcome.strategy, { outcome, fragments: fragments.slice(at, at + size) });
      at += size;
    }
    const all = asked.flatMap(({ strategy }) => answers.get(strategy) ?? []);
    return {
      found: all.map(({ outcome, fragments: found }) => ({ strategy: outcome.strategy, fragments: found })),
      outcomes: all.map(({ outcome }) => outcome),
    };
  }
}

interface AskedStrategy extends StrategyAllocation {
  readonly circuit: string;
  readonly needs: ContextStrategy["needs"];
}

interface StrategyAnswer {
  readonly outcome: StrategyOutcome;
  readonly fragments: readonly Fragment[];
}

/** Walking the graph takes longer than a lookup, and a call over a network takes longest. */
const EFFORT: Readonly<Record<Backend, number>> = { decisions: 0, text: 1, graph: 2, vector: 3 };

function effortOf({ needs }: AskedStrategy): number {
  return Math.max(0, ...needs.map((backend) => EFFORT[backend]));
}

/** Why a strategy contributed nothing, for people; undefined when it did not fail. */
export function failureOf(outcome: StrategyOutcome): string | undefined {
  switch (outcome.status) {
    case "ran":
    case "cancelled":
      return undefined;
    case "failed":
      return `failed: ${outcome.reason}`;
    case "timed_out":
      return `timed out after ${Math.round(outcome.durationMs / 1000)} s`;
    case "skipped":
      return outcome.reason === "breaker open"
        ? "is switched off for now because it kept failing"
        : "timed out before its turn came";
  }
}

/** Ended by a deadline: on a less busy machine it would have contributed. */
export function isTimedOut(outcome: StrategyOutcome): boolean {
  return outcome.status === "timed_out" || (outcome.status === "skipped" && outcome.reason === "deadline");
}
