import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import * as z from "zod";
import { directorySource, type ContextSource } from "../../catalog/project-context.ts";
import { AgentsError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { assembleContext } from "../procedures/assemble-context.ts";
import { askedContext, QuestionInput } from "../procedures/question-input.ts";
import {
  BudgetFacts,
  budgetFacts,
  ContextDetails,
  contextDetails,
  emptyReason,
  IndexFacts,
  indexFacts,
  StrategyFacts,
  strategyFacts,
} from "../queries/context-facts.ts";

/** Fits beside a conversation in most models' windows. */
const DEFAULT_TOKENS = 32_000;

/** A ready context for any model, of any directory. */
export const operation = defineOperation({
  input: QuestionInput.extend({
    question: z.string().default(""),
    /** The directory that the caller is in. */
    directory: z.string(),
    /** This repository or directory instead of the one around the caller. */
    path: z.string().optional(),
  }),
  output: ContextDetails.extend({
    question: z.string(),
    root: z.string(),
    text: z.string(),
    focus: z.array(z.string()).readonly(),
    activeStrategies: z.array(StrategyFacts),
    budget: BudgetFacts,
    index: z.array(IndexFacts),
  }),
  run: async (app, { question: words, directory: here, path, ...rest }, call) => {
    const question = words.trim();
    if (question === "" && rest.focus.length === 0) {
      throw new UsageError("Ask a question, or name a --focus.", {
        kept: "Nothing was read.",
        next: [nextStep("context.pack", { question: "where are sessions checked?" })],
      });
    }
    const directory = path ?? here;
    const source = directorySource(directory, path !== undefined);
    const focus = rest.focus.map((entry) => belowRoot(entry, source, directory));
    const asked = askedContext(question, { ...rest, focus });
    const budget = asked.budget ?? DEFAULT_TOKENS;
    const result = await assembleContext(app, { source, asked: { ...asked, budget } }, call);
    const { assembled } = result;
    const details = contextDetails(assembled);
    const index = indexFacts(result.indexed);
    const strategies = assembled.strategies.map(({ name }) => name);
    const nothing = emptyReason({ query: question, budget: assembled.budget.available, strategies, index, details });
    if (nothing !== undefined) throw emptyContextError(nothing, source);
    return {
      question,
      root: source.name,
      text: assembled.text,
      focus,
      activeStrategies: strategyFacts(assembled),
      budget: budgetFacts(assembled, asked.budget === undefined ? "default" : "override"),
      ...details,
      index,
    };
  },
});

/** An empty context must not go unnoticed into a pipe. */
function emptyContextError(why: string, source: ContextSource): AgentsError {
  return new AgentsError("not_found", why, {
    kept: "Nothing was printed.",
    next: [nextStep("context.analyze", { path: source.name })],
    detail: { root: source.name },
  });
}

/** A path may be meant from where the caller is, below the root of the repository. */
function belowRoot(entry: string, source: ContextSource, directory: string): string {
  const [path = "", ...symbol] = entry.split("#");
  const full = resolve(directory, path);
  const inside = relative(source.name, full);
  if (!existsSync(full) || inside === "" || inside.startsWith("..")) return entry;
  return [inside.replaceAll(sep, "/"), ...symbol].join("#");
}
