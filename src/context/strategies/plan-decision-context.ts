/** The knowledge of the plan itself: its earlier decisions with their outcomes, and the files it has changed so far. */
import type { ContextFragment, KnownDecision, PlanKnowledge } from "../model/context-model.ts";
import { estimateTokens } from "../tokens/estimate-tokens.ts";
import { fileCandidate, fill, type Candidate } from "./fit-fragments.ts";
import { type ContextStrategyFunction, withIndex } from "./strategy-run.ts";

/** The part of its tokens that decisions may take; the rest is for changed files. */
const FOR_DECISIONS = 0.5;
const MOST_CHANGED = 100;
const CHANGED = "this plan changed it";

export const planDecisionContext: ContextStrategyFunction = (input, context) => {
  const { plan, request } = input;
  if (plan === undefined) return [];
  return withIndex(input, context, (index, allowance) => {
    const decisions = decisionFragments(plan, Math.floor(allowance.tokens * FOR_DECISIONS));
    const spent = decisions.reduce((sum, { tokens }) => sum + tokens, 0);
    const changed = plan.changedPaths.slice(0, MOST_CHANGED).flatMap((place, position): readonly Candidate[] => {
      const colon = place.indexOf(":");
      const file = index.file(place.slice(0, colon), place.slice(colon + 1));
      const relevance = 0.9 / (1 + position / 10);
      // A file that the plan deleted cannot be shown.
      return file === undefined ? [] : [fileCandidate(index, file, request.depth, { relevance, reason: CHANGED })];
    });
    return [...decisions, ...fill(changed, { ...allowance, tokens: allowance.tokens - spent })];
  });
};

/** The latest first, as many as fit; one that is too long is skipped. */
function decisionFragments({ decisions }: PlanKnowledge, tokens: number): readonly ContextFragment[] {
  const told: ContextFragment[] = [];
  let left = tokens;
  for (const [place, decision] of decisions.toReversed().entries()) {
    const content = sentenceOf(decision);
    const own = estimateTokens(content);
    if (own > left) continue;
    left -= own;
    told.push({
      content,
      tokens: own,
      entity: `decision:${decision.id}`,
      level: "full",
      relevance: 1 / (1 + place / 10),
      provenance: undefined,
      reason: "decided before in this plan",
    });
  }
  return told;
}

function sentenceOf({ type, question, answer, outcome }: KnownDecision): string {
  const asked = question === "" ? "" : `${question}\n`;
  return `${type}: ${asked}${answer}${outcome === undefined ? "" : `\noutcome: ${outcome}`}\n`;
}
