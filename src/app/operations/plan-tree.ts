import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { DecisionTree, decisionTree } from "../queries/decision-tree.ts";

export const operation = defineOperation({
  input: z.strictObject({
    plan: PlanReference,
    showSuperseded: z.boolean().default(false),
    depth: z.int().min(0).max(9_999).optional(),
  }),
  output: DecisionTree,
  run: async (app, { plan, showSuperseded, depth }) =>
    decisionTree(app, await (await app.plans()).getPlan(plan), { superseded: showSuperseded, depth }),
});
