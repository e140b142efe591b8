import type { ChosenWork, Decision } from "../domain/plan/decision.ts";
import {
  ConflictError,
  NotFoundError,
  PlanError,
  ValidationError,
  type AwaitingInputError,
} from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { monotonicIds, type DecisionId, type PlanId } from "../domain/names/ids.ts";
import type { JsonObject } from "../domain/values/json.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { storable, textProblem } from "../domain/text/text.ts";
import { isTerminal, statusKey } from "../domain/plan/transitions.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import { findDecisions, findInterventions, insertDecision } from "../ledger/decisions.ts";
import { endLease, type Lease } from "../ledger/leases.ts";
import {
  answerQuestion,
  awaitingInputError,
  insertQuestion,
  openQuestion,
  type NewQuestion,
  type Question,
} from "../ledger/questions.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { isByModel, isRevisable } from "./revise-strategy.ts";

/**
 * Where plans and people talk: a plan asks and waits, a person answers, or says something without having been asked.
 */
export type Asking = Pick<NewQuestion, "key" | "question" | "alternatives" | "assessment">;

const ids = monotonicIds();
const LONGEST_LINE = 2_000;

/**
 * Asks, and gives the lease up in the same transaction: from then on the plan waits, and no process works on it.
 * Returns the error that ends what the caller is doing.
 */
export async function pauseFor(lease: Lease, asking: Asking, user: string): Promise<AwaitingInputError> {
  const { plan, planId, phase } = lease;
  // Terminals show this text of a model, so it must hold no control characters.
  const line = (text: string): string => storable(text, LONGEST_LINE);
  const [question, alternatives] = [line(asking.question), asking.alternatives.map(line)];
  const asked = { ...asking, question, alternatives, planId, phase, attempt: plan.attempt };
  await lease.store.transaction(async (tx) => {
    await endLease(tx, lease);
    await insertQuestion(tx, ids, asked);
    const confidence = asking.assessment?.confidence ?? null;
    await recordSystemEvent(tx, {
      type: "plan.awaiting_input",
      user,
      planId,
      details: { question, alternatives, confidence },
    });
  });
  lease.stop();
  return awaitingInputError(asked);
}

export interface Prompted {
  readonly plan: Plan;
  readonly decision: DecisionId;
  /** The question it answers; undefined when it is guidance that the plan did not ask for. */
  readonly answered: Question | undefined;
  /** Whether it comes between a model's strategy and its first step: the strategist is asked again. */
  readonly revises: boolean;
}

/**
 * Records what a person says as a decision and, if the plan asked, closes the question with it, in one transaction.
 * `answering` is the question the person saw: when another is open by now, or none, another person was first and
 * nothing is recorded.
 */
export async function promptPlan(
  store: Store,
  said: {
    readonly planId: PlanId;
    readonly text: string;
    readonly answering: string | undefined;
    readonly user: string;
  },
): Promise<Prompted> {
  const text = said.text.trim();
  const problem = text === "" ? "is empty" : textProblem(text);
  if (problem !== undefined)
    throw new ValidationError(`The guidance ${problem}.`, [{ path: "text", message: problem }]);
  return store.transaction(async (tx) => {
    const plan = await findPlan(tx, said.planId);
    if (plan === undefined) throw new NotFoundError("plan", said.planId, { next: [nextStep("plan.list")] });
    const open = await openQuestion(tx, plan.id);
    if (open?.id !== said.answering) throw alreadyAnsweredError(plan, open);
    const decisions = await findDecisions(tx, plan.id, plan.attempt);
    const revises = isRevisable(plan) && isByModel(decisions);
    const question = open?.question ?? (revises ? aboutStrategy(decisions) : undefined);
    const decision = await recordIntervention(tx, plan, text, { question, decisions });
    if (open !== undefined && !(await answerQuestion(tx, open.id, decision)))
      throw alreadyAnsweredError(plan, undefined);
    const type = open === undefined ? "plan.guided" : "plan.answered";
    const details = { decision, text, ...(open === undefined ? {} : { question: open.question }) };
    await recordSystemEvent(tx, { type, user: said.user, planId: plan.id, details });
    return { plan, decision, answered: open, revises };
  });
}

export interface Guidance {
  readonly decision: DecisionId;
  /** The question; undefined for guidance that the plan did not ask for. */
  readonly question: string | undefined;
  readonly text: string;
  readonly at: number;
}

/** The words of people to the plan, in order, over all attempts: every later prompt has them. */
export async function guidanceOf(reader: Reader, plan: Pick<Plan, "id">): Promise<Guidance[]> {
  return (await findInterventions(reader, plan.id)).map(readGuidance);
}

function readGuidance({ id, chosen, createdAt }: Decision): Guidance {
  const { guidance, question } = chosen as Said;
  return { decision: id, question: question ?? undefined, text: guidance, at: createdAt };
}

interface Said extends JsonObject {
  readonly guidance: string;
  readonly question: string | null;
}

async function recordIntervention(
  tx: Tx,
  plan: Plan,
  text: string,
  { question, decisions }: { question: string | undefined; decisions: readonly Decision[] },
): Promise<DecisionId> {
  const root = decisions.find(({ parent }) => parent === undefined);
  if (root === undefined || !isActive(plan)) throw notActiveError(plan);
  const chosen: Said = { guidance: text, question: question ?? null };
  return insertDecision(tx, ids, {
    planId: plan.id,
    attempt: plan.attempt,
    type: "user_intervention",
    phase: plan.phase,
    step: undefined,
    question: question ?? "What should be kept in mind from here on?",
    chosen,
    parent: root.id,
    needs: [],
  });
}

/**
 * The strategist does not remember what it answered: guidance such as "leave the second step out" comes with what it is
 * about.
 */
function aboutStrategy(decisions: readonly Decision[]): string {
  const steps = decisions.flatMap(({ step, chosen }) =>
    step === undefined ? [] : [`${step} (${(chosen as ChosenWork).description})`],
  );
  return storable(`What should be different from this strategy: ${steps.join("; ")}?`, LONGEST_LINE);
}

/** Whether there is anything ahead that guidance could reach. */
function isActive(plan: Plan): boolean {
  return !isTerminal(plan) && plan.phase !== "apply" && statusKey(plan) !== "execute/complete";
}

function notActiveError(plan: Plan): PlanError {
  const before = plan.phase === "strategize";
  return new PlanError(
    before
      ? `The plan ${plan.id} is ${statusKey(plan)} and has not begun, so no model could follow guidance yet.`
      : `The plan ${plan.id} is ${statusKey(plan)}, so guidance would no longer reach a model.`,
    { next: [before ? nextStep("plan.execute", { plan: plan.id }) : nextStep("plan.status", { plan: plan.id })] },
  );
}

function alreadyAnsweredError(plan: Plan, open: Question | undefined): ConflictError {
  const now = open === undefined ? "it no longer asks anything" : `it asks now: ${open.question}`;
  return new ConflictError(
    `The plan ${plan.id} got another answer in the meantime; ${now}.`,
    { expected: "the question that was shown", actual: open?.question ?? "no question" },
    { kept: "Nothing was recorded.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}
