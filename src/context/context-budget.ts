import { ValidationError, type ValidationIssue } from "../domain/errors.ts";
import type { ContextBudget } from "./model.ts";

export interface BudgetParts {
  /** All a model can take, what it answers included. */
  readonly modelWindow: number;
  readonly responseReserve: number;
  readonly toolDefinitions: number;
  readonly systemPrompt: number;
  /** From 0 to 1: the share of what is left that a child plan keeps for what its parent hands down. */
  readonly skeletonRatio: number;
  readonly hasParent: boolean;
}

/**
 * Where the tokens of a model's window go. Reserves that leave nothing leave 0, never less.
 *
 * ```ts
 * contextBudget({
 *   modelWindow: 128_000, responseReserve: 4_096, toolDefinitions: 2_400, systemPrompt: 1_200,
 *   skeletonRatio: 0.15, hasParent: true,
 * }).available; // 102_258
 * ```
 */
export function contextBudget(parts: BudgetParts): ContextBudget {
  const { modelWindow, responseReserve, toolDefinitions, systemPrompt, skeletonRatio, hasParent } = parts;
  const issues: ValidationIssue[] = [];
  for (const [path, value] of Object.entries({ modelWindow, responseReserve, toolDefinitions, systemPrompt })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    issues.push({ path, message: `must be a whole number of tokens, not ${String(value)}` });
  }
  if (!(skeletonRatio >= 0 && skeletonRatio <= 1)) {
    issues.push({ path: "skeletonRatio", message: `must be from 0 to 1, not ${String(skeletonRatio)}` });
  }
  if (issues.length > 0) throw new ValidationError("The context budget is not valid.", issues);
  const base = Math.max(0, modelWindow - responseReserve - toolDefinitions - systemPrompt);
  const skeletonReserve = hasParent ? Math.round(base * skeletonRatio) : 0;
  return {
    modelWindow,
    responseReserve,
    toolDefinitions,
    systemPrompt,
    skeletonReserve,
    available: base - skeletonReserve,
  };
}

/** A budget that somebody simply named. */
export function plainBudget(tokens: number): ContextBudget {
  return contextBudget({
    modelWindow: tokens,
    responseReserve: 0,
    toolDefinitions: 0,
    systemPrompt: 0,
    skeletonRatio: 0,
    hasParent: false,
  });
}
