import * as z from "zod";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string(), force: z.boolean().default(false) }),
  output: z.discriminatedUnion("deleted", [
    z.strictObject({
      deleted: z.literal(true),
      deletionSummary: z.strictObject({
        project: z.string(),
        plansCancelled: z.array(z.string()).readonly(),
        resourcesUnlinked: z.int(),
      }),
    }),
    z.strictObject({ deleted: z.literal(false) }),
  ]),
  run: async (app, { project, force }, call) => {
    const projects = await app.projects();
    const { name, activePlans } = await projects.getProject(project);
    const plans = activePlans === 1 ? "1 active plan" : `${activePlans} active plans`;
    const also = force && activePlans > 0 ? ` and cancel ${plans}` : "";
    if (!(await confirmed(call, `Delete the project ${name}${also}?`))) return { deleted: false as const };
    const { cancelled, unlinked } = await projects.deleteProject(name, { force });
    return {
      deleted: true as const,
      deletionSummary: { project: name, plansCancelled: cancelled, resourcesUnlinked: unlinked.length },
    };
  },
});
