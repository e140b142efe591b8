import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { AttachmentFacts, attachmentFacts } from "../queries/validation-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    resource: z.string(),
    validation: z.string(),
    project: z.string().optional(),
    plan: PlanReference.optional(),
  }),
  output: z.strictObject({ attached: z.literal(true), attachment: AttachmentFacts }),
  run: async (app, { resource, validation, project, plan }) => {
    if (project !== undefined && plan !== undefined) {
      throw new UsageError("Give a project or a plan, not both; with neither it is attached everywhere.", {
        kept: "Nothing was changed.",
        next: [
          nextStep("validation.attach", { resource, validation, project }),
          nextStep("validation.attach", { resource, validation, plan }),
        ],
      });
    }
    const planId = plan === undefined ? undefined : (await (await app.plans()).getPlan(plan)).id;
    const attachment = await (await app.validations()).attach({ resource, validation, project, plan: planId });
    return { attached: true as const, attachment: attachmentFacts(attachment) };
  },
});
