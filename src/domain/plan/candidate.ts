/** Several plans of one request, carried out side by side: which of them are compared, and how one is chosen. */
import type { PlanId } from "../names/ids.ts";
import type { Microdollars } from "../money/money.ts";

/** How one is chosen without asking a person which. */
export const CHOICE_RULES = ["checks", "cheapest", "judge"] as const;
export type ChoiceRule = (typeof CHOICE_RULES)[number];

/** More than this at once would only wait for each other, and each pays for its own look at the code. */
export const CANDIDATE_LIMIT = 8;

/** All candidates of one request. */
export interface CandidateGroup {
  readonly id: string;
  /** In the order in which they were made. */
  readonly plans: readonly PlanId[];
  /** The most that all of them together, and the judge, may cost. */
  readonly cap: Microdollars | undefined;
  /** The actor that recommends one, if the user wanted that. */
  readonly judge: string | undefined;
  readonly rule: ChoiceRule | undefined;
  /** Where a session begins with the one that is chosen. */
  readonly directory: string | undefined;
  readonly chosen: { readonly plan: PlanId; readonly at: number } | undefined;
  readonly createdAt: number;
}

/** As far as it matters for a choice. */
export interface ComparedCandidate {
  readonly plan: PlanId;
  /** It is executed, changed something, and no required validation stands in the way. */
  readonly applicable: boolean;
  readonly checked: "passed" | "failed" | "not_checked";
  readonly cost: Microdollars;
}

const CHECK_ORDER = { passed: 0, not_checked: 1, failed: 2 } as const;

/**
 * The candidate that a rule chooses; undefined when none can be applied. By default: checks passed before not checked
 * before failed, then the judge's, then the cheapest, then the first. `cheapest` looks at the cost first, `judge` at
 * the recommendation.
 */
export function bestCandidate(
  candidates: readonly ComparedCandidate[],
  by: { readonly rule?: ChoiceRule | undefined; readonly recommended?: PlanId | undefined } = {},
): ComparedCandidate | undefined {
  const { rule = "checks", recommended } = by;
  const checks = (one: ComparedCandidate): number => CHECK_ORDER[one.checked];
  const judged = (one: ComparedCandidate): number => (one.plan === recommended ? 0 : 1);
  const cost = (one: ComparedCandidate): number => one.cost;
  const orders = {
    checks: [checks, judged, cost],
    cheapest: [cost, checks, judged],
    judge: [judged, checks, cost],
  }[rule];
  const before = (a: ComparedCandidate, b: ComparedCandidate): number => {
    for (const order of orders) if (order(a) !== order(b)) return order(a) - order(b);
    return 0;
  };
  return candidates.filter(({ applicable }) => applicable).toSorted(before)[0];
}
