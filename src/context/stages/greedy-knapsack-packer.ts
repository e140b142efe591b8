/**
 * Takes fragments by score as long as they fit. One that does not fit is tried with less detail, and if that does not help either it is
 * skipped and the next one has its chance. What is part of something already taken is not taken again; what contains something taken takes its place.
 *
 * The best find of each strategy has its chance before all others, within an equal share of the budget: however the scores fall, no
 * strategy is left out quietly.
 */
import { lessDetail } from "../../code-index/detail-level.ts";
import { compareScore, placeOf } from "../compare.ts";
import type { Exclusion, ScoredFragment } from "../model.ts";
import type { BudgetPacker, PackingHelp, Sifted } from "../stages.ts";
import { asDuplicate } from "./content-hash-deduplicator.ts";

/** Content below this says too little to be worth its heading. */
const MIN_TOKENS = 10;
/** Rendering the same thing with less detail costs time, so it is not tried without end. */
const MAX_RENDERINGS = 300;

export class GreedyKnapsackPacker implements BudgetPacker {
  readonly name = "GreedyKnapsackPacker";

  pack(fragments: readonly ScoredFragment[], tokens: number, help: PackingHelp): Sifted<ScoredFragment> {
    const excluded: Exclusion[] = [];
    const taken = new Set<ScoredFragment>();
    let left = tokens;
    let renderings = 0;

    const take = (fragment: ScoredFragment, limit: number): boolean => {
      const replaced = Array.from(taken).filter((other) => contains(fragment, other));
      const cost = help.cost(fragment) - replaced.reduce((sum, other) => sum + help.cost(other), 0);
      if (cost > Math.min(left, limit)) return false;
      for (const other of replaced) {
        taken.delete(other);
        excluded.push(asDuplicate(other));
      }
      taken.add(fragment);
      left -= cost;
      return true;
    };

    const takeLess = (fragment: ScoredFragment, limit: number): boolean => {
      for (const level of lessDetail(fragment.level)) {
        if (left < MIN_TOKENS || renderings >= MAX_RENDERINGS) return false;
        renderings++;
        const shallower = help.shallower(fragment, level);
        if (shallower === undefined || shallower.tokens < MIN_TOKENS || shallower.tokens >= fragment.tokens) continue;
        if (take(shallower, limit)) return true;
      }
      return false;
    };

    const sorted = fragments.toSorted(compareScore);
    const firsts = firstOfEach(sorted.filter(({ tokens: size }) => size >= MIN_TOKENS));
    const share = Math.floor(tokens / Math.max(1, firsts.size));
    const settled = new Set<ScoredFragment>();
    for (const fragment of firsts) {
      if (take(fragment, share) || takeLess(fragment, share)) settled.add(fragment);
    }

    for (const fragment of sorted) {
      if (settled.has(fragment)) continue;
      const { entity, strategies } = fragment;
      const leaveOut = (reason: Exclusion["reason"]): void => {
        excluded.push({ entity, strategies, tokens: fragment.tokens, reason });
      };
      if (fragment.tokens < MIN_TOKENS) leaveOut("too small");
      else if (Array.from(taken).some((other) => contains(other, fragment))) leaveOut("duplicate");
      else if (!take(fragment, tokens) && !takeLess(fragment, tokens)) leaveOut("budget");
    }
    return { fragments: Array.from(taken), excluded };
  }
}

/** The best fragment of each strategy, the best of these first. */
function firstOfEach(sorted: readonly ScoredFragment[]): ReadonlySet<ScoredFragment> {
  const firsts = new Map<string, ScoredFragment>();
  for (const fragment of sorted) {
    for (const name of fragment.strategies) if (!firsts.has(name)) firsts.set(name, fragment);
  }
  return new Set(Array.from(firsts.values()).toSorted(compareScore));
}

/** Whether everything the second shows is in the first, which must therefore be shown in full. */
function contains(whole: ScoredFragment, part: ScoredFragment): boolean {
  if (whole.level !== "full" || whole.provenance === undefined || part.provenance === undefined) return false;
  return (
    placeOf(whole) === placeOf(part) &&
    whole.provenance.startLine <= part.provenance.startLine &&
    whole.provenance.endLine >= part.provenance.endLine
  );
}
