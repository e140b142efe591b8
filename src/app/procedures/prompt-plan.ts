/**
 * Answers the question that is open now, or guides the plan on its way: the first answer counts, and later ones are
 * told so.
 */
import * as z from "zod";
import type { PlanId } from "../../domain/names/ids.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Session } from "../../domain/plan/session.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { openQuestion } from "../../ledger/questions.ts";
import { promptPlan } from "../../plans/plan-questions.ts";
import type { App } from "../base/app.ts";
import { NextSteps } from "../base/schemas.ts";

export const Prompted = z.strictObject({
  planId: z.string(),
  decisionId: z.string(),
  guidance: z.string(),
  /** The question that this answers; null for guidance. */
  answered: z.string().nullable(),
  revisesStrategy: z.boolean(),
  /** The plan was executed, and continues with this in the same conversation and sandbox. */
  continuesPlan: z.boolean(),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  nextSteps: NextSteps,
});

/** The question or the session that the words are for, and what is decided and written together with them. */
interface Guiding extends Pick<Parameters<typeof promptPlan>[1], "require" | "record" | "alongside"> {
  /** The question that the person was shown; without it, the words are for the one that is open now. */
  readonly seen?: string | undefined;
  /** The session as the person saw it, for words that are said in one. */
  readonly session?: Pick<Session, "id" | "version"> | undefined;
}

export async function guidePlan(
  app: App,
  planId: PlanId,
  text: string,
  { seen, ...guiding }: Guiding = {},
): Promise<z.output<typeof Prompted>> {
  const store = await app.store();
  const answering = seen ?? (await store.read((reader) => openQuestion(reader, planId)))?.id;
  const user = await app.user();
  const prompted = await promptPlan(store, { planId, text, answering, user, ...guiding });
  const { plan, decision, answered, revises, continues } = prompted;
  const worked = answered === undefined && plan.state === "processing";
  return {
    planId,
    decisionId: decision,
    guidance: text.trim(),
    answered: answered?.question ?? null,
    revisesStrategy: revises,
    continuesPlan: continues,
    phase: plan.phase,
    state: plan.state,
    nextSteps: [nextStep(worked ? "plan.status" : "plan.execute", { plan: planId })],
  };
}
