/** Sessions as lists show them: the request first, then where it stands, its plans, its cost. */
import { realpath } from "node:fs/promises";
import * as z from "zod";
import type { SessionId } from "../../domain/names/ids.ts";
import type { Session } from "../../domain/plan/session.ts";
import { standingOf, STANDINGS } from "../../domain/plan/standing.ts";
import { findWorkTree } from "../../git/work-tree.ts";
import { addedUp, plansSpending } from "../../ledger/budget-report.ts";
import { heldPlans } from "../../ledger/leases.ts";
import { requireSession } from "../../plans/join-session.ts";
import type { Reader } from "../../store/port.ts";
import { findSessionSummary, ownPlansOf, type SessionSummary } from "../../store/tables/sessions.ts";
import type { App } from "../base/app.ts";
import { Instant, instant } from "../base/schemas.ts";
import { CostSum, costSum } from "./spending.ts";

export const SessionFacts = z.strictObject({
  sessionId: z.string(),
  /** A short name that never changes. */
  number: z.int(),
  /** The first request. */
  title: z.string(),
  /** Where its last plan stands. */
  state: z.enum(STANDINGS),
  /** The question it waits with. */
  awaitingInput: z.string().nullable(),
  project: z.string(),
  directory: z.string(),
  host: z.string(),
  plans: z.int(),
  lastPlan: z.string(),
  /** Of the plans that were made in it; those that a fork shares count where they were made. */
  cost: CostSum,
  forkedFrom: z.string().nullable(),
  createdAt: Instant,
  /** When something was said in it last. */
  toldAt: Instant,
});

export type SessionFacts = z.output<typeof SessionFacts>;

/** The top of the work tree around a directory: what is asked in a folder of a repository is about the repository. */
export async function sessionDirectory(directory: string): Promise<string> {
  const real = await realpath(directory);
  return findWorkTree(real) ?? real;
}

export async function sessionNamed(app: App, given: string, directory: string): Promise<Session> {
  const place = await sessionDirectory(directory);
  return (await app.store()).read((reader) => requireSession(reader, given, place));
}

/** In three statements more than the summaries took. */
export async function sessionFacts(reader: Reader, summaries: readonly SessionSummary[]): Promise<SessionFacts[]> {
  const own = await ownPlansOf(
    reader,
    summaries.map(({ session }) => session.id),
  );
  const spendings = await plansSpending(reader, [...own.values()].flat());
  const costOf = (id: SessionId): z.output<typeof CostSum> =>
    costSum(addedUp((own.get(id) ?? []).flatMap((plan) => spendings.get(plan) ?? [])));
  const worked = await heldPlans(
    reader,
    summaries.map(({ last }) => last.planId),
  );
  return summaries.map(({ session, plans, last }) => {
    const { undone, awaiting, hasChanges } = last;
    const isWorkedOn = last.status.state === "processing" && worked.has(last.planId);
    return {
      sessionId: session.id,
      number: session.number,
      title: session.title,
      state: standingOf(last.status, { undone, asks: awaiting !== undefined, isWorkedOn, hasChanges }),
      awaitingInput: last.awaiting ?? null,
      project: session.project,
      directory: session.directory,
      host: session.host,
      plans,
      lastPlan: last.planId,
      cost: costOf(session.id),
      forkedFrom: session.forkedFrom ?? null,
      createdAt: instant(session.createdAt),
      toldAt: instant(session.toldAt),
    };
  });
}

/** Of one session. */
export async function factsOf(reader: Reader, id: SessionId): Promise<SessionFacts> {
  const [facts] = await sessionFacts(reader, await findSessionSummary(reader, id));
  if (facts === undefined) throw new Error(`the session ${id} has no plan`);
  return facts;
}
