/** A directory with files, its index, and an assembler over strategies of context-strategies.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { indexFileFor } from "../../code-index/index/index-database.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { syncIndex } from "../../code-index/sync/sync-index.ts";
import { CircuitBreaker, type CircuitBreakerOptions } from "../breaker/circuit-breaker.ts";
import type { AssemblyInput } from "../assembly/assembly-input.ts";
import { ContextAssembler, type ContextAssemblerParts } from "../assembly/context-assembler.ts";
import { plainBudget } from "../model/context-budget.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import {
  ParallelStrategyExecutor,
  type ParallelStrategyExecutorOptions,
} from "../executor/parallel-strategy-executor.ts";
import type { ContextStrategy } from "../model/stage-interfaces.ts";
import { TokenCache } from "../tokens/token-cache.ts";

const MODULE = new URL("./context-strategies.ts", import.meta.url).href;

/** One of context-strategies.ts. */
export function strategy(exportName: string, changes: Partial<ContextStrategy> = {}): ContextStrategy {
  return {
    name: exportName,
    description: `the strategy ${exportName}`,
    quality: 0.5,
    needs: ["text"],
    module: MODULE,
    exportName,
    confidence: () => 0.5,
    ...changes,
  };
}

export function question(changes: Partial<ContextQuestion> = {}): ContextQuestion {
  return {
    query: "1",
    entities: [],
    focus: [],
    breadth: 2,
    depth: "full",
    strategy: undefined,
    preferredStrategies: [],
    requiredBackends: [],
    ...changes,
  };
}

export interface SetUpOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly parts?: Partial<ContextAssemblerParts>;
  readonly executor?: Partial<ParallelStrategyExecutorOptions>;
  readonly breaker?: CircuitBreakerOptions;
  /** One that exists already, for another process. */
  readonly directory?: string;
}

export class AssemblySetUp implements AsyncDisposable {
  readonly directory: string;
  readonly root: string;
  readonly breaker: CircuitBreaker;
  readonly executor: ParallelStrategyExecutor;
  readonly assembler: ContextAssembler;
  readonly tokens: TokenCache;
  readonly #isOurs: boolean;

  constructor(strategies: readonly ContextStrategy[], options: SetUpOptions = {}) {
    this.#isOurs = options.directory === undefined;
    this.directory = options.directory ?? mkdtempSync(join(tmpdir(), "assembly-"));
    this.root = join(this.directory, "shop");
    if (this.#isOurs) this.write(options.files ?? SHOP);
    this.breaker = new CircuitBreaker(options.breaker);
    this.executor = new ParallelStrategyExecutor({
      breaker: this.breaker,
      strategyTimeoutMs: 20_000,
      totalTimeoutMs: 60_000,
      ...options.executor,
    });
    this.tokens = TokenCache.in(join(this.directory, "index"));
    this.assembler = new ContextAssembler({
      strategies,
      executor: this.executor,
      tokenCache: this.tokens,
      ...options.parts,
    });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
    }
  }

  async scope(): Promise<IndexScope> {
    const indexFile = indexFileFor(this.directory, this.root);
    const { generation } = await syncIndex({ indexFile, root: this.root });
    const filter = { include: [], exclude: [], maxFileSize: undefined };
    return { trees: [{ resource: "shop", index: indexFile, overlay: "", generation, filter }] };
  }

  input(tokens: number, changes: Partial<AssemblyInput> = {}): AssemblyInput {
    return {
      project: "local/shop",
      question: question(),
      scope: () => this.scope(),
      plan: undefined,
      budget: plainBudget(tokens),
      view: { maxFiles: undefined, maxTotalSize: undefined, strategies: undefined },
      ...changes,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.executor.close();
    this.tokens[Symbol.dispose]();
    if (this.#isOurs) rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Small files with something of everything: code, text, fences, an odd name. */
export const SHOP: Readonly<Record<string, string>> = Object.fromEntries([
  ...Array.from({ length: 12 }, (_, at) => [`src/part-${at}.ts`, partOf(at)]),
  [
    "README.md",
    "# Shop\n\nWhat it sells.\n\n```sh\nnpm run shop -- --all\n```\n\n## More\n\nNothing more to say here, for now.\n",
  ],
  ["docs/odd `name` #1.md", "# Odd\n\n````\n```\nnested\n```\n````\n"],
  ["src/long.txt", `${"word ".repeat(400)}\n${"=".repeat(600)}\n`],
]);

function partOf(at: number): string {
  const methods = Array.from(
    { length: 4 },
    (_, method) => `  /** Does ${method} of part ${at}. */
  method${method}(value: number): number {
    const doubled = value * ${method + 2};
    if (doubled > ${at * 100}) throw new RangeError("too large: " + doubled);
    return doubled + ${at};
  }
`,
  );
  return `/** Part ${at} of the shop. */
export class Part${at} {
${methods.join("\n")}}

export function makePart${at}(): Part${at} {
  return new Part${at}();
}
`;
}
