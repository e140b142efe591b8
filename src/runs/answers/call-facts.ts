/** The tokens and the cost of a call of a model, as they are recorded. */
import type { PricedModels } from "../../actors/models/budgeted-models.ts";
import type { Microdollars, ModelAnswer, ModelRef, ModelUsage } from "../../actors/models/model.ts";
import type { ModelCallFacts } from "../../ledger/model-calls.ts";

/** The tokens used by all tries of a call that was answered in the end. */
export function callFacts(answer: ModelAnswer, models: PricedModels): ModelCallFacts {
  const used = answer.attempts.flatMap(({ model, usage }) => (usage === undefined ? [] : [{ model, usage }]));
  const each = used.length === 0 ? [answer] : used;
  const facts = each.map(({ model, usage }) => usageFacts(model, usage, models.costOf(model, usage)));
  const sum = (field: "inputTokens" | "cachedTokens" | "cacheWriteTokens" | "outputTokens"): number =>
    facts.reduce((total, one) => total + one[field], 0);
  const known = facts.every(({ cost }) => cost !== undefined);
  return {
    provider: answer.model.provider,
    model: answer.model.model,
    inputTokens: sum("inputTokens"),
    cachedTokens: sum("cachedTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    outputTokens: sum("outputTokens"),
    estimated: facts.some(({ estimated }) => estimated),
    cost: known ? facts.reduce((total, { cost = 0 }) => total + cost, 0) : undefined,
    durationMs: answer.durationMs,
    tries: answer.attempts.length,
    masked: answer.masked,
    error: undefined,
  };
}

export function usageFacts(
  { provider, model }: ModelRef,
  usage: ModelUsage,
  cost: Microdollars | undefined,
): Omit<ModelCallFacts, "durationMs" | "tries" | "masked" | "error"> {
  const { inputTokens, outputTokens, cachedInputTokens: cachedTokens = 0, cacheWriteTokens = 0, estimated } = usage;
  return { provider, model, inputTokens, cachedTokens, cacheWriteTokens, outputTokens, estimated, cost };
}
