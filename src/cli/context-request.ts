import { compareDetail, DETAIL_LEVELS, type DetailLevel } from "../code-index/detail-level.ts";
import type { ContextRequest } from "../context/model.ts";
import { parseTokens } from "../domain/context-policy.ts";
import { DEFAULT_BREADTH } from "../domain/context-settings.ts";
import { UsageError } from "../domain/errors.ts";
import { nearest } from "../domain/suggest.ts";
import { shown, textProblem } from "../domain/text.ts";
import type { Input } from "./command-spec.ts";

/** What is asked for on the command line, as a request. */
export interface AskedContext {
  readonly request: ContextRequest;
  /** Tokens somebody named; undefined for what the policy or the model's window says. */
  readonly budget: number | undefined;
  readonly model: string | undefined;
}

const MOST_STEPS = 10;
const LONGEST_QUERY = 10_000;

export function askedContext(input: Input, query: string): AskedContext {
  const problem = textProblem(query, LONGEST_QUERY);
  if (problem !== undefined) throw refused(`The question ${problem}.`);
  const focus = input.texts("focus");
  for (const one of focus) {
    const wrong = one.trim() === "" ? "is empty" : textProblem(one, 4_096);
    if (wrong !== undefined) throw refused(`--focus ${shown(one)} ${wrong}.`);
  }
  const budget = input.text("budget");
  return {
    request: {
      query,
      entities: [],
      focus,
      breadth: breadthOf(input.text("breadth")),
      depth: depthOf(input.text("depth")),
      strategy: input.text("strategy"),
      preferredStrategies: [],
      requiredBackends: [],
    },
    budget: budget === undefined ? undefined : parseTokens(budget, "--budget", 0),
    model: input.text("model"),
  };
}

function breadthOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_BREADTH;
  if (/^\d{1,2}$/.test(text) && Number(text) <= MOST_STEPS) return Number(text);
  throw refused(`--breadth ${shown(text)} cannot be used: it must be a number of steps from 0 to ${MOST_STEPS}.`);
}

/** By name, hyphens allowed; by number as the position among the names. */
function depthOf(text: string | undefined): DetailLevel {
  if (text === undefined) return "full";
  const word = text.toLowerCase().replaceAll("-", "_");
  const level = DETAIL_LEVELS.find((name, index) => name === word || String(index) === word);
  if (level !== undefined) return level;
  const suggestion = nearest(word, DETAIL_LEVELS);
  const meant = suggestion === undefined ? "" : ` — did you mean "${suggestion}"?`;
  throw refused(`There is no depth ${shown(text)} (there are: ${DETAIL_LEVELS.join(", ")})${meant}`);
}

/** A level's position, beside its name. */
export function depthNumber(level: DetailLevel): number {
  return compareDetail(level, DETAIL_LEVELS[0]);
}

function refused(message: string): UsageError {
  return new UsageError(message, { kept: "Nothing was changed." });
}
