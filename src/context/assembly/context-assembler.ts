/**
 * Puts a context together: the nine stages one after another, over one generation of the indexes, within the budget to
 * the token. The result depends on the trees, the question, the view, the plan and the budget, and on nothing else: not
 * on which strategy finished first, not on the process, not on the time.
 */
import { IndexMovedError, isIndexMoved } from "../../code-index/model/index-errors.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import { ConflictError, NotFoundError, UsageError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { assembleOnce } from "./assemble-once.ts";
import type { AssemblyInput } from "./assembly-input.ts";
import { circuitName } from "../breaker/circuit-name.ts";
import { deepFreeze } from "../../platform/deep-freeze.ts";
import type { ContextKey, ContextCache } from "../cache/context-cache.ts";
import type { Backend } from "../../domain/context/context-question.ts";
import type { AssembledContext, Gap } from "../model/context-model.ts";
import type { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import type { SharedBreakers } from "../breaker/shared-breakers.ts";
import { defaultStages } from "../stages/default-stages.ts";
import type { ContextStrategy, Stages } from "../model/stage-interfaces.ts";
import type { StrategyOutcome } from "../executor/strategy-task.ts";
import type { TokenCache } from "../tokens/token-cache.ts";
import { TokenCounter } from "../tokens/token-counter.ts";

const MAX_PASSES = 3;
const BACKENDS: ReadonlySet<Backend> = new Set(["text", "graph"]);

export interface ContextAssemblerParts {
  /** All that may be selected, in the registry's order. */
  readonly strategies: readonly ContextStrategy[];
  readonly executor: ParallelStrategyExecutor;
  /**
   * The backends that strategies can rely on; "decisions" are there whenever there is a plan, "vector" with an
   * embedding endpoint.
   */
  readonly backends?: ReadonlySet<Backend>;
  /** Custom stages, in place of the defaults. */
  readonly stages?: Partial<Stages>;
  readonly tokenCache?: TokenCache | undefined;
  /** The cache of contexts that can be answered again. */
  readonly cache?: ContextCache | undefined;
  /** Synchronizes the state of the executor's breaker with other processes. */
  readonly breakers?: SharedBreakers | undefined;
}

export class ContextAssembler {
  readonly #parts: ContextAssemblerParts;

  constructor(parts: ContextAssemblerParts) {
    this.#parts = parts;
  }

  /**
   * Never rejects because of a strategy or of a custom stage: a failure becomes a gap of the context.
   *
   * @throws NotFoundError if the question names a strategy that does not exist.
   * @throws ConflictError if the indexes kept changing.
   */
  async assemble(given: AssemblyInput): Promise<AssembledContext> {
    // A copy: custom stages receive it, and must not change the caller's object.
    const input = {
      ...given,
      question: deepFreeze(structuredClone(given.question)),
      plan: deepFreeze(structuredClone(given.plan)),
    };
    const { strategies: known, breakers, tokenCache } = this.#parts;
    const { strategies, gaps } = allowed(known, input);
    const circuitOf = (strategy: string): string =>
      breakers?.circuit(strategy, input.project) ?? circuitName(strategy, input.project);
    for (const { name } of strategies) circuitOf(name);
    await breakers?.refresh();
    const counter = new TokenCounter(input.tokenizer ?? "o200k_base", tokenCache);
    try {
      for (let pass = 1; ; pass++) {
        input.signal?.throwIfAborted();
        try {
          const context = await this.#pass(input, strategies, counter, circuitOf);
          return { ...context, gaps: [...gaps, ...context.gaps] };
        } catch (error) {
          if (!(error instanceof IndexMovedError)) throw error;
          if (pass === MAX_PASSES) throw indexKeptChangingError(error);
        }
      }
    } finally {
      await breakers?.settled();
      tokenCache?.flush();
    }
  }

  /**
   * Over one scope: the stored context if nothing has changed, a new one otherwise.
   *
   * @throws IndexMovedError if an index changes meanwhile.
   */
  async #pass(
    input: AssemblyInput,
    strategies: readonly ContextStrategy[],
    counter: TokenCounter,
    circuitOf: (strategy: string) => string,
  ): Promise<AssembledContext> {
    const { executor, cache, stages: custom = {}, backends = BACKENDS } = this.#parts;
    const scope = await input.scope();
    const vectors = input.embedding?.();
    const isRefused = vectors !== undefined && "refused" in vectors;
    const refused = isRefused ? strategies.filter(({ needs }) => needs.includes("vector")) : [];
    const embedding = isRefused ? undefined : vectors;
    const usable = strategies.filter((strategy) => !refused.includes(strategy));
    const isUsual = embedding === undefined && !usable.some(({ name }) => executor.isSwitchedOff(circuitOf(name)));
    const key = isUsual ? this.#keyOf(input, scope, usable, counter) : undefined;
    const stored = key && cache?.get(key);
    const context =
      stored ??
      (await assembleOnce({
        input,
        scope,
        embedding,
        strategies: usable,
        backends,
        defaults: defaultStages(executor, strategies, circuitOf),
        custom,
        counter,
        onOutcomes: (outcomes) => throwIfMoved(outcomes, scope),
      }));
    if (key !== undefined && stored === undefined) cache?.put(key, context);
    const reason = isRefused ? vectors.refused : "";
    const without = refused.map(({ name }): Gap => ({ kind: "strategy", name, reason }));
    return { ...context, gaps: [...without, ...context.gaps] };
  }

  /**
   * Undefined if the context depends on more than the key can hold: on the knowledge of a plan, or on code of others.
   */
  #keyOf(
    { question, budget, view, plan }: AssemblyInput,
    { trees }: IndexScope,
    strategies: readonly ContextStrategy[],
    { tokenizer }: TokenCounter,
  ): ContextKey | undefined {
    const { stages = {}, backends = BACKENDS } = this.#parts;
    const isOurs = ({ repeatable, needs }: ContextStrategy): boolean =>
      repeatable === true || !needs.every((backend) => backends.has(backend));
    if (plan !== undefined || trees.length === 0 || Object.keys(stages).length > 0) return undefined;
    if (!strategies.every(isOurs)) return undefined;
    const limits = { maxFiles: view.maxFiles, maxTotalSize: view.maxTotalSize };
    return { question, trees, budget, limits, tokenizer, strategies: strategies.map(({ name }) => name) };
  }
}

/** The strategies a view allows. */
function allowed(
  known: readonly ContextStrategy[],
  input: AssemblyInput,
): { readonly strategies: readonly ContextStrategy[]; readonly gaps: readonly Gap[] } {
  const { question, view } = input;
  const names = known.map(({ name }) => name);
  const wanted = question.strategy;
  if (wanted !== undefined && !names.includes(wanted)) {
    const suggestion = nearest(wanted, names);
    throw new NotFoundError("strategy", wanted, {
      ...(suggestion === undefined ? {} : { detail: { suggestion } }),
      next: [
        suggestion === undefined
          ? { text: `name one of ${names.join(", ")}` }
          : { text: `did you mean ${suggestion}?` },
      ],
    });
  }
  if (view.strategies === undefined) return { strategies: known, gaps: [] };
  if (wanted !== undefined && !view.strategies.includes(wanted)) {
    throw new UsageError(`The view does not allow the strategy "${wanted}" (it allows ${view.strategies.join(", ")}).`);
  }
  const gaps = view.strategies
    .filter((name) => !names.includes(name))
    .map((name): Gap => ({ kind: "strategy", name, reason: "is named by the view but does not exist" }));
  return { strategies: known.filter(({ name }) => view.strategies?.includes(name) === true), gaps };
}

/**
 * A strategy's report is believed only if it is true: otherwise one strategy could keep every caller from a context.
 */
function throwIfMoved(outcomes: readonly StrategyOutcome[], scope: IndexScope): void {
  if (!outcomes.some((outcome) => outcome.status === "failed" && isIndexMoved(outcome.reason))) return;
  using _ = openScopedIndex(scope);
}

function indexKeptChangingError(error: IndexMovedError): ConflictError {
  return new ConflictError(
    "The files kept changing while their context was put together.",
    { expected: "an index that stays as it is for a moment", actual: error.message },
    {
      kept: "Nothing was changed.",
      next: [{ text: "repeat the command when the program that writes the files has finished" }],
    },
  );
}
