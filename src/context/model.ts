/**
 * The words of context assembly: what is asked, what a strategy finds, what comes out. Everything is plain data that can be handed to a
 * worker thread and stored, and everything that was left out is said as well as what went in.
 */
import type { DetailLevel } from "../code-index/detail-level.ts";
import type { STAGE_NAMES, TOKENIZER_NAMES } from "../domain/context-settings.ts";
import type { IndexScope } from "../code-index/index-scope.ts";
import type { Fragment } from "./strategy-protocol.ts";
import type { StrategyOutcome } from "./strategy-task.ts";

export interface ContextRequest {
  /** What it is for, in words. */
  readonly query: string;
  /** Names that matter: symbols, file names. */
  readonly entities: readonly string[];
  /** Where to start: "path", "alias:path" or "path#symbol". */
  readonly focus: readonly string[];
  /** How many steps to walk from the focus. */
  readonly breadth: number;
  /** How much to show of what matters most. */
  readonly depth: DetailLevel;
  /** Only this strategy. */
  readonly strategy: string | undefined;
  /** Considered before others of the same confidence. */
  readonly preferredStrategies: readonly string[];
  /** Only strategies that need all of these. */
  readonly requiredBackends: readonly Backend[];
}

export const BACKENDS = ["text", "graph", "vector", "decisions"] as const;
export type Backend = (typeof BACKENDS)[number];

/** What is known of the plan the context is for; the same for all strategies, because they cannot reach the store. */
export interface PlanKnowledge {
  readonly planId: string;
  readonly goal: string;
  readonly decisions: readonly KnownDecision[];
  /** Paths the plan changed so far, as "alias:path", the latest first. */
  readonly changedPaths: readonly string[];
}

export interface KnownDecision {
  readonly id: string;
  readonly type: string;
  readonly question: string;
  readonly answer: string;
  readonly outcome: string | undefined;
}

/** What the executor hands to each strategy. */
export interface StrategyInput {
  readonly request: ContextRequest;
  readonly scope: IndexScope;
  readonly plan: PlanKnowledge | undefined;
  readonly tokenizer: TokenizerName;
  /** Without one nothing is embedded, and nothing leaves the machine. */
  readonly embedding?: EmbeddingEndpoint | undefined;
}

/** Where texts become vectors: an OpenAI-compatible service. */
export interface EmbeddingEndpoint {
  /** Up to and without "/embeddings". */
  readonly url: string;
  readonly model: string;
  /** Name of the environment variable that holds the key; the key itself is never handed around. */
  readonly apiKeyEnv: string | undefined;
  /** Dollars per million tokens; undefined when nobody said. */
  readonly price?: number | undefined;
  /** Under which what is sent is noted (`EmbeddingBill`). */
  readonly bill?: string;
}

/** Families of tokenizers; a model's family is found by `tokenizerOf(model)`. */
export type TokenizerName = (typeof TOKENIZER_NAMES)[number];

/** Where a fragment is from: enough to find the very bytes again. */
export interface Provenance {
  readonly resource: string;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
}

/** What a strategy returns. `content` is the excerpt alone; its heading is added, and counted, when the context is put together. */
export interface ContextFragment extends Fragment {
  /** What it shows, the same whatever the level: "alias:path", "alias:path#name@line" or "alias:path:10-42"; "decision:<id>". */
  readonly entity: string;
  readonly level: DetailLevel;
  /** From 0 to 1, by the strategy's own lights. */
  readonly relevance: number;
  /** Undefined for what comes from no file: a decision. */
  readonly provenance: Provenance | undefined;
  /** Why it is here, for people: "defines SessionStore, which the query names". */
  readonly reason: string;
}

/** A fragment with the strategies that found it; the first is the one whose content it is. */
export interface FoundFragment extends ContextFragment {
  readonly strategies: readonly string[];
  /** By strategy: how many of its finds it held for more relevant. */
  readonly ranks: Readonly<Record<string, number>>;
}

export interface ScoredFragment extends FoundFragment {
  readonly score: number;
  /** The parts of the score, by name. */
  readonly breakdown: Readonly<Record<string, number>>;
}

/** Where the tokens of a model's window go. All whole numbers; none below zero. */
export interface ContextBudget {
  readonly modelWindow: number;
  readonly responseReserve: number;
  readonly toolDefinitions: number;
  readonly systemPrompt: number;
  /** For what a parent plan hands down; 0 without a parent. */
  readonly skeletonReserve: number;
  /** What is left for the context, preamble included. */
  readonly available: number;
}

export type Exclusion = {
  readonly entity: string;
  readonly strategies: readonly string[];
  readonly tokens: number;
  readonly reason: "duplicate" | "less detail" | "budget" | "too small" | "size limit" | "file limit";
};

/** Something the context lacks, and why, for people. */
export interface Gap {
  readonly kind: "strategy" | "index" | "backend" | "stage";
  readonly name: string;
  readonly reason: string;
}

export interface StageTrace {
  readonly stage: StageName;
  readonly component: string;
  readonly in: number;
  readonly out: number;
  readonly durationMs: number;
  readonly note: string | undefined;
}

export { STAGE_NAMES as STAGES, TOKENIZER_NAMES as TOKENIZERS } from "../domain/context-settings.ts";
export type StageName = (typeof STAGE_NAMES)[number];

export interface SelectedStrategy {
  readonly name: string;
  readonly confidence: number;
  readonly quality: number;
  /** Its budget. */
  readonly tokens: number;
}

export interface AssembledContext {
  /** Exactly what a model is shown: preamble and fragments. */
  readonly text: string;
  /** Of `text`, by the real tokenizer; never above the budget. */
  readonly tokens: number;
  /** SHA-256 of `text`. */
  readonly hash: string;
  readonly tokenizer: TokenizerName;
  readonly budget: ContextBudget;
  readonly preamble: string;
  readonly fragments: readonly ScoredFragment[];
  /** Files ("alias:path") with secrets that are masked in what is shown of them. */
  readonly masked: readonly string[];
  readonly excluded: readonly Exclusion[];
  readonly strategies: readonly SelectedStrategy[];
  readonly outcomes: readonly StrategyOutcome[];
  readonly gaps: readonly Gap[];
  readonly trace: readonly StageTrace[];
}
