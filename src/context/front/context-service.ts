import { existsSync } from "node:fs";
import { DataDirectory } from "../../platform/data-directory.ts";
import { indexFileFor } from "../../code-index/index/index-database.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { ContextAssembler } from "../assembly/context-assembler.ts";
import type { AssemblyInput } from "../assembly/assembly-input.ts";
import type { AssembledContext, PlanKnowledge, StageName } from "../model/context-model.ts";
import { ContextCache } from "../cache/context-cache.ts";
import { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import type { ContextStrategy } from "../model/stage-interfaces.ts";
import { loadStages, StrategyRegistry } from "../strategies/strategy-registry.ts";
import { SharedBreakers } from "../breaker/shared-breakers.ts";
import { BUILT_IN_STRATEGIES } from "../strategies/built-in-strategies.ts";
import { TokenCache } from "../tokens/token-cache.ts";
import { tokenizerOf } from "../tokens/tokenizer.ts";
import { POINTERS_BUDGET } from "../../domain/context/context-question.ts";
import type { ResolvedView } from "../../domain/context/context-policy.ts";
import type { Budget } from "../../ledger/budgets.ts";
import type { Store } from "../../store/port.ts";
import type { EmbeddingBill } from "./embedding-bill.ts";
import { budgetFor, type BudgetSource } from "./assembly-budget.ts";
import type { ContextConfiguration } from "./context-configuration.ts";
import { requireFocus } from "./context-focus.ts";
import type { ContextPlace } from "./context-places.ts";
import { indexPlaces, type IndexedPlace, type IndexOptions } from "./index-places.ts";
import { requireInTime } from "./timed-out-strategies.ts";

/** The question for a context: which directories, and for what. */
export interface ContextOrder extends Pick<AssemblyInput, "project" | "question" | "signal"> {
  readonly places: readonly ContextPlace[];
  readonly view: ResolvedView;
  readonly plan?: PlanKnowledge | undefined;
  /** Tokens that the caller named, instead of those of view and window. */
  readonly budget?: number | undefined;
  readonly model?: string | undefined;
  /** Modules for stages, before those of the configuration. */
  readonly stages?: Readonly<Partial<Record<StageName, string>>>;
  readonly onProgress?: IndexOptions["onProgress"];
}

export interface ContextResult {
  readonly assembled: AssembledContext;
  readonly budgetSource: BudgetSource;
  /** The directories that were indexed before, in the order of the places. */
  readonly indexed: readonly IndexedPlace[];
  readonly scope: IndexScope;
}

/**
 * Deadlines are for strategies that hang: after three timeouts one is switched off for a while. On a busy machine a
 * healthy strategy must not reach them, because the context would depend on the load: with 10 s and 20 s, 15 of 150
 * contexts on a machine with ten times its processors in work came out short.
 */
const DEADLINES: Deadlines = { strategyMs: 60_000, totalMs: 120_000 };
/** At this part of a new index a thread for strategies boots, to be ready when the index is. */
const NEARLY = 0.85;
/**
 * Starting another thread takes longer than a strategy in a tree of some thousand files, and some 30 MB; strategies in
 * a large tree take that much longer.
 */
const THREAD_PATIENCE_MS = 1_000;
const THREAD_PATIENCE_FILES = 10;

interface Deadlines {
  /** Of one strategy. */
  readonly strategyMs: number;
  /** Of all strategies of one context. */
  readonly totalMs: number;
}

interface VectorSource {
  readonly from: ReturnType<NonNullable<AssemblyInput["embedding"]>>;
  readonly bill?: EmbeddingBill | undefined;
}

const SEMANTIC = "semantic-embedding";

/**
 * Assembles contexts: brings the indexes up to date, then assembles. The commands, `pack` and the tools of actors all
 * use this class, so `inspect` shows exactly the context that an actor gets.
 */
export class ContextService implements AsyncDisposable {
  readonly #dataDir: string;
  readonly #configuration: ContextConfiguration;
  readonly #budget: Budget;
  readonly #cache: TokenCache;
  readonly #contexts: ContextCache;
  readonly #executor: ParallelStrategyExecutor;
  readonly #breakers: SharedBreakers;
  #strategies: Promise<readonly ContextStrategy[]> | undefined;
  #threadPatienceMs = THREAD_PATIENCE_MS;

  /** @param parts.budget that embeddings count against. */
  constructor(parts: {
    store: Store;
    dataDir: string;
    configuration: ContextConfiguration;
    budget: Budget;
    deadlines?: Deadlines;
  }) {
    const { deadlines = DEADLINES } = parts;
    this.#budget = parts.budget;
    this.#dataDir = parts.dataDir;
    this.#configuration = parts.configuration;
    const { index } = new DataDirectory(parts.dataDir);
    this.#cache = TokenCache.in(index);
    this.#contexts = new ContextCache(index);
    const breaker = new CircuitBreaker();
    this.#breakers = new SharedBreakers({ store: parts.store, breaker });
    this.#executor = new ParallelStrategyExecutor({
      breaker,
      strategyTimeoutMs: deadlines.strategyMs,
      totalTimeoutMs: deadlines.totalMs,
      threadPatienceMs: () => this.#threadPatienceMs,
      preload: [...new Set(BUILT_IN_STRATEGIES.map(({ module }) => module))],
    });
  }

  /** @throws AgentsError with the code `timed_out` if a deadline ended a strategy. */
  async assemble(order: ContextOrder): Promise<ContextResult> {
    const { places, view, signal } = order;
    this.#warmUp(order);
    const { stages, trusted } = this.#configuration;
    const { budget, source } = budgetFor(this.#configuration, view, order.budget);
    let seen: Awaited<ReturnType<typeof indexPlaces>> = { scope: { trees: [] }, indexed: [] };
    const assembler = new ContextAssembler({
      strategies: await (this.#strategies ??= enabledStrategies(this.#configuration)),
      stages: await loadStages({ ...stages, ...order.stages }, trusted),
      executor: this.#executor,
      breakers: this.#breakers,
      tokenCache: this.#cache,
      cache: this.#contexts,
    });
    const tokenizer = this.#configuration.tokenizer ?? tokenizerOf(order.model ?? this.#configuration.model ?? "");
    let vectors: VectorSource | undefined;
    await using _ = { [Symbol.asyncDispose]: async () => vectors?.bill?.settle() };
    const assembled = await assembler.assemble({
      project: order.project,
      question: budget.available <= POINTERS_BUDGET ? { ...order.question, rendering: "pointers" } : order.question,
      scope: async () => {
        seen = await indexPlaces(places, {
          dataDir: this.#dataDir,
          signal,
          onProgress: (place, progress) => {
            if (progress.done >= progress.total * NEARLY) this.#executor.warmUp(1);
            order.onProgress?.(place, progress);
          },
        });
        requireFocus(seen.scope, order.question);
        const files = seen.indexed.reduce((sum, { result }) => sum + result.files, 0);
        this.#threadPatienceMs = Math.max(THREAD_PATIENCE_MS, Math.ceil(files / THREAD_PATIENCE_FILES));
        await vectors?.bill?.settle();
        vectors = await this.#vectors(seen.scope, order);
        return seen.scope;
      },
      plan: order.plan,
      budget,
      view,
      tokenizer,
      embedding: () => vectors?.from,
      signal,
    });
    requireInTime(assembled);
    return { assembled, budgetSource: source, ...seen };
  }

  /** The source of vectors, with a bill when something has to be paid: files embedded before need not be. */
  async #vectors(scope: IndexScope, { view, question }: ContextOrder): Promise<VectorSource> {
    const { embedding, enabled } = this.#configuration;
    const isUsed = [view.strategies, enabled].every((names) => names?.includes(SEMANTIC) !== false);
    const isOther = question.strategy !== undefined && question.strategy !== SEMANTIC;
    if (embedding === undefined || !isUsed || isOther || question.query.trim() === "") return { from: embedding };
    const { EmbeddingBill, refusalOf } = await import("./embedding-bill.ts");
    try {
      const bill = await EmbeddingBill.open(this.#budget, embedding, scope, question.query);
      return { from: bill?.endpoint ?? embedding, bill };
    } catch (error) {
      return { from: { refused: refusalOf(error) } };
    }
  }

  /**
   * A thread boots while the directories are being indexed, unless that is too early (they are new, see `NEARLY`) or
   * probably useless.
   */
  #warmUp({ places, question }: ContextOrder): void {
    const isKnown = ({ root }: ContextPlace): boolean =>
      existsSync(root) && existsSync(indexFileFor(this.#dataDir, root));
    if (!places.some(isKnown) || this.#contexts.hasAnswered(question)) return;
    this.#executor.warmUp(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor.close();
    await this.#breakers[Symbol.asyncDispose]();
    this.#cache[Symbol.dispose]();
  }
}

/** The strategies that may be selected; loads the user's custom ones, if they are trusted. */
async function enabledStrategies({ own, enabled, trusted }: ContextConfiguration): Promise<readonly ContextStrategy[]> {
  const registry = new StrategyRegistry(BUILT_IN_STRATEGIES);
  for (const strategy of own) await registry.load(strategy, trusted);
  if (enabled !== undefined) registry.enableOnly(enabled);
  return registry.enabled();
}

/** The built-in ones, and the user's custom ones. */
export function strategyNames({ own }: Pick<ContextConfiguration, "own">): string[] {
  return [...BUILT_IN_STRATEGIES, ...own].map(({ name }) => name);
}
