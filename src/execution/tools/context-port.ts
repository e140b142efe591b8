/**
 * The questions that a plan can ask about its code and its past while it executes. This room does not know how
 * context is assembled: the code that starts the execution passes an implementation in. Answers are JSON, because
 * models are shown them and steps are recorded with them.
 */
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { JsonObject } from "../../domain/values/json.ts";

export interface ContextPort {
  /**
   * The context that a model would be shown for this question, within the plan's resources as its sandboxes are now.
   */
  requestContext(question: ContextQuestion, limits: ContextLimits, signal: AbortSignal): Promise<AssembledAnswer>;
  /** The decisions of the plan, and their outcomes. */
  queryHistory(question: HistoryQuestion): Promise<HistoryAnswer>;
  contextBudget(): Promise<BudgetAnswer>;
}

export interface ContextLimits {
  /** Fewer tokens than the plan's own budget; undefined for all of it. */
  readonly budget: number | undefined;
  /** Aliases of the plan; undefined for all of them. */
  readonly resources: readonly string[] | undefined;
}

export interface AssembledAnswer extends JsonObject {
  readonly text: string;
  readonly tokens: number;
  readonly context_hash: string;
  readonly tokenizer: string;
  readonly budget: number;
  readonly files_indexed: number;
  readonly strategies: readonly string[];
  readonly fragments: readonly AnsweredFragment[];
  /** How many fragments did not fit. */
  readonly excluded: number;
  readonly gaps: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
}

interface AnsweredFragment extends JsonObject {
  readonly entity: string;
  readonly depth: DetailLevel;
  readonly tokens: number;
  readonly strategies: readonly string[];
  readonly reason: string;
}

export interface HistoryQuestion {
  /** Words that must all occur; "" for everything. */
  readonly query: string;
  readonly type: string | undefined;
  readonly limit: number;
}

export interface HistoryAnswer extends JsonObject {
  readonly decisions: readonly JsonObject[];
  readonly matching: number;
  readonly query: string;
}

/** In tokens. */
export interface BudgetAnswer extends JsonObject {
  readonly max: number;
  readonly reserved: number;
  readonly available: number;
  readonly used: number;
}
