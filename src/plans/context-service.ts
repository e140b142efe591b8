import { existsSync } from "node:fs";
import { join } from "node:path";
import { indexFileFor } from "../code-index/index-file.ts";
import type { IndexScope } from "../code-index/index-scope.ts";
import { CircuitBreaker } from "../context/circuit-breaker.ts";
import { ContextAssembler, type ContextOrder } from "../context/context-assembler.ts";
import type { AssembledContext, ContextRequest, PlanKnowledge, StageName } from "../context/model.ts";
import { KeptContexts } from "../context/kept-contexts.ts";
import { ParallelStrategyExecutor } from "../context/parallel-strategy-executor.ts";
import type { ContextStrategy } from "../context/stages.ts";
import { loadStages, StrategyRegistry } from "../context/strategy-registry.ts";
import { SharedBreakers } from "../context/shared-breakers.ts";
import { BUILT_IN_STRATEGIES } from "../context/strategies/index.ts";
import { TokenCache } from "../context/tokens/token-cache.ts";
import { tokenizerOf } from "../context/tokens/tokenizer.ts";
import type { ResolvedView } from "../domain/context-policy.ts";
import type { Budget } from "../ledger/budgets.ts";
import type { Store } from "../store/store.ts";
import type { EmbeddingBill } from "./embedding-bill.ts";
import { budgetFor, type BudgetSource } from "./budget-for.ts";
import type { ContextConfiguration } from "./context-configuration.ts";
import { requireFocus } from "./context-focus.ts";
import type { ContextPlace } from "./context-places.ts";
import { indexPlaces, type IndexedPlace, type IndexOptions } from "./index-places.ts";

/** What a context is wanted of, and for. */
export interface ContextWish {
  /** Under which strategies that keep failing are switched off. */
  readonly project: string;
  readonly places: readonly ContextPlace[];
  readonly request: ContextRequest;
  readonly view: ResolvedView;
  readonly plan?: PlanKnowledge | undefined;
  /** Tokens that somebody named, instead of what view and window say. */
  readonly budget?: number | undefined;
  readonly model?: string | undefined;
  /** Modules for stages, before those of the configuration. */
  readonly stages?: Readonly<Partial<Record<StageName, string>>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: IndexOptions["onProgress"];
}

export interface ContextResult {
  readonly assembled: AssembledContext;
  readonly budgetSource: BudgetSource;
  /** What was looked at before, in the order of the places. */
  readonly indexed: readonly IndexedPlace[];
  readonly scope: IndexScope;
}

/** A strategy that takes longer is of no use to whoever waits; three times, and it is switched off for a while. */
const STRATEGY_TIMEOUT_MS = 10_000;
/** So far into a new index a thread for strategies boots, to be there when it is done. */
const NEARLY = 0.85;
const TOTAL_TIMEOUT_MS = 20_000;
/** To start another thread takes longer than a strategy in a tree of some thousand files, and some 30 MB; in a large one, that much more. */
const THREAD_PATIENCE_MS = 1_000;
const THREAD_PATIENCE_FILES = 10;

interface Vectors {
  readonly from: ReturnType<NonNullable<ContextOrder["embedding"]>>;
  readonly bill?: EmbeddingBill | undefined;
}

const SEMANTIC = "semantic-embedding";

/**
 * Context for whoever asks: brings the indexes up to date, then assembles. The commands, `pack` and the tools of actors all come this way, so
 * what `inspect` shows is what an actor gets.
 */
export class ContextService implements AsyncDisposable {
  readonly #dataDir: string;
  readonly #configuration: ContextConfiguration;
  readonly #budget: Budget;
  readonly #cache: TokenCache;
  readonly #kept: KeptContexts;
  readonly #executor: ParallelStrategyExecutor;
  readonly #breakers: SharedBreakers;
  #strategies: Promise<readonly ContextStrategy[]> | undefined;
  #threadPatienceMs = THREAD_PATIENCE_MS;

  /** @param parts.budget what embeddings count against. */
  constructor(parts: { store: Store; dataDir: string; configuration: ContextConfiguration; budget: Budget }) {
    this.#budget = parts.budget;
    this.#dataDir = parts.dataDir;
    this.#configuration = parts.configuration;
    this.#cache = TokenCache.in(join(parts.dataDir, "index"));
    this.#kept = new KeptContexts(join(parts.dataDir, "index"));
    const breaker = new CircuitBreaker();
    this.#breakers = new SharedBreakers({ store: parts.store, breaker });
    this.#executor = new ParallelStrategyExecutor({
      breaker,
      strategyTimeoutMs: STRATEGY_TIMEOUT_MS,
      totalTimeoutMs: TOTAL_TIMEOUT_MS,
      threadPatienceMs: () => this.#threadPatienceMs,
      preload: [...new Set(BUILT_IN_STRATEGIES.map(({ module }) => module))],
    });
  }

  async assemble(wish: ContextWish): Promise<ContextResult> {
    const { places, view, signal } = wish;
    this.#warmUp(wish);
    const { stages, trusted } = this.#configuration;
    const { budget, source } = budgetFor(this.#configuration, view, wish.budget);
    let seen: Awaited<ReturnType<typeof indexPlaces>> = { scope: { trees: [] }, indexed: [] };
    const assembler = new ContextAssembler({
      strategies: await (this.#strategies ??= enabledStrategies(this.#configuration)),
      stages: await loadStages({ ...stages, ...wish.stages }, trusted),
      executor: this.#executor,
      breakers: this.#breakers,
      tokenCache: this.#cache,
      kept: this.#kept,
    });
    const tokenizer = this.#configuration.tokenizer ?? tokenizerOf(wish.model ?? this.#configuration.model ?? "");
    let vectors: Vectors | undefined;
    await using _ = { [Symbol.asyncDispose]: async () => vectors?.bill?.settle() };
    const assembled = await assembler.assemble({
      project: wish.project,
      request: wish.request,
      scope: async () => {
        seen = await indexPlaces(places, {
          dataDir: this.#dataDir,
          signal,
          onProgress: (place, progress) => {
            if (progress.done >= progress.total * NEARLY) this.#executor.warmUp(1);
            wish.onProgress?.(place, progress);
          },
        });
        requireFocus(seen.scope, wish.request);
        const files = seen.indexed.reduce((sum, { result }) => sum + result.files, 0);
        this.#threadPatienceMs = Math.max(THREAD_PATIENCE_MS, Math.ceil(files / THREAD_PATIENCE_FILES));
        await vectors?.bill?.settle();
        vectors = await this.#vectors(seen.scope, wish);
        return seen.scope;
      },
      plan: wish.plan,
      budget,
      view,
      tokenizer,
      embedding: () => vectors?.from,
      signal,
    });
    return { assembled, budgetSource: source, ...seen };
  }

  /** Where vectors come from, with a bill when something is to be paid for: what was embedded before is not. */
  async #vectors(scope: IndexScope, { view, request }: ContextWish): Promise<Vectors> {
    const { embedding, enabled } = this.#configuration;
    const isUsed = [view.strategies, enabled].every((names) => names?.includes(SEMANTIC) !== false);
    const isOther = request.strategy !== undefined && request.strategy !== SEMANTIC;
    if (embedding === undefined || !isUsed || isOther || request.query.trim() === "") return { from: embedding };
    const { EmbeddingBill, refusalOf } = await import("./embedding-bill.ts");
    try {
      const bill = await EmbeddingBill.open(this.#budget, embedding, scope, request.query);
      return { from: bill?.endpoint ?? embedding, bill };
    } catch (error) {
      return { from: { refused: refusalOf(error) } };
    }
  }

  /** A thread boots while the directories are being looked at, unless that is too early (they are new, see `NEARLY`) or perhaps for nothing. */
  #warmUp({ places, request }: ContextWish): void {
    const isKnown = ({ root }: ContextPlace): boolean =>
      existsSync(root) && existsSync(indexFileFor(this.#dataDir, root));
    if (!places.some(isKnown) || this.#kept.hasAnswered(request)) return;
    this.#executor.warmUp(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor.close();
    await this.#breakers[Symbol.asyncDispose]();
    this.#cache[Symbol.dispose]();
  }
}

/** Those that may be selected; loads the user's own, if they are trusted. */
async function enabledStrategies({ own, enabled, trusted }: ContextConfiguration): Promise<readonly ContextStrategy[]> {
  const registry = new StrategyRegistry(BUILT_IN_STRATEGIES);
  for (const strategy of own) await registry.load(strategy, trusted);
  if (enabled !== undefined) registry.enableOnly(enabled);
  return registry.enabled();
}

/** The built-in ones, and the user's own. */
export function strategyNames({ own }: Pick<ContextConfiguration, "own">): string[] {
  return [...BUILT_IN_STRATEGIES, ...own].map(({ name }) => name);
}
