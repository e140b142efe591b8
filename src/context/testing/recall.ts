/**
 * How many of the files that a question needs are shown: a directory with its index and an assembler over it, a
 * question put to one strategy or to all, and the share of the answer's files that the context shows. A mere mention in
 * a listing does not count.
 */
import { dirname } from "node:path";
import { indexFileFor } from "../../code-index/index/index-database.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { syncIndex } from "../../code-index/sync/sync-index.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { ContextAssembler } from "../assembly/context-assembler.ts";
import { plainBudget } from "../model/context-budget.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { AssembledContext } from "../model/context-model.ts";
import { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import { BUILT_IN_STRATEGIES } from "../strategies/built-in-strategies.ts";
import { TokenCache } from "../tokens/token-cache.ts";
import type { Question } from "./answer-sets.ts";

/** Those that need neither a plan nor a model. */
export const JUDGED = ["simple-keyword", "passage-search", "breadth-depth-navigator", "symbol-rank"] as const;

const LONG_ENOUGH_MS = 120_000;

export class ContextLab implements AsyncDisposable {
  readonly #root: string;
  readonly #index: string;
  #scope: IndexScope = { trees: [] };
  readonly #executor = new ParallelStrategyExecutor({
    breaker: new CircuitBreaker(),
    strategyTimeoutMs: LONG_ENOUGH_MS,
    totalTimeoutMs: LONG_ENOUGH_MS,
    threadPatienceMs: 400,
  });
  readonly #assembler: ContextAssembler;
  readonly #cache: TokenCache;

  private constructor(root: string, dataDir: string) {
    this.#root = root;
    this.#index = indexFileFor(dataDir, root);
    this.#cache = TokenCache.in(dirname(this.#index));
    this.#assembler = new ContextAssembler({
      strategies: BUILT_IN_STRATEGIES,
      executor: this.#executor,
      tokenCache: this.#cache,
    });
  }

  /** Indexes a directory, with its index below another one. */
  static async of(root: string, dataDir: string): Promise<ContextLab> {
    const lab = new ContextLab(root, dataDir);
    await lab.sync();
    return lab;
  }

  get scope(): IndexScope {
    return this.#scope;
  }

  /** Syncs the directory again. */
  async sync(): Promise<void> {
    const { generation } = await syncIndex({ indexFile: this.#index, root: this.#root });
    const filter = { include: [], exclude: [], maxFileSize: undefined };
    this.#scope = { trees: [{ resource: "code", index: this.#index, overlay: "", generation, filter }] };
  }

  /**
   * @param options.strategy only this one; all of them otherwise.
   * @param options.rendering as in `ContextQuestion`.
   */
  async ask(
    asked: Pick<Question, "query" | "focus">,
    tokens: number,
    options: Partial<Pick<ContextQuestion, "strategy" | "rendering">> = {},
  ): Promise<AssembledContext> {
    const question: ContextQuestion = {
      query: asked.query,
      entities: [],
      focus: asked.focus,
      breadth: 2,
      depth: "full",
      strategy: options.strategy,
      rendering: options.rendering,
      preferredStrategies: [],
      requiredBackends: [],
    };
    const context = await this.#assembler.assemble({
      project: "judged",
      question,
      scope: () => this.#scope,
      plan: undefined,
      budget: plainBudget(tokens),
      view: { maxFiles: undefined, maxTotalSize: undefined, strategies: undefined },
    });
    const failed = context.outcomes.find(({ status }) => status !== "ran");
    if (failed !== undefined) throw new Error(`${failed.strategy} ${failed.status}: ${JSON.stringify(failed)}`);
    return context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cache[Symbol.dispose]();
    await this.#executor.close();
  }
}

export function shownFiles({ fragments }: AssembledContext): ReadonlySet<string> {
  const shown = fragments.filter(({ level }) => level !== "listing");
  return new Set(shown.flatMap(({ provenance }) => provenance?.path ?? []));
}

/** From 0 to 1. */
export function recallOf({ files }: Pick<Question, "files">, shown: ReadonlySet<string>): number {
  return files.filter((file) => shown.has(file)).length / files.length;
}
