/**
 * The data types of context assembly: the input of strategies, the fragments that strategies find, the assembled
 * result. Everything is plain data that can be passed to a worker thread and stored, and everything that was left out
 * is recorded as well.
 */
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { STAGE_NAMES, TOKENIZER_NAMES } from "../../domain/settings/context-settings.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import type { Fragment } from "../executor/strategy-protocol.ts";
import type { StrategyOutcome } from "../executor/strategy-task.ts";

/**
 * The knowledge of the plan that the context is for; the same for all strategies, because they cannot reach the store.
 */
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

/** The input of each strategy. */
export interface StrategyInput {
  /** Called `request` because custom strategy modules know it by this name. */
  readonly request: ContextQuestion;
  readonly scope: IndexScope;
  readonly plan: PlanKnowledge | undefined;
  readonly tokenizer: TokenizerName;
  /** Without one nothing is embedded, and nothing leaves the machine. */
  readonly embedding?: EmbeddingEndpoint | undefined;
}

/** The service that turns texts into vectors; it is OpenAI-compatible. */
export interface EmbeddingEndpoint {
  /** Up to and without "/embeddings". */
  readonly url: string;
  readonly model: string;
  /** Undefined: the service asks for no key. */
  readonly key?: EmbeddingKey | undefined;
  /** Values of variables that are named like secrets: masked in texts, also in threads, which have other variables. */
  readonly secrets?: readonly string[];
  /** Dollars per million tokens; undefined when not configured. */
  readonly price?: number | undefined;
  /** The id under which sent tokens are recorded (`EmbeddingBill`). */
  readonly bill?: string;
}

interface EmbeddingKey {
  /** The name of the environment variable that holds it. */
  readonly variable: string;
  readonly value: string | undefined;
}

/** Families of tokenizers; a model's family is found by `tokenizerOf(model)`. */
export type TokenizerName = (typeof TOKENIZER_NAMES)[number];

/** The source of a fragment: enough to find the very bytes again. */
export interface Provenance {
  readonly resource: string;
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** SHA-256 of the file's bytes. */
  readonly hash: string;
}

/**
 * A fragment as a strategy returns it. `content` is the excerpt alone; its heading is added, and counted, when the
 * context is put together.
 */
export interface ContextFragment extends Fragment {
  /**
   * The shown entity, the same for every level: "alias:path", "alias:path#name@line" or "alias:path:10-42";
   * "decision:<id>".
   */
  readonly entity: string;
  readonly level: DetailLevel;
  /** From 0 to 1, as the strategy estimates it. */
  readonly relevance: number;
  /** Undefined for a fragment without a file: a decision. */
  readonly provenance: Provenance | undefined;
  /** Why it is here, for people: "defines SessionStore, which the query names". */
  readonly reason: string;
}

/** A fragment with the strategies that found it; the first is the one whose content it is. */
export interface FoundFragment extends ContextFragment {
  readonly strategies: readonly string[];
  /** By strategy: how many of its fragments it considered more relevant. */
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
  /** The tokens left for the context, preamble included. */
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

export { STAGE_NAMES as STAGES, TOKENIZER_NAMES as TOKENIZERS } from "../../domain/settings/context-settings.ts";
export type StageName = (typeof STAGE_NAMES)[number];

export interface SelectedStrategy {
  readonly name: string;
  readonly confidence: number;
  readonly quality: number;
  /** Its budget. */
  readonly tokens: number;
}

export interface AssembledContext {
  /** The exact text that a model is shown: preamble and fragments. */
  readonly text: string;
  /** Of `text`, by the real tokenizer; never above the budget. */
  readonly tokens: number;
  /** SHA-256 of `text`. */
  readonly hash: string;
  readonly tokenizer: TokenizerName;
  readonly budget: ContextBudget;
  readonly preamble: string;
  readonly fragments: readonly ScoredFragment[];
  /** Files ("alias:path") with secrets that are masked in the shown fragments. */
  readonly masked: readonly string[];
  readonly excluded: readonly Exclusion[];
  readonly strategies: readonly SelectedStrategy[];
  readonly outcomes: readonly StrategyOutcome[];
  readonly gaps: readonly Gap[];
  readonly trace: readonly StageTrace[];
}
