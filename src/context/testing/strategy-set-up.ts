/** Directories with files, one index for each, and strategies called as a worker thread calls them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { indexFileFor } from "../../code-index/index/index-database.ts";
import type { FileFilter, IndexScope } from "../../code-index/model/index-scope.ts";
import { syncIndex } from "../../code-index/sync/sync-index.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { ContextFragment, StrategyInput } from "../model/context-model.ts";
import type { StrategyContext } from "../executor/strategy-protocol.ts";
import {
  breadthDepthNavigator,
  planDecisionContext,
  semanticEmbedding,
  simpleKeyword,
  symbolRank,
} from "../strategies/worker-entry.ts";

const STRATEGIES = { breadthDepthNavigator, planDecisionContext, semanticEmbedding, simpleKeyword, symbolRank };
export type StrategyName = keyof typeof STRATEGIES;

const EVERYTHING: FileFilter = { include: [], exclude: [], maxFileSize: undefined };

export class StrategySetUp implements Disposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "strategies-"));
  readonly #trees: IndexScope["trees"];

  private constructor(trees: (directory: string) => IndexScope["trees"]) {
    this.#trees = trees(this.directory);
  }

  /** Files by resource and path. */
  static async of(resources: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<StrategySetUp> {
    const setUp = new StrategySetUp((directory) =>
      Object.keys(resources).map((resource) => {
        const root = join(directory, resource);
        mkdirSync(root);
        return {
          resource,
          index: indexFileFor(directory, root),
          overlay: "",
          generation: 0,
          filter: EVERYTHING,
        };
      }),
    );
    for (const [resource, files] of Object.entries(resources)) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(setUp.directory, resource, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    }
    return setUp;
  }

  /** @param filters by resource; a resource that is not named is left out when any is. */
  async scope(filters?: Readonly<Record<string, Partial<FileFilter>>>): Promise<IndexScope> {
    const trees = this.#trees.filter(({ resource }) => filters === undefined || resource in filters);
    return {
      trees: await Promise.all(
        trees.map(async (tree) => {
          const { generation } = await syncIndex({ indexFile: tree.index, root: join(this.directory, tree.resource) });
          return { ...tree, generation, filter: { ...EVERYTHING, ...filters?.[tree.resource] } };
        }),
      ),
    };
  }

  async run(
    name: StrategyName,
    request: Partial<ContextQuestion>,
    changes: Partial<StrategyInput> & Partial<Pick<StrategyContext, "tokens" | "signal">> = {},
  ): Promise<readonly ContextFragment[]> {
    const { tokens = 4_000, signal = new AbortController().signal, ...input } = changes;
    return STRATEGIES[name](
      {
        scope: input.scope ?? (await this.scope()),
        plan: undefined,
        tokenizer: "o200k_base",
        ...input,
        request: {
          query: "",
          entities: [],
          focus: [],
          breadth: 2,
          depth: "full",
          strategy: undefined,
          preferredStrategies: [],
          requiredBackends: [],
          ...request,
        },
      },
      { tokens, signal, breaker: new CircuitBreaker() },
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Where fragments are from, as "resource:path", each once, in their order. */
export function placesOf(fragments: readonly ContextFragment[]): readonly string[] {
  const places = fragments.map(({ provenance, entity }) =>
    provenance === undefined ? entity : `${provenance.resource}:${provenance.path}`,
  );
  return Array.from(new Set(places));
}
