/** The turns of a session as facts: requests, answers, changes and costs; where wanted, every decision too. */
import * as z from "zod";
import type { Session, SharedPart } from "../../domain/plan/session.ts";
import { STANDINGS } from "../../domain/plan/standing.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { decisionOutcomes, type DecisionOutcome } from "../../changes/decision-outcomes.ts";
import { plansSpending } from "../../ledger/budget-report.ts";
import { maskedFacts } from "../../platform/masking.ts";
import { sessionTurns, type SessionTurn } from "../../runs/session-turns.ts";
import type { Reader } from "../../store/port.ts";
import { findFailures } from "../../store/tables/plans.ts";
import { isRecoverable } from "../../domain/plan/transitions.ts";
import type { App } from "../base/app.ts";
import { Instant, instant, Json } from "../base/schemas.ts";
import { LandingFacts, landingFacts } from "./landing-facts.ts";
import { ActorsByRole, actorsByRole } from "./plan-facts.ts";
import { CostSum, costSum } from "./spending.ts";

const CallFacts = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  params: Json,
  outcome: z.enum(["ok", "failed", "running"]),
  error: z.string().nullable(),
  startedAt: Instant,
  durationMs: z.number().nullable(),
});

const DecisionFacts = z.strictObject({
  decisionId: z.string(),
  type: z.string(),
  step: z.string().nullable(),
  question: z.string(),
  chosen: Json,
  /** The model's own words with it. */
  words: z.string().nullable(),
  state: z.string(),
  at: Instant,
  calls: z.array(CallFacts),
});

export const TurnFacts = z.strictObject({
  turn: z.int(),
  planId: z.string(),
  /** It was made in the session that this one was forked from. */
  shared: z.boolean(),
  request: z.string(),
  /** The model's answer in words, to the request or to what was said last. */
  answer: z.string().nullable(),
  /** The request and what was said after its end, each with its answer. */
  exchanges: z.array(z.strictObject({ request: z.string(), answer: z.string().nullable(), at: Instant })),
  /** Guidance on the way, and answers to questions. */
  remarks: z.array(z.strictObject({ question: z.string().nullable(), text: z.string(), at: Instant })),
  standing: z.enum(STANDINGS),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  awaitingInput: z.string().nullable(),
  /** Why it stopped; null unless it did. */
  failure: z.string().nullable(),
  cancelReason: z.string().nullable(),
  changes: z.strictObject({
    files: z.array(z.strictObject({ resource: z.string(), path: z.string(), change: z.string() })),
    insertions: z.int(),
    deletions: z.int(),
  }),
  landings: z.array(LandingFacts),
  undoneAt: Instant.nullable(),
  actors: ActorsByRole,
  automationProfile: z.string(),
  cost: CostSum,
  createdAt: Instant,
  updatedAt: Instant,
  /** In the order in which they were made, with their tool calls; left out unless wanted. */
  decisions: z.array(DecisionFacts).optional(),
});

export type TurnFacts = z.output<typeof TurnFacts>;

export async function turnFacts(
  app: App,
  session: Session,
  { decisions = false }: { readonly decisions?: boolean } = {},
): Promise<TurnFacts[]> {
  return (await turnsWithFacts(app, session, { decisions })).map(({ facts }) => facts);
}

/** The same with what they were made of. */
export async function turnsWithFacts(
  app: App,
  session: Session,
  wanted: { readonly decisions: boolean },
): Promise<{ readonly turn: SessionTurn; readonly facts: TurnFacts }[]> {
  const store = await app.store();
  const turns = await sessionTurns(store, session.id);
  return store.read(async (reader) => {
    const ids = turns.map(({ plan }) => plan.id);
    const spendings = await plansSpending(reader, ids);
    const all: { turn: SessionTurn; facts: TurnFacts }[] = [];
    for (const turn of turns) {
      const spent = spendings.get(turn.plan.id);
      const cost = costSum(spent);
      const facts = { ...oneTurn(turn), failure: await failureOf(reader, turn), cost };
      const decided = wanted.decisions ? { decisions: await decisionsOf(reader, turn) } : {};
      all.push({ turn, facts: maskedFacts({ ...facts, ...decided }) });
    }
    return all;
  });
}

function oneTurn({
  place,
  plan,
  exchanges,
  remarks,
  standing,
  question,
  diff,
  landings,
}: SessionTurn): Omit<TurnFacts, "cost" | "failure"> {
  return {
    turn: place.position,
    planId: plan.id,
    shared: place.shared !== undefined,
    request: plan.description,
    answer: exchanges.findLast(({ answer }) => answer !== undefined)?.answer ?? null,
    exchanges: exchanges.map(({ request, answer = null, at }) => ({ request, answer, at: instant(at) })),
    remarks: remarks.map(({ question: asked = null, text, at }) => ({ question: asked, text, at: instant(at) })),
    standing,
    phase: plan.phase,
    state: plan.state,
    awaitingInput: question?.question ?? null,
    cancelReason: plan.cancelReason ?? null,
    changes: {
      files: diff.files.map(({ resource, path, change }) => ({ resource, path, change })),
      insertions: diff.insertions,
      deletions: diff.deletions,
    },
    landings: landings.map(landingFacts),
    undoneAt: plan.undoneAt === undefined ? null : instant(plan.undoneAt),
    actors: actorsByRole(plan.actors),
    automationProfile: plan.profile.name,
    createdAt: instant(plan.createdAt),
    updatedAt: instant(plan.updatedAt),
  };
}

async function failureOf(reader: Reader, { plan }: SessionTurn): Promise<string | null> {
  if (!isRecoverable(plan)) return null;
  return (await findFailures(reader, plan.id)).at(-1)?.message ?? null;
}

async function decisionsOf(
  reader: Reader,
  { plan, place: { shared } }: SessionTurn,
): Promise<z.output<typeof DecisionFacts>[]> {
  const outcomes = await decisionOutcomes(reader, plan.id, shared?.attempt ?? plan.attempt, { superseded: false });
  return outcomes.filter((one) => isPart(one, shared)).map(decisionFacts);
}

function isPart({ decision }: DecisionOutcome, shared: SharedPart | undefined): boolean {
  return shared === undefined || decision.sequence <= shared.decisions;
}

function decisionFacts({ decision, state, calls }: DecisionOutcome): z.output<typeof DecisionFacts> {
  return {
    decisionId: decision.id,
    type: decision.type,
    step: decision.step ?? null,
    question: decision.question,
    chosen: decision.chosen,
    words: decision.thought.reasoning ?? null,
    state,
    at: instant(decision.createdAt),
    // Those of a step are told where its model made them.
    calls: calls
      .filter(({ decisionId }) => decisionId === decision.id)
      .map(({ id, tool, params, startedAt, end }) => ({
        callId: id,
        tool,
        params,
        outcome: end?.outcome ?? "running",
        error: end?.outcome === "failed" ? end.error : null,
        startedAt: instant(startedAt),
        durationMs: end?.durationMs ?? null,
      })),
  };
}
