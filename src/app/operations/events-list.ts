import * as z from "zod";
import { eventsAfter, newestSequence } from "../../ledger/event-log.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { EventFacts, eventFacts } from "../queries/event-facts.ts";

const MOST = 500;

/** The stored events in commit order, page by page: the next page begins after the last one's sequence. */
export const operation = defineOperation({
  input: z.strictObject({
    /** Events behind this sequence number; 0 is the beginning. */
    after: z.int().min(0).default(0),
    plan: PlanReference.optional(),
    limit: z.int().min(1).max(MOST).default(MOST),
  }),
  output: z.strictObject({
    events: z.array(EventFacts),
    /** The sequence number of the newest event of the whole log. */
    newest: z.int(),
  }),
  run: async (app, { after, plan: named, limit }) => {
    const planId = named === undefined ? undefined : (await (await app.plans()).getPlan(named)).id;
    return (await app.store()).read(async (reader) => ({
      events: (await eventsAfter(reader, { after, planId, limit })).map(eventFacts),
      newest: await newestSequence(reader),
    }));
  },
});
