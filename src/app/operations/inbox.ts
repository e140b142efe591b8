import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { InboxPlan, inboxPlans } from "../queries/inbox.ts";
import { InboxDetails, inboxDetails } from "../queries/inbox-details.ts";
import { projectsHere } from "../queries/listed-plans.ts";

/**
 * The plans that concern their user now. A surface that shows them all the time asks again with the `counter` of the
 * answer before: where nothing was committed since, that is all it is told.
 */
export const operation = defineOperation({
  input: z.strictObject({
    /** Where the caller is: plans of this repository come first. */
    directory: z.string().optional(),
    /** Also the details of this plan. */
    plan: PlanReference.optional(),
    after: z.int().optional(),
  }),
  output: z.discriminatedUnion("changed", [
    z.strictObject({ changed: z.literal(false), counter: z.int() }),
    z.strictObject({
      changed: z.literal(true),
      counter: z.int(),
      plans: z.array(InboxPlan),
      details: InboxDetails.nullable(),
    }),
  ]),
  run: async (app, { directory, plan: named, after }) => {
    const store = await app.store();
    // Taken before the read: a commit that the read does not see changes the counter, and is seen the next time.
    const counter = await store.changeCounter();
    if (counter === after) return { changed: false as const, counter };
    const first = await projectsHere(app, directory);
    const plan = named === undefined ? undefined : await (await app.plans()).getPlan(named);
    const caps = await app.caps();
    const facts = await store.read(async (reader) => ({
      plans: await inboxPlans(reader, first),
      details: plan === undefined ? null : await inboxDetails(reader, plan, caps),
    }));
    return { changed: true as const, counter, ...facts };
  },
});
