import { ConflictError } from "../../domain/errors.ts";
import { isTerminal, statusKey } from "../../domain/transitions.ts";
import type { CommandContext } from "../command-context.ts";
import { Input } from "../command-spec.ts";
import type { Outcome } from "../outcome.ts";
import { planApply } from "./plan-apply.ts";
import { planExecute } from "./plan-execute.ts";

/** What was begun goes on; what needs a decision of yours is not taken. */
export async function planResume(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  if (isTerminal(plan) || plan.state === "constrained") {
    throw new ConflictError(
      `The plan ${plan.id} is ${statusKey(plan)}: there is nothing to go on with.`,
      { expected: "a plan that stopped on its way", actual: statusKey(plan), code: "invalid_transition" },
      {
        kept: "Nothing was changed.",
        next: [plan.state === "constrained" ? `agents plan revert ${plan.id}` : `agents plan status ${plan.id}`],
      },
    );
  }
  const verified = { verify: true };
  // An apply that was begun had been agreed to.
  if (plan.phase === "apply") return planApply(context, new Input([plan.id], { ...verified, yes: true }));
  return planExecute(context, new Input([plan.id], verified));
}
