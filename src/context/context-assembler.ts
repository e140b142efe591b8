/**
 * Puts a context together: the ten stages one after another, over one generation of the indexes, within the budget to the token. What comes
 * out depends on the trees, the request, the view, the plan and the budget, and on nothing else: not on what finished first, not on
 * the process, not on the time.
 */
import { IndexMovedError, isIndexMoved } from "../code-index/index-errors.ts";
import type { IndexScope } from "../code-index/index-scope.ts";
import { openScopedIndex } from "../code-index/open-scoped-index.ts";
import type { ResolvedView } from "../domain/context-policy.ts";
import { ConflictError, NotFoundError, UsageError } from "../domain/errors.ts";
import { nearest } from "../domain/suggest.ts";
import { assembleOnce } from "./assemble-once.ts";
import { circuitName } from "./circuit-name.ts";
import { frozen } from "./frozen.ts";
import type { ContextQuestion, KeptContexts } from "./kept-contexts.ts";
import type {
  AssembledContext,
  Backend,
  ContextBudget,
  ContextRequest,
  EmbeddingEndpoint,
  Gap,
  PlanKnowledge,
  TokenizerName,
} from "./model.ts";
import type { ParallelStrategyExecutor } from "./parallel-strategy-executor.ts";
import type { SharedBreakers } from "./shared-breakers.ts";
import { defaultStages } from "./stages/default-stages.ts";
import type { ContextStrategy, Stages } from "./stages.ts";
import type { StrategyOutcome } from "./strategy-task.ts";
import type { TokenCache } from "./tokens/token-cache.ts";
import { TokenCounter } from "./tokens/token-counter.ts";

const MAX_PASSES = 3;
const BACKENDS: ReadonlySet<Backend> = new Set(["text", "graph"]);

export interface ContextAssemblerParts {
  /** All that may be selected, in the registry's order. */
  readonly strategies: readonly ContextStrategy[];
  readonly executor: ParallelStrategyExecutor;
  /** What strategies can rely on; "decisions" are there whenever there is a plan, "vector" with an embedding endpoint. */
  readonly backends?: ReadonlySet<Backend>;
  /** In place of the defaults. */
  readonly stages?: Partial<Stages>;
  readonly tokenCache?: TokenCache | undefined;
  /** Where contexts are kept that can be told again. */
  readonly kept?: KeptContexts | undefined;
  /** Keeps what the executor's breaker knows in step with other processes. */
  readonly breakers?: SharedBreakers | undefined;
}

/** What a context is ordered with. */
export interface ContextOrder {
  /** Strategies that keep failing are switched off for the project they fail in. */
  readonly project: string;
  readonly request: ContextRequest;
  /** Makes the scope; asked again when an index moves on meanwhile. */
  readonly scope: () => IndexScope | Promise<IndexScope>;
  readonly plan: PlanKnowledge | undefined;
  readonly budget: ContextBudget;
  readonly view: Pick<ResolvedView, "maxFiles" | "maxTotalSize" | "strategies">;
  readonly tokenizer?: TokenizerName;
  /** What makes the "vector" backend available, or why it must not be used; asked when the scope is there. */
  readonly embedding?: () => EmbeddingEndpoint | { readonly refused: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class ContextAssembler {
  readonly #parts: ContextAssemblerParts;

  constructor(parts: ContextAssemblerParts) {
    this.#parts = parts;
  }

  /**
   * Never rejects because of a strategy or of somebody's own stage: what went wrong is a gap of the context.
   *
   * @throws NotFoundError if the request names a strategy that is not there.
   * @throws ConflictError if the indexes kept changing.
   */
  async assemble(given: ContextOrder): Promise<AssembledContext> {
    // A copy of its own: somebody's stage gets to see it, and must not change what the caller has.
    const order = {
      ...given,
      request: frozen(structuredClone(given.request)),
      plan: frozen(structuredClone(given.plan)),
    };
    const {
      strategies: known,
      executor,
      breakers,
      tokenCache,
      kept,
      stages: own = {},
      backends = BACKENDS,
    } = this.#parts;
    const { strategies, gaps } = allowed(known, order);
    const circuitOf = (strategy: string): string =>
      breakers?.circuit(strategy, order.project) ?? circuitName(strategy, order.project);
    for (const { name } of strategies) circuitOf(name);
    await breakers?.refresh();
    const counter = new TokenCounter(order.tokenizer ?? "o200k_base", tokenCache);
    try {
      for (let pass = 1; ; pass++) {
        order.signal?.throwIfAborted();
        const scope = await order.scope();
        const vectors = order.embedding?.();
        const isRefused = vectors !== undefined && "refused" in vectors;
        const refused = isRefused ? strategies.filter(({ needs }) => needs.includes("vector")) : [];
        const embedding = isRefused ? undefined : vectors;
        const usable = strategies.filter((strategy) => !refused.includes(strategy));
        const isUsual = embedding === undefined && !usable.some(({ name }) => executor.isSwitchedOff(circuitOf(name)));
        const question = isUsual ? this.#questionOf(order, scope, usable, counter) : undefined;
        try {
          const before = question && kept?.get(question);
          const context =
            before ??
            (await assembleOnce({
              order,
              scope,
              embedding,
              strategies: usable,
              backends,
              defaults: defaultStages(executor, strategies, circuitOf),
              own,
              counter,
              onOutcomes: (outcomes) => throwIfMoved(outcomes, scope),
            }));
          if (question !== undefined && before === undefined) kept?.put(question, context);
          const reason = isRefused ? vectors.refused : "";
          const without = refused.map(({ name }): Gap => ({ kind: "strategy", name, reason }));
          return { ...context, gaps: [...gaps, ...without, ...context.gaps] };
        } catch (error) {
          if (!(error instanceof IndexMovedError)) throw error;
          if (pass === MAX_PASSES) throw keptMoving(error);
        }
      }
    } finally {
      await breakers?.settled();
      tokenCache?.flush();
    }
  }

  /** Undefined if the context depends on more than can be told: on what a plan knows, or on code that is not ours. */
  #questionOf(
    { request, budget, view, plan }: ContextOrder,
    { trees }: IndexScope,
    strategies: readonly ContextStrategy[],
    { tokenizer }: TokenCounter,
  ): ContextQuestion | undefined {
    const { stages = {}, backends = BACKENDS } = this.#parts;
    const isOurs = ({ repeatable, needs }: ContextStrategy): boolean =>
      repeatable === true || !needs.every((backend) => backends.has(backend));
    if (plan !== undefined || trees.length === 0 || Object.keys(stages).length > 0) return undefined;
    if (!strategies.every(isOurs)) return undefined;
    const limits = { maxFiles: view.maxFiles, maxTotalSize: view.maxTotalSize };
    return { request, trees, budget, limits, tokenizer, strategies: strategies.map(({ name }) => name) };
  }
}

/** The strategies a view allows. */
function allowed(
  known: readonly ContextStrategy[],
  order: ContextOrder,
): { readonly strategies: readonly ContextStrategy[]; readonly gaps: readonly Gap[] } {
  const { request, view } = order;
  const names = known.map(({ name }) => name);
  const wanted = request.strategy;
  if (wanted !== undefined && !names.includes(wanted)) {
    const suggestion = nearest(wanted, names);
    throw new NotFoundError("strategy", wanted, {
      ...(suggestion === undefined ? {} : { detail: { suggestion } }),
      next: [suggestion === undefined ? `name one of ${names.join(", ")}` : `did you mean ${suggestion}?`],
    });
  }
  if (view.strategies === undefined) return { strategies: known, gaps: [] };
  if (wanted !== undefined && !view.strategies.includes(wanted)) {
    throw new UsageError(`The view does not allow the strategy "${wanted}" (it allows ${view.strategies.join(", ")}).`);
  }
  const gaps = view.strategies
    .filter((name) => !names.includes(name))
    .map((name): Gap => ({ kind: "strategy", name, reason: "is named by the view but not there" }));
  return { strategies: known.filter(({ name }) => view.strategies?.includes(name) === true), gaps };
}

/** A strategy that says so is believed only if it is so: otherwise it would be one that can keep everybody from a context. */
function throwIfMoved(outcomes: readonly StrategyOutcome[], scope: IndexScope): void {
  if (!outcomes.some((outcome) => outcome.status === "failed" && isIndexMoved(outcome.reason))) return;
  using _ = openScopedIndex(scope);
}

function keptMoving(error: IndexMovedError): ConflictError {
  return new ConflictError(
    "The files kept changing while their context was put together.",
    { expected: "an index that stays as it is for a moment", actual: error.message },
    { kept: "Nothing was changed.", next: ["repeat the command when whatever writes the files has finished"] },
  );
}
