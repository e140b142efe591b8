/** The input of one assembly: the question, and everything that the answer may depend on. */
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import type { ResolvedView } from "../../domain/context/context-policy.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { ContextBudget, EmbeddingEndpoint, PlanKnowledge, TokenizerName } from "../model/context-model.ts";

export interface AssemblyInput {
  /** Strategies that keep failing are switched off for the project they fail in. */
  readonly project: string;
  readonly question: ContextQuestion;
  /** Makes the scope; called again when an index changes meanwhile. */
  readonly scope: () => IndexScope | Promise<IndexScope>;
  readonly plan: PlanKnowledge | undefined;
  readonly budget: ContextBudget;
  readonly view: Pick<ResolvedView, "maxFiles" | "maxTotalSize" | "strategies">;
  readonly tokenizer?: TokenizerName;
  /**
   * The endpoint that makes the "vector" backend available, or why it must not be used; called when the scope is there.
   */
  readonly embedding?: () => EmbeddingEndpoint | { readonly refused: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}
