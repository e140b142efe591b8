/**
 * A context from which a deadline took a strategy depends on the load of the machine, so it is not an answer: not on
 * stdout, not in an inspection, not in the prompt of a plan.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import type { AssembledContext } from "../model/context-model.ts";
import { isTimedOut } from "../stages/strategy-execution.ts";

/** @throws AgentsError with the code `timed_out` if a deadline ended a strategy. */
export function requireInTime({ outcomes }: Pick<AssembledContext, "outcomes">): void {
  const late = outcomes.filter(isTimedOut).map(({ strategy }) => strategy);
  if (late.length === 0) return;
  throw new AgentsError("timed_out", `The search timed out: ${late.join(", ")} did not finish in time.`, {
    kept: "The findings of the others were not shown or sent instead. Nothing was changed but the index.",
    next: [
      { text: "repeat the command when the machine is less busy" },
      { text: "or choose a strategy that is in time with --strategy" },
    ],
    detail: { strategies: late },
  });
}
