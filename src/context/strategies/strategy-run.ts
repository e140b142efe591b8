/** What every strategy does the same: nothing for no tokens, the index of the scope opened and closed. */
import type { ScopedIndex } from "../../code-index/scoped-index.ts";
import { openScopedIndex } from "../../code-index/open-scoped-index.ts";
import type { ContextFragment, StrategyInput } from "../model.ts";
import type { StrategyContext } from "../strategy-protocol.ts";
import { type Allowance, fill, type Find } from "./finds.ts";

export type ContextStrategyFunction = (
  input: StrategyInput,
  context: StrategyContext,
) => readonly ContextFragment[] | Promise<readonly ContextFragment[]>;

export type FindAll = (index: ScopedIndex, input: StrategyInput, allowance: Allowance) => Iterable<Find>;

/** A strategy that finds its fragments in the index. */
export function finding(findAll: FindAll): ContextStrategyFunction {
  return (input, context) =>
    withIndex(input, context, (index, allowance) => fill(findAll(index, input, allowance), allowance));
}

export function withIndex<Result>(
  input: StrategyInput,
  { tokens, signal }: StrategyContext,
  use: (index: ScopedIndex, allowance: Allowance) => readonly Result[],
): readonly Result[] {
  if (tokens <= 0) return [];
  using index = openScopedIndex(input.scope);
  return use(index, { tokens, signal });
}
