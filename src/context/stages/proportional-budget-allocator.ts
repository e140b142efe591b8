/**
 * Splits a budget in proportion to confidence. Of several strategies none gets more than three fifths and none less
 * than a tenth (if there are more than five: than an equal share of the other two fifths), so that all selected ones
 * contribute. The rest of the rounding goes to the largest remainders, so the parts sum to the whole exactly.
 */
import type { SelectedStrategy } from "../model/context-model.ts";
import type { BudgetAllocator, RankedStrategy } from "../model/stage-interfaces.ts";

const FLOOR = 0.1;
const CAP = 0.6;

export class ProportionalBudgetAllocator implements BudgetAllocator {
  readonly name = "ProportionalBudgetAllocator";

  allocate(selected: readonly RankedStrategy[], tokens: number): readonly SelectedStrategy[] {
    const shares = clampedShares(selected.map(({ confidence }) => confidence));
    const parts = wholeParts(shares, tokens);
    return selected.map((strategy, index) => ({ ...strategy, tokens: parts[index] ?? 0 }));
  }
}

/** Shares that sum to 1. A share beyond a bound is set to the bound and the rest is split again among the others. */
function clampedShares(weights: readonly number[]): readonly number[] {
  if (weights.length === 1) return [1];
  const floor = Math.min(FLOOR, (1 - CAP) / (weights.length - 1));
  const fixed = new Map<number, number>();
  for (;;) {
    const free = weights.map((_, index) => index).filter((index) => !fixed.has(index));
    const left = 1 - Array.from(fixed.values()).reduce((sum, share) => sum + share, 0);
    const weight = free.reduce((sum, index) => sum + (weights[index] ?? 0), 0);
    const share = (index: number): number =>
      weight === 0 ? left / free.length : ((weights[index] ?? 0) / weight) * left;
    const above = free.filter((index) => share(index) > CAP);
    const below = free.filter((index) => share(index) < floor);
    // One side at a time: the tokens that the ones above give back may lift the ones below.
    if (above.length > 0) for (const index of above) fixed.set(index, CAP);
    else if (below.length > 0 && below.length < free.length) for (const index of below) fixed.set(index, floor);
    else return weights.map((_, index) => fixed.get(index) ?? share(index));
  }
}

function wholeParts(shares: readonly number[], tokens: number): readonly number[] {
  const exact = shares.map((share) => share * tokens);
  const parts = exact.map(Math.floor);
  const left = tokens - parts.reduce((sum, part) => sum + part, 0);
  const remainder = (index: number): number => (exact[index] ?? 0) - (parts[index] ?? 0);
  const order = shares.map((_, index) => index).toSorted((a, b) => remainder(b) - remainder(a) || a - b);
  for (let given = 0; given < left && order.length > 0; given++) {
    const index = order[given % order.length] ?? 0;
    parts[index] = (parts[index] ?? 0) + 1;
  }
  return parts;
}
