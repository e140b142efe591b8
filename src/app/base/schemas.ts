/** Pieces that many inputs and outputs are made of. */
import { parseReasoning, REASONING_FORM, type Reasoning } from "../../domain/actor/reasoning.ts";
import * as z from "zod";
import type { JsonValue } from "../../domain/values/json.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";

/** A plan's id, or the first characters of it. */
export const PlanReference = z.string().min(1);

/**
 * The plan that is meant: its number, its id or the first characters of it, its name, `last`, or words of its request.
 * Without one, the newest plan of the directory that fits.
 */
export const PlanGiven = { plan: PlanReference.optional(), directory: z.string().optional() } as const;

/** A session's number, its id or the first characters of it, or `last`. */
export const SessionReference = z.string().min(1);

/** An instant in ISO 8601, UTC. */
export const Instant = z.string();

/** Data of a user or of a model: its keys are never translated. */
export const Json: z.ZodType<JsonValue> = z.json();

/** Each surface spells it in its own way (`wire.ts`). */
export const Next: z.ZodType<NextStep> = z.custom<NextStep>();

export const NextSteps = z.array(Next).readonly();

/** A file of definitions: its text, its name for messages, and whether it may come from another person. */
export const Document = z.strictObject({
  text: z.string(),
  file: z.string().default("the definition"),
  outside: z.boolean().default(false),
  /** Where it lies; undefined for a text without a file. */
  directory: z.string().optional(),
});

export function instant(at: number): string {
  return new Date(at).toISOString();
}

/** How much models think. */
export const Effort = z.string().transform((text, context): Reasoning => {
  const reasoning = parseReasoning(text);
  if (reasoning !== undefined) return reasoning;
  context.addIssue({ code: "custom", message: REASONING_FORM });
  return z.NEVER;
});
