/** Brings the selected strategies to the parallel executor, unless their answer is known, and what it returns back to each of them. */
import type { Afterwards } from "../afterwards.ts";
import { KeptFinds } from "../kept-finds.ts";
import type { Backend, SelectedStrategy, StrategyInput } from "../model.ts";
import type {
  Fragment,
  ParallelStrategyExecutor,
  StrategyAllocation,
  StrategyOutcome,
} from "../parallel-strategy-executor.ts";
import type { ContextStrategy, StrategyExecutor } from "../stages.ts";

export class StrategyExecution implements StrategyExecutor {
  readonly name = "ParallelStrategyExecutor";
  readonly #executor: ParallelStrategyExecutor;
  readonly #strategies: readonly ContextStrategy[];
  readonly #circuitOf: (strategy: string) => string;
  readonly #afterwards: Afterwards | undefined;

  /** @param afterwards when what was found is kept; otherwise at once. */
  constructor(
    executor: ParallelStrategyExecutor,
    strategies: readonly ContextStrategy[],
    circuitOf: (strategy: string) => string,
    afterwards?: Afterwards,
  ) {
    this.#executor = executor;
    this.#strategies = strategies;
    this.#circuitOf = circuitOf;
    this.#afterwards = afterwards;
  }

  async execute(
    selected: readonly SelectedStrategy[],
    input: StrategyInput,
    signal: AbortSignal | undefined,
    onFound: Parameters<StrategyExecutor["execute"]>[3],
  ): ReturnType<StrategyExecutor["execute"]> {
    const asked = selected.flatMap(({ name, tokens }): readonly Asked[] => {
      const strategy = this.#strategies.find((candidate) => candidate.name === name);
      if (strategy === undefined || tokens <= 0) return [];
      const { module, exportName, needs, repeatable = false } = strategy;
      return [{ strategy: name, circuit: this.#circuitOf(name), module, exportName, tokens, needs, repeatable }];
    });
    const kept = KeptFinds.for(input);
    const repeatable = asked.filter((one) => one.repeatable && !this.#executor.isSwitchedOff(one.circuit));
    const answers = new Map<Asked, Answer>();
    for (const [at, fragments] of kept?.get(repeatable, input).entries() ?? []) {
      const one = repeatable[at];
      if (one !== undefined && fragments !== undefined) answers.set(one, asBefore(one, fragments));
    }
    // The quick ones begin: what they found is looked at while the others are at work.
    const others = asked.filter((one) => !answers.has(one)).toSorted((a, b) => effortOf(a) - effortOf(b));
    const found: typeof onFound = (strategy, fragments) => {
      onFound(strategy, fragments);
      const one = repeatable.find((candidate) => candidate.strategy === strategy);
      if (one === undefined || kept === undefined) return;
      const keep = (): void => kept.put(one, fragments, input);
      if (this.#afterwards === undefined) keep();
      else this.#afterwards.leave(kept.nameOf(one, input), keep);
    };
    for (const [at, answer] of (await this.#run(others, input, { signal, onFound: found })).entries()) {
      const one = others[at];
      if (one !== undefined) answers.set(one, answer);
    }
    const all = asked.flatMap((one) => answers.get(one) ?? []);
    return {
      found: all.map(({ outcome, fragments }) => ({ strategy: outcome.strategy, fragments })),
      outcomes: all.map(({ outcome }) => outcome),
    };
  }

  /** What each of them returned, in their order. */
  async #run(
    asked: readonly Asked[],
    input: StrategyInput,
    options: Parameters<ParallelStrategyExecutor["execute"]>[2],
  ): Promise<readonly Answer[]> {
    const { fragments, outcomes } = await this.#executor.execute(asked, input, options);
    let at = 0;
    return outcomes.map((outcome) => {
      const size = outcome.status === "ran" ? outcome.fragments : 0;
      const own = fragments.slice(at, at + size);
      at += size;
      return { outcome, fragments: own };
    });
  }
}

interface Asked extends StrategyAllocation {
  readonly circuit: string;
  readonly needs: ContextStrategy["needs"];
  readonly repeatable: boolean;
}

interface Answer {
  readonly outcome: StrategyOutcome;
  readonly fragments: readonly Fragment[];
}

/** To walk on the graph takes longer than to look something up, and to ask somebody over a network takes longest. */
const EFFORT: Readonly<Record<Backend, number>> = { decisions: 0, text: 1, graph: 2, vector: 3 };

function effortOf({ needs }: Asked): number {
  return Math.max(0, ...needs.map((backend) => EFFORT[backend]));
}

/** What was found when the same was asked before, which takes no time now. */
function asBefore({ strategy }: Asked, fragments: readonly Fragment[]): Answer {
  const tokens = fragments.reduce((sum, fragment) => sum + fragment.tokens, 0);
  return { outcome: { strategy, status: "ran", fragments: fragments.length, tokens, durationMs: 0 }, fragments };
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
