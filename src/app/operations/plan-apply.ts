import * as z from "zod";
import { requireVersion } from "../../plans/transition.ts";
import { chooseIfOpen } from "../../plans/candidates.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { Applied, applyPlan, NotApplied } from "../procedures/land-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    accepted: z.boolean().default(false),
    onto: z.string().min(1).optional(),
    allowEmpty: z.boolean().default(false),
    verify: z.boolean().default(true),
    expectedVersion: z.int().optional(),
  }),
  output: z.discriminatedUnion("applied", [Applied, NotApplied]),
  run: async (app, { plan: named, directory, expectedVersion, ...options }, call) => {
    const seen = await planMeant(
      app,
      { plan: named, directory },
      { operation: "plan.apply", standings: ["ready to review"], matters: true },
      call,
    );
    requireVersion(seen, expectedVersion);
    const parts = { store: await app.store(), user: await app.user() };
    return applyPlan(app, seen, { ...options, onYes: () => chooseIfOpen(parts, seen.id) }, call);
  },
});
