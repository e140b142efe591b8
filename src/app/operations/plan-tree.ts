import * as z from "zod";
import { revertReason } from "../../plans/revert-reason.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { DecisionTree, decisionTree } from "../queries/decision-tree.ts";
import { planMeant } from "../queries/plan-meant.ts";

/** An attempt that was given up, and why. */
const EarlierAttempt = DecisionTree.pick({ attempt: true, tree: true, summary: true }).extend({
  reason: z.string().nullable(),
});

export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    allAttempts: z.boolean().default(false),
    showSuperseded: z.boolean().default(false),
    depth: z.int().min(0).max(9_999).optional(),
  }),
  output: DecisionTree.extend({ earlierAttempts: z.array(EarlierAttempt) }),
  run: async (app, { plan: reference, directory, allAttempts, showSuperseded: superseded, depth }, call) => {
    const plan = await planMeant(app, { plan: reference, directory }, { operation: "plan.tree" }, call);
    const present = await decisionTree(app, plan, { superseded, depth });
    const earlierAttempts: z.output<typeof EarlierAttempt>[] = [];
    for (let attempt = 1; allAttempts && attempt < plan.attempt; attempt += 1) {
      const { tree, summary } = await decisionTree(app, plan, { superseded, depth, attempt });
      const reason = await (await app.store()).read((reader) => revertReason(reader, plan, attempt));
      earlierAttempts.push({ attempt, tree, summary, reason: reason ?? null });
    }
    return { ...present, earlierAttempts };
  },
});
