/**
 * A fork is a new session with the turns of another one up to a plan. It shares them as they are at that moment: the
 * plans stay the other session's, whose later words and changes the fork does not have, and the other session does
 * not have the fork's own plans.
 */
import { NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { monotonicIds, type IdGenerator, type PlanId, type SessionId } from "../domain/names/ids.ts";
import type { Session, SessionPlan, SharedPart } from "../domain/plan/session.ts";
import { countDecisions } from "../ledger/decisions.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import type { Reader, Store } from "../store/port.ts";
import { findPlan } from "../store/tables/plans.ts";
import { appendSessionPlan, insertSession, sessionPlans } from "../store/tables/sessions.ts";
import { conversationEnd } from "./conversation.ts";

export async function forkSession(
  store: Store,
  wish: { readonly session: Session; readonly at: PlanId | undefined; readonly user: string },
  ids: IdGenerator = monotonicIds(),
): Promise<SessionId> {
  const { session, at, user } = wish;
  return store.transaction(async (tx) => {
    const id = ids() as SessionId;
    const shared = upTo(await sessionPlans(tx, session.id), session, at);
    const { title, project, directory } = session;
    await insertSession(tx, { id, title, project, directory, forkedFrom: session.id });
    for (const place of shared) {
      await appendSessionPlan(tx, id, { planId: place.planId, shared: place.shared ?? (await partNow(tx, place)) });
    }
    const details = { session: id, from: session.id, plans: shared.length };
    await recordSystemEvent(tx, { type: "session.forked", user, planId: undefined, details });
    return id;
  });
}

function upTo(places: readonly SessionPlan[], session: Session, at: PlanId | undefined): readonly SessionPlan[] {
  if (at === undefined) return places;
  const last = places.findIndex(({ planId }) => planId === at);
  if (last !== -1) return places.slice(0, last + 1);
  throw new NotFoundError(`plan of session ${session.number}`, at, {
    kept: "Nothing was written.",
    next: [nextStep("session.show", { session: session.id })],
  });
}

async function partNow(reader: Reader, { planId }: SessionPlan): Promise<SharedPart> {
  const plan = await findPlan(reader, planId);
  if (plan === undefined) throw new Error(`the plan ${planId} of a session is not there`);
  const end = await conversationEnd(reader, plan);
  return { attempt: plan.attempt, decisions: await countDecisions(reader, planId), answer: end?.answer };
}
