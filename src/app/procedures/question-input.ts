/** Turns an operation's input into the question that the context assembler takes. */
import * as z from "zod";
import { parseTokens } from "../../domain/context/context-policy.ts";
import { DEFAULT_BREADTH, type ContextQuestion } from "../../domain/context/context-question.ts";
import { DETAIL_LEVELS, type DetailLevel } from "../../domain/context/detail-level.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown, textProblem } from "../../domain/text/text.ts";

const MOST_STEPS = 10;
const BREADTH_RULE = `must be a whole number from 0 to ${MOST_STEPS}`;
const LONGEST_QUERY = 10_000;
const LONGEST_FOCUS = 4_096;

/** The part of the input that `inspect`, `simulate` and `pack` share. */
export const QuestionInput = z.strictObject({
  focus: z.array(z.string()).default([]),
  breadth: z.int(BREADTH_RULE).min(0, BREADTH_RULE).max(MOST_STEPS, BREADTH_RULE).default(DEFAULT_BREADTH),
  depth: z.string().default("full"),
  strategy: z.string().optional(),
  /** Tokens: "8000", "32k". */
  budget: z.string().optional(),
  model: z.string().optional(),
});

export interface AskedContext {
  readonly question: ContextQuestion;
  /** Tokens that the caller named; undefined for what the policy or the model's window says. */
  readonly budget: number | undefined;
  readonly model: string | undefined;
}

export function askedContext(query: string, input: z.output<typeof QuestionInput>): AskedContext {
  const { focus, breadth, depth, strategy, budget, model } = input;
  const problem = textProblem(query, LONGEST_QUERY);
  if (problem !== undefined) throw questionError(`The question ${problem}.`);
  for (const one of focus) {
    const wrong = one.trim() === "" ? "is empty" : textProblem(one, LONGEST_FOCUS);
    if (wrong !== undefined) throw questionError(`--focus ${shown(one)} ${wrong}.`);
  }
  return {
    question: {
      query,
      entities: [],
      focus,
      breadth,
      depth: detailLevel(depth),
      strategy,
      preferredStrategies: [],
      requiredBackends: [],
    },
    budget: budget === undefined ? undefined : parseTokens(budget, "--budget", 0),
    model,
  };
}

/** By name, hyphens allowed; by number as the position among the names. */
function detailLevel(text: string): DetailLevel {
  const word = text.toLowerCase().replaceAll("-", "_");
  const level = DETAIL_LEVELS.find((name, index) => name === word || String(index) === word);
  if (level !== undefined) return level;
  const suggestion = nearest(word, DETAIL_LEVELS);
  const meant = suggestion === undefined ? "" : ` — did you mean "${suggestion}"?`;
  throw questionError(`There is no depth ${shown(text)} (there are: ${DETAIL_LEVELS.join(", ")})${meant}`);
}

function questionError(message: string): UsageError {
  return new UsageError(message, { kept: "Nothing was changed." });
}
