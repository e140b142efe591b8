/**
 * The nine stages of context assembly, each behind an interface with one default, so that a project or a plan may bring
 * its own. Stages 1 to 3 tolerate failing strategies; 4 to 9 never throw on valid input, and make nothing of nothing. A
 * stage is a pure function of its arguments.
 */
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { Backend, ContextQuestion } from "../../domain/context/context-question.ts";
import type {
  Exclusion,
  FoundFragment,
  Gap,
  PlanKnowledge,
  ScoredFragment,
  SelectedStrategy,
  StrategyInput,
} from "./context-model.ts";
import type { Fragment } from "../executor/strategy-protocol.ts";
import type { StrategyOutcome } from "../executor/strategy-task.ts";

/** A strategy as the registry knows it. Its code runs in a worker thread and is named by module and export. */
export interface ContextStrategy {
  readonly name: string;
  readonly description: string;
  /** How much its fragments are worth in general, from 0 to 1. */
  readonly quality: number;
  readonly needs: readonly Backend[];
  readonly module: string;
  readonly exportName: string;
  /**
   * Its answer depends on its input alone, so a context made of it can be stored for the case that the same question
   * comes again.
   */
  readonly repeatable?: boolean;
  /** How well it can serve a question, from 0 to 1; 0 is not at all. Pure and quick. */
  readonly confidence: (question: ContextQuestion, plan: PlanKnowledge | undefined) => number;
}

export type RankedStrategy = Omit<SelectedStrategy, "tokens">;

/** The component's name in a trace; a custom stage may have none. */
interface Stage {
  readonly name?: string;
}

export interface StrategySelector extends Stage {
  select(
    strategies: readonly ContextStrategy[],
    question: ContextQuestion,
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
    /** May be called with the fragments of a strategy as soon as they are there, while other strategies still run. */
    onFound: (strategy: string, fragments: readonly Fragment[]) => void,
  ): Promise<{
    /**
     * By strategy, in the order of `selected`. They are vetted before they are used: they hold anything that a strategy
     * returned.
     */
    readonly found: readonly { readonly strategy: string; readonly fragments: readonly Fragment[] }[];
    readonly outcomes: readonly StrategyOutcome[];
  }>;
}

export interface FilteredFragments<F> {
  readonly fragments: readonly F[];
  readonly excluded: readonly Exclusion[];
}

export interface FragmentDeduplicator extends Stage {
  deduplicate(fragments: readonly FoundFragment[]): FilteredFragments<FoundFragment>;
}

export interface DetailDepthResolver extends Stage {
  resolve(fragments: readonly FoundFragment[], tokens: number): FilteredFragments<FoundFragment>;
}

export interface FragmentScorer extends Stage {
  score(
    fragments: readonly FoundFragment[],
    question: ContextQuestion,
    strategies: readonly SelectedStrategy[],
    plan: PlanKnowledge | undefined,
  ): readonly ScoredFragment[];
}

/**
 * The help that a packer may ask for: the same entity with less detail, and the cost of a fragment with its heading.
 */
export interface PackingHelp {
  readonly lessDetailed: (fragment: ScoredFragment, level: DetailLevel) => ScoredFragment | undefined;
  readonly cost: (fragment: ScoredFragment) => number;
}

export interface BudgetPacker extends Stage {
  /** The costs of the fragments it returns sum to at most `tokens`. */
  pack(fragments: readonly ScoredFragment[], tokens: number, help: PackingHelp): FilteredFragments<ScoredFragment>;
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
}
