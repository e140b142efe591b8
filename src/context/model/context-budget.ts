/** The division of a model's window of tokens: its reserves, and the rest, which is for the context. */
import { ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import type { ContextBudget } from "./context-model.ts";

export interface BudgetParts {
  /** All tokens a model can take, its answer included. */
  readonly modelWindow: number;
  readonly responseReserve: number;
  readonly toolDefinitions: number;
  readonly systemPrompt: number;
}

/**
 * Where the tokens of a model's window go. Reserves that leave nothing leave 0, never less.
 *
 * ```ts
 * contextBudget({
 *   modelWindow: 128_000, responseReserve: 4_096, toolDefinitions: 2_400, systemPrompt: 1_200,
 * }).available; // 120_304
 * ```
 */
export function contextBudget(parts: BudgetParts): ContextBudget {
  const { modelWindow, responseReserve, toolDefinitions, systemPrompt } = parts;
  const issues: ValidationIssue[] = [];
  for (const [path, value] of Object.entries({ modelWindow, responseReserve, toolDefinitions, systemPrompt })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    issues.push({ path, message: `must be a whole number of tokens, not ${String(value)}` });
  }
  if (issues.length > 0) throw new ValidationError("The context budget is not valid.", issues);
  const available = Math.max(0, modelWindow - responseReserve - toolDefinitions - systemPrompt);
  return { modelWindow, responseReserve, toolDefinitions, systemPrompt, available };
}

/** A budget that the caller gave as a number. */
export function plainBudget(tokens: number): ContextBudget {
  return contextBudget({ modelWindow: tokens, responseReserve: 0, toolDefinitions: 0, systemPrompt: 0 });
}
