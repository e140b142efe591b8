/**
 * Where a plan stands in the words of its user. Phase and state say it exactly, for machines; a person wants to know
 * whether something happens by itself, and if not, who is waited for.
 */
import { statusKey, type PlanStatus } from "./transitions.ts";

/** Where a plan stands, as people say it. */
export const STANDINGS = [
  "not started",
  "working",
  "waiting for you",
  "stopped",
  "ready to review",
  "answered",
  "applied",
  "undone",
  "not chosen",
  "cancelled",
] as const;
export type Standing = (typeof STANDINGS)[number];

export interface StandingFacts {
  readonly undone: boolean;
  /** It has an open question. */
  readonly asks: boolean;
  /** A process works on it now. */
  readonly isWorkedOn: boolean;
  /** It has recorded changes. */
  readonly hasChanges: boolean;
  /** Another candidate of its group was chosen: it waits for nothing. */
  readonly passedOver?: boolean;
}

/** In a sentence: "the plan is planned but not executed". */
export function stateText({ phase, state }: { readonly phase: string; readonly state: PlanStatus["state"] }): string {
  switch (state) {
    case "applied":
    case "cancelled":
      return state;
    case "errored":
    case "constrained":
      return `stopped in ${phase}`;
    case "processing":
      return `at work in ${phase}`;
    case "queued":
      return phase === "strategize" ? "not started" : `waiting to ${phase}`;
    case "complete":
      return phase === "strategize" ? "planned but not executed" : "executed but not applied";
  }
}

export function standingOf(status: PlanStatus, facts: StandingFacts): Standing {
  if (status.state === "cancelled") return "cancelled";
  if (status.state === "applied") return facts.undone ? "undone" : "applied";
  if (facts.passedOver === true) return "not chosen";
  if (facts.asks) return "waiting for you";
  if (facts.isWorkedOn) return "working";
  if (statusKey(status) === "strategize/complete") return "waiting for you";
  if (statusKey(status) === "strategize/queued") return "not started";
  if (statusKey(status) !== "execute/complete") return "stopped";
  return facts.hasChanges ? "ready to review" : "answered";
}
