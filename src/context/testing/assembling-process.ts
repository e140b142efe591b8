/**
 * Assembles twenty contexts at once, in a process of its own, and prints the results: `assembling-process.ts DIRECTORY
 * STORE`.
 */
import { createRequire } from "node:module";
import { openStore } from "../../store/sqlite/open-store.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { ContextAssembler } from "../assembly/context-assembler.ts";
import { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import { SharedBreakers } from "../breaker/shared-breakers.ts";
import { AssemblySetUp, question, strategy } from "./assembly-set-up.ts";

const [directory = "", url = ""] = process.argv.slice(2);
const strategies = ["anythingA", "anythingB", "anythingC"].map((name) => strategy(name));

await using store = await openStore(url);
await using setUp = new AssemblySetUp(strategies, { directory });
const breaker = new CircuitBreaker();
await using breakers = new SharedBreakers({ store, breaker });
await using executor = new ParallelStrategyExecutor({ breaker, strategyTimeoutMs: 60_000, totalTimeoutMs: 120_000 });
const { tokens: tokenCache } = setUp;
const assembler = new ContextAssembler({ strategies, executor, breakers, tokenCache });
const failing = new ContextAssembler({ strategies: [strategy("throws")], executor, breakers, tokenCache });
const scope = await setUp.scope();
const order = (seed: number) =>
  setUp.input(500 + seed * 200, { question: question({ query: String(seed) }), scope: () => scope });

const contexts = await Promise.all(Array.from({ length: 20 }, (_, seed) => assembler.assemble(order(seed))));
const failed = await failing.assemble(order(0));
console.log(
  JSON.stringify({
    hashes: contexts.map(({ hash }) => hash),
    isWithin: contexts.every(({ tokens, budget }) => tokens <= budget.available),
    gaps: contexts.flatMap(({ gaps }) => gaps),
    failure: failed.gaps[0]?.reason,
    loadedTokenizer: Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("gpt-tokenizer")),
  }),
);
