/** Says what comes next in a session, and carries it on as `run` does. */
import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { SessionReference } from "../base/schemas.ts";
import { CarriedOn, carryOn } from "../procedures/carry-on.ts";
import { tellSession, ToldRunning, toldRunning } from "../procedures/tell-session.ts";
import { sessionNamed } from "../queries/session-facts.ts";

const OfSession = z.object({ sessionId: z.string() });

export const operation = defineOperation({
  input: z.strictObject({
    session: SessionReference,
    text: z.string(),
    /** Where the caller is, for `last`. */
    directory: z.string(),
    /** Apply the result also when the project's own check failed on it. */
    applyAnyway: z.boolean().default(false),
  }),
  output: z.union([
    ToldRunning.extend(OfSession.shape),
    CarriedOn[0].extend(OfSession.shape),
    CarriedOn[1].extend(OfSession.shape),
    CarriedOn[2].extend(OfSession.shape),
  ]),
  run: async (app, { session: given, text, directory, applyAnyway }, call) => {
    const session = await sessionNamed(app, given, directory);
    const options = { includeDirty: false, verify: true, applyAnyway };
    const { plan, isWorkedOn } = await tellSession(app, session, { ...options, text, images: [] }, call);
    const sessionId = session.id;
    if (isWorkedOn) return { ...toldRunning(plan), sessionId };
    return { ...(await carryOn(app, plan, options, call)), sessionId };
  },
});
