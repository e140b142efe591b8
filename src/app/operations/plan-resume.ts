import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { stateText } from "../../domain/plan/standing.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { announceConfinement, Executed, executePlan, StrategyReady } from "../procedures/execute-plan.ts";
import { Applied, applyPlan, NotApplied } from "../procedures/land-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

/** Continues what was begun; a decision that is the user's to make is not made here. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: z.union([StrategyReady, Executed, Applied, NotApplied]),
  run: async (app, given, call) => {
    const plan = await planMeant(
      app,
      given,
      { operation: "plan.resume", standings: ["not started", "stopped", "waiting for you"] },
      call,
    );
    if (isTerminal(plan) || plan.state === "constrained") {
      throw new ConflictError(
        `The plan ${plan.id} is ${stateText(plan)}: there is nothing to continue.`,
        { expected: "a plan that stopped on its way", actual: statusKey(plan), code: "invalid_transition" },
        {
          kept: "Nothing was changed.",
          next: [nextStep(plan.state === "constrained" ? "plan.revert" : "plan.status", { plan: plan.id })],
        },
      );
    }
    // An apply that was begun had been agreed to.
    if (plan.phase === "apply") return applyPlan(app, plan, { allowEmpty: false, verify: true, agreed: true }, call);
    const commands = await announceConfinement(app, plan, call);
    return executePlan(app, { id: plan.id, commands, includeDirty: false, verify: true }, call);
  },
});
