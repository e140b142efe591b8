/**
 * The ten stages of context assembly, each behind an interface with one default, so that a project or a plan may bring its own. Stages 1 to 3
 * live with failing strategies; 4 to 10 never throw on valid input, and make nothing of nothing. A stage is a pure function of its
 * arguments: whatever it needs to know comes in.
 */
import type { DetailLevel } from "../code-index/detail-level.ts";
import type {
  AssembledContext,
  Backend,
  ContextRequest,
  Exclusion,
  FoundFragment,
  Gap,
  PlanKnowledge,
  ScoredFragment,
  SelectedStrategy,
  StrategyInput,
} from "./model.ts";
import type { Fragment } from "./strategy-protocol.ts";
import type { StrategyOutcome } from "./strategy-task.ts";

/** A strategy as the registry knows it. Its code runs in a worker thread and is named by module and export. */
export interface ContextStrategy {
  readonly name: string;
  readonly description: string;
  /** How much its finds are worth in general, from 0 to 1. */
  readonly quality: number;
  readonly needs: readonly Backend[];
  readonly module: string;
  readonly exportName: string;
  /** Its answer depends on its input alone, so what is made of it can be kept for when the same is asked again. */
  readonly repeatable?: boolean;
  /** How well it can serve a request, from 0 to 1; 0 is not at all. Pure and quick. */
  readonly confidence: (request: ContextRequest, plan: PlanKnowledge | undefined) => number;
}

export type RankedStrategy = Omit<SelectedStrategy, "tokens">;

/** What a trace calls a component; one's own may go without. */
interface Stage {
  readonly name?: string;
}

export interface StrategySelector extends Stage {
  select(
    strategies: readonly ContextStrategy[],
    request: ContextRequest,
    available: ReadonlySet<Backend>,
    plan: PlanKnowledge | undefined,
  ): { readonly selected: readonly RankedStrategy[]; readonly gaps: readonly Gap[] };
}

export interface BudgetAllocator extends Stage {
  /** The tokens given sum to `tokens` exactly, or to 0 when nothing is selected. */
  allocate(selected: readonly RankedStrategy[], tokens: number): readonly SelectedStrategy[];
}

export interface StrategyExecutor extends Stage {
  execute(
    selected: readonly SelectedStrategy[],
    input: StrategyInput,
    signal: AbortSignal | undefined,
    /** May be called with what a strategy found as soon as that is there, while others are still at work. */
    onFound: (strategy: string, fragments: readonly Fragment[]) => void,
  ): Promise<{
    /** By strategy, in the order of `selected`. They are looked at before they are used: whatever a strategy returned may be in them. */
    readonly found: readonly { readonly strategy: string; readonly fragments: readonly Fragment[] }[];
    readonly outcomes: readonly StrategyOutcome[];
  }>;
}

export interface Sifted<F> {
  readonly fragments: readonly F[];
  readonly excluded: readonly Exclusion[];
}

export interface FragmentDeduplicator extends Stage {
  deduplicate(fragments: readonly FoundFragment[]): Sifted<FoundFragment>;
}

export interface DetailDepthResolver extends Stage {
  resolve(fragments: readonly FoundFragment[], tokens: number): Sifted<FoundFragment>;
}

export interface FragmentScorer extends Stage {
  score(
    fragments: readonly FoundFragment[],
    request: ContextRequest,
    strategies: readonly SelectedStrategy[],
    plan: PlanKnowledge | undefined,
  ): readonly ScoredFragment[];
}

/** What a packer may ask for: the same entity with less detail, and what a fragment costs with its heading. */
export interface PackingHelp {
  readonly shallower: (fragment: ScoredFragment, level: DetailLevel) => ScoredFragment | undefined;
  readonly cost: (fragment: ScoredFragment) => number;
}

export interface BudgetPacker extends Stage {
  /** The costs of what it returns sum to at most `tokens`. */
  pack(fragments: readonly ScoredFragment[], tokens: number, help: PackingHelp): Sifted<ScoredFragment>;
}

export interface FragmentOrderer extends Stage {
  order(fragments: readonly ScoredFragment[]): readonly ScoredFragment[];
}

export interface PreambleGenerator extends Stage {
  /** At most `tokens` long by `count`; "" when nothing fits. */
  generate(parts: {
    readonly fragments: readonly ScoredFragment[];
    readonly strategies: readonly SelectedStrategy[];
    readonly gaps: readonly Gap[];
    readonly excluded: readonly Exclusion[];
    readonly tokens: number;
    readonly count: (text: string) => number;
  }): string;
}

/** Shrinks a parent plan's context for a child. */
export interface SkeletonCompressor extends Stage {
  compress(
    parent: AssembledContext | undefined,
    childFocus: readonly string[],
    tokens: number,
  ): readonly ScoredFragment[];
}

export interface Stages {
  readonly select: StrategySelector;
  readonly allocate: BudgetAllocator;
  readonly execute: StrategyExecutor;
  readonly deduplicate: FragmentDeduplicator;
  readonly resolve_depth: DetailDepthResolver;
  readonly score: FragmentScorer;
  readonly pack: BudgetPacker;
  readonly order: FragmentOrderer;
  readonly preamble: PreambleGenerator;
  readonly skeleton: SkeletonCompressor;
}
