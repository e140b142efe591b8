import type { JsonValue } from "../domain/json.ts";

/**
 * What a plan can ask about its code and its past while it executes. This room does not know how context is assembled: whoever
 * starts the execution hands in something that does.
 */
export interface ContextPort {
  /** What a model would be shown for this question, within the plan's resources as its sandboxes are now. */
  requestContext(question: ContextQuestion, signal: AbortSignal): Promise<JsonValue>;
  /** What was decided in the plan, and what became of it. */
  queryHistory(question: HistoryQuestion): Promise<JsonValue>;
  contextBudget(): Promise<JsonValue>;
}

export const CONTEXT_DEPTHS = ["listing", "signatures", "signatures_with_docs", "full"] as const;

export interface ContextQuestion {
  readonly query: string;
  readonly entities: readonly string[];
  readonly focus: readonly string[];
  readonly breadth: number | undefined;
  readonly depth: (typeof CONTEXT_DEPTHS)[number] | undefined;
  readonly strategy: string | undefined;
  readonly preferredStrategies: readonly string[];
  readonly requiredBackends: readonly string[];
  /** Of fewer tokens than the plan's own budget. */
  readonly budget: number | undefined;
  /** Aliases of the plan; undefined for all of them. */
  readonly resources: readonly string[] | undefined;
}

export interface HistoryQuestion {
  /** Words that must all occur; "" for everything. */
  readonly query: string;
  readonly type: string | undefined;
  readonly limit: number;
}
