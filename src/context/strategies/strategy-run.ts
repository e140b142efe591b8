/** The common part of every strategy: nothing for no tokens, and the index of the scope opened. */
import type { ScopedIndex } from "../../code-index/model/scoped-index.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import type { ContextFragment, StrategyInput } from "../model/context-model.ts";
import type { StrategyContext } from "../executor/strategy-protocol.ts";
import { type Allowance, fill, type Candidate } from "./fit-fragments.ts";

export type ContextStrategyFunction = (
  input: StrategyInput,
  context: StrategyContext,
) => readonly ContextFragment[] | Promise<readonly ContextFragment[]>;

export type CandidateSource = (index: ScopedIndex, input: StrategyInput, allowance: Allowance) => Iterable<Candidate>;

/** A strategy that finds its fragments in the index. */
export function candidateStrategy(candidatesOf: CandidateSource): ContextStrategyFunction {
  return (input, context) =>
    withIndex(input, context, (index, allowance) => fill(candidatesOf(index, input, allowance), allowance));
}

export function withIndex<Result>(
  input: StrategyInput,
  { tokens, signal }: StrategyContext,
  use: (index: ScopedIndex, allowance: Allowance) => readonly Result[],
): readonly Result[] {
  if (tokens <= 0) return [];
  const opened = sharedIndex(input.scope);
  try {
    const found = use(opened.index, { tokens, signal });
    opened.closing = setTimeout(closeShared, PATIENCE_MS).unref();
    return found;
  } catch (error) {
    closeShared();
    throw error;
  }
}

/**
 * The strategies of a question come to a thread one after another, so each finds the index open, with the cached
 * results of the one before it.
 */
const PATIENCE_MS = 50;
let shared: { readonly key: string; readonly index: ScopedIndex; closing: NodeJS.Timeout | undefined } | undefined;

function sharedIndex(scope: IndexScope): NonNullable<typeof shared> {
  const key = JSON.stringify(scope);
  if (shared?.key !== key) {
    closeShared();
    shared = { key, index: openScopedIndex(scope), closing: undefined };
  }
  clearTimeout(shared.closing);
  return shared;
}

function closeShared(): void {
  clearTimeout(shared?.closing);
  shared?.index[Symbol.dispose]();
  shared = undefined;
}
