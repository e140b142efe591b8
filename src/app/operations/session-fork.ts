import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { forkSession } from "../../runs/fork-session.ts";
import { sessionPlans } from "../../store/tables/sessions.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, SessionReference } from "../base/schemas.ts";
import { factsOf, SessionFacts, sessionNamed } from "../queries/session-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    session: SessionReference,
    directory: z.string(),
    /** The plan up to which turns are shared, by its id or its turn; the last one unless given. */
    at: z.string().optional(),
  }),
  output: SessionFacts.extend({ nextSteps: NextSteps }),
  run: async (app, { session: given, directory, at: named }) => {
    const session = await sessionNamed(app, given, directory);
    const store = await app.store();
    const places = await store.read((reader) => sessionPlans(reader, session.id));
    const turn = places.find(({ position }) => String(position) === named)?.planId;
    const at = named === undefined ? undefined : (turn ?? (await (await app.plans()).getPlan(named)).id);
    const id = await forkSession(store, { session, at, user: await app.user() });
    const facts = await store.read((reader) => factsOf(reader, id));
    return { ...facts, nextSteps: [nextStep("tell", { session: id, text: "<what comes next>" })] };
  },
});
