/**
 * The joining of plans to sessions, in the transaction that makes the plan: after a crash there is no plan without its
 * place. A plan is added to the version of the session that its maker saw.
 */
import { ConflictError, NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { idPrefix, onlyOne } from "../domain/names/id-prefix.ts";
import type { IdGenerator, SessionId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { sessionTitle, type Session } from "../domain/plan/session.ts";
import { shown } from "../domain/text/text.ts";
import type { Reader, Tx } from "../store/port.ts";
import {
  appendSessionPlan,
  findSessionByNumber,
  insertSession,
  lastSessionIn,
  moveSession,
  sessionsByPrefix,
} from "../store/tables/sessions.ts";

/** Where a new plan belongs: into a session that begins with it, or behind the plans of one that was seen. */
export type SessionPlace =
  | {
      readonly kind: "new";
      readonly directory: string;
      /** Chosen by a caller who had to name the session before its first request. */
      readonly id?: SessionId | undefined;
    }
  | { readonly kind: "seen"; readonly session: Pick<Session, "id" | "version"> };

export async function joinSession(tx: Tx, ids: IdGenerator, plan: Plan, place: SessionPlace): Promise<SessionId> {
  if (place.kind === "seen") {
    await continueSession(tx, place.session);
    await appendSessionPlan(tx, place.session.id, { planId: plan.id, shared: undefined });
    return place.session.id;
  }
  const [project] = plan.projects;
  if (project === undefined) throw new UsageError("A session is about a project, and the plan has none.");
  const id = place.id ?? (ids() as SessionId);
  if (place.id !== undefined && (await sessionsByPrefix(tx, id)).length > 0) throw begunError(id);
  const title = sessionTitle(plan.description);
  const session = { id, title, project: project.project, directory: place.directory, forkedFrom: undefined };
  await insertSession(tx, session);
  await appendSessionPlan(tx, id, { planId: plan.id, shared: undefined });
  return id;
}

function begunError(id: SessionId): ConflictError {
  return new ConflictError(
    `The session ${id} has begun already.`,
    { expected: "a session without a request", actual: "a session with plans" },
    { kept: "Nothing of yours was recorded.", next: [nextStep("session.show", { session: id })] },
  );
}

/** In the transaction of what is said: the session must still be the one that the caller saw. */
export async function continueSession(tx: Tx, seen: Pick<Session, "id" | "version">): Promise<void> {
  if (await moveSession(tx, seen)) return;
  throw new ConflictError(
    `Another process told the session ${seen.id} something in the meantime.`,
    { expected: `version ${seen.version} of the session`, actual: "a later version" },
    { kept: "Nothing of yours was recorded.", next: [nextStep("session.show", { session: seen.id })] },
  );
}

/** By its number, its id or a beginning of it, or `last` for the newest one of the directory. */
export async function requireSession(reader: Reader, given: string, directory: string): Promise<Session> {
  const next = [nextStep("session.list"), nextStep("run", { request: "<what you want done>" })];
  if (given.toLowerCase() === "last") {
    const last = await lastSessionIn(reader, directory);
    if (last !== undefined) return last;
    throw new NotFoundError("session", `last (of ${directory})`, { next });
  }
  // Ids begin with a zero until the year 3084, numbers do not.
  if (/^[1-9]\d{0,14}$/.test(given)) {
    const numbered = await findSessionByNumber(reader, Number(given));
    if (numbered === undefined) throw new NotFoundError("session", given, { next });
    return numbered;
  }
  if (given.trim() === "") throw new UsageError(`${shown(given)} is not a session.`, { next });
  const prefix = idPrefix("session", given, next);
  return onlyOne("session", prefix, await sessionsByPrefix(reader, prefix), next);
}
