import * as z from "zod";
import { setPlanEffort } from "../../ledger/plan-effort.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort, PlanGiven } from "../base/schemas.ts";
import { offerBrought } from "../procedures/accept-repository.ts";
import { announceConfinement, Executed, executePlan, StrategyReady } from "../procedures/execute-plan.ts";
import { Queued, queueSeen } from "../procedures/queue-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    effort: Effort.optional(),
    includeDirty: z.boolean().default(false),
    verify: z.boolean().default(true),
    /** Leave it to a plan worker. */
    background: z.boolean().default(false),
  }),
  output: z.discriminatedUnion("outcome", [StrategyReady, Executed, Queued]),
  run: async (app, { plan: named, directory, effort, includeDirty, verify, background }, call) => {
    const plan = await planMeant(
      app,
      { plan: named, directory },
      { operation: "plan.execute", standings: ["not started", "stopped", "waiting for you"] },
      call,
    );
    if (effort !== undefined) {
      const change = { planId: plan.id, effort, user: await app.user() };
      await (await app.store()).transaction((tx) => setPlanEffort(tx, change));
    }
    if (background) {
      const options = { includeDirty, verify, applyAnyway: false, approve: false };
      return queueSeen(app, plan, { kind: "execute", options });
    }
    const commands = await announceConfinement(app, plan, call);
    await offerBrought(app, plan, call, false);
    return executePlan(app, { id: plan.id, commands, includeDirty, verify }, call);
  },
});
