import type { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import type { ContextStrategy, Stages } from "../model/stage-interfaces.ts";
import { ConfidenceWeightedSelector } from "./confidence-weighted-selector.ts";
import { ContentHashDeduplicator } from "./content-hash-deduplicator.ts";
import { GreedyKnapsackPacker } from "./greedy-knapsack-packer.ts";
import { MaxDepthResolver } from "./max-depth-resolver.ts";
import { ProportionalBudgetAllocator } from "./proportional-budget-allocator.ts";
import { ProvenancePreambleGenerator } from "./provenance-preamble-generator.ts";
import { RelevanceCoherenceOrderer } from "./relevance-coherence-orderer.ts";
import { StrategyExecution } from "./strategy-execution.ts";
import { WeightedCompositeScorer } from "./weighted-composite-scorer.ts";

export function defaultStages(
  executor: ParallelStrategyExecutor,
  strategies: readonly ContextStrategy[],
  circuitOf: (strategy: string) => string,
): Stages {
  return {
    select: new ConfidenceWeightedSelector(),
    allocate: new ProportionalBudgetAllocator(),
    execute: new StrategyExecution(executor, strategies, circuitOf),
    deduplicate: new ContentHashDeduplicator(),
    resolve_depth: new MaxDepthResolver(),
    score: new WeightedCompositeScorer(),
    pack: new GreedyKnapsackPacker(),
    order: new RelevanceCoherenceOrderer(),
    preamble: new ProvenancePreambleGenerator(),
  };
}
