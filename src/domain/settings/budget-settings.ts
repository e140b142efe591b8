import { parseDollars, type Microdollars } from "../money/money.ts";
import type { Setting } from "./settings.ts";

/** The budgets for models. "none" removes a limit; 0 is a limit, under which only what is free may be asked. */
const NO_LIMIT = "none";

/** Undefined for no limit. */
export function capOf(value: string | undefined): Microdollars | undefined {
  return value === undefined || value === NO_LIMIT ? undefined : parseDollars(value);
}

export function capProblem(value: string): string | undefined {
  return value === NO_LIMIT || parseDollars(value) !== undefined
    ? undefined
    : `must be an amount of dollars like 2.50, or "${NO_LIMIT}" for no limit`;
}

const common = { default: undefined, perProject: false, problem: capProblem } as const;

export const BUDGET_SETTINGS: readonly Setting[] = [
  {
    ...common,
    key: "budget.per-plan",
    env: "CLEVERAGENTS_BUDGET_PER_PLAN",
    description: "Dollars that the models of one plan may cost; a plan's own budget can only be lower",
  },
  {
    ...common,
    key: "budget.per-run",
    default: "5",
    env: "CLEVERAGENTS_BUDGET_PER_RUN",
    description:
      "Dollars that the models of a plan of `agents run`, or of a run of `agents gateway`, may cost unless --budget or budget.per-plan says so",
  },
  {
    ...common,
    key: "budget.per-day",
    env: "CLEVERAGENTS_BUDGET_PER_DAY",
    description: "Dollars that all models together may cost in a day, which begins at 00:00 UTC",
  },
];
