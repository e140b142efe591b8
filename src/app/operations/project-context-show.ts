import * as z from "zod";
import { CONTEXT_VIEWS, parseView } from "../../domain/context/context-policy.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { PolicyFacts, policyFacts } from "../queries/policy-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string(), view: z.string().optional() }),
  output: PolicyFacts.extend({
    /** The project sets something itself. */
    customized: z.boolean(),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, input) => {
    const views = input.view === undefined ? CONTEXT_VIEWS : [parseView(input.view)];
    const found = await (await app.policies()).getPolicy(input.project);
    return {
      ...policyFacts(found, views),
      customized: Object.keys(found.policy).length > 0,
      nextSteps: [nextStep("project.context.inspect", { project: found.project })],
    };
  },
});
