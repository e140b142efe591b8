/** Carries on what was stopped in a session; where nothing was, asks the person what comes next. */
import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Session } from "../../domain/plan/session.ts";
import { statusKey } from "../../domain/plan/transitions.ts";
import type { SessionTurn } from "../../runs/session-turns.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { SessionReference } from "../base/schemas.ts";
import { CarriedOn, carryOn } from "../procedures/carry-on.ts";
import { Applied, applyPlan, NotApplied } from "../procedures/land-plan.ts";
import { lastTurn, takesMore, tellSession } from "../procedures/tell-session.ts";
import { sessionNamed } from "../queries/session-facts.ts";

const OfSession = z.object({ sessionId: z.string() });

export const operation = defineOperation({
  input: z.strictObject({ session: SessionReference, directory: z.string() }),
  output: z.union([
    CarriedOn[0].extend(OfSession.shape),
    CarriedOn[1].extend(OfSession.shape),
    CarriedOn[2].extend(OfSession.shape),
    Applied.extend(OfSession.shape),
    NotApplied.extend(OfSession.shape),
  ]),
  run: async (app, { session: given, directory }, call) => {
    const session = await sessionNamed(app, given, directory);
    const last = await lastTurn(app, session);
    const sessionId = session.id;
    const options = { includeDirty: false, verify: true, applyAnyway: false };
    if (!takesMore(last)) {
      const text = await whatNext(session, last, call);
      const { plan } = await tellSession(app, session, { ...options, text, images: [] }, call);
      return { ...(await carryOn(app, plan, options, call)), sessionId };
    }
    return { ...(await carriedOn(app, last, call)), sessionId };
  },
});

async function carriedOn(app: App, { plan }: SessionTurn, call: Call) {
  if (plan.state === "constrained") {
    throw new ConflictError(
      `The plan ${plan.id} cannot be applied as it is: another attempt, or its end, is yours to decide.`,
      { expected: "a plan that stopped on its way", actual: statusKey(plan), code: "invalid_transition" },
      {
        kept: "Nothing was changed.",
        next: [nextStep("plan.errors", { plan: plan.id }), nextStep("plan.revert", { plan: plan.id })],
      },
    );
  }
  // An apply that was begun had been agreed to.
  if (plan.phase === "apply") return applyPlan(app, plan, { allowEmpty: false, verify: true, agreed: true }, call);
  return carryOn(app, plan, { includeDirty: false, verify: true, applyAnyway: false }, call);
}

async function whatNext(session: Session, { standing, place }: SessionTurn, call: Call): Promise<string> {
  if (call.answers === "person") {
    const reply = await call.ask({ kind: "plan", text: `${session.title}\nWhat comes next?`, alternatives: [] });
    if (reply.kind === "text" && reply.text.trim() !== "") return reply.text;
  }
  const state = place.shared === undefined ? standing : "part of the session it was forked from";
  throw new ConflictError(
    `Nothing was stopped in session ${session.number}: its last plan is ${state}.`,
    { expected: "a plan that stopped on its way", actual: standing, code: "invalid_transition" },
    { kept: "Nothing was changed.", next: [nextStep("tell", { session: session.id, text: "<what comes next>" })] },
  );
}
