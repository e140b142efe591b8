import type { ChosenWork, Decision } from "../domain/plan/decision.ts";
import {
  ConflictError,
  NotFoundError,
  PlanError,
  ValidationError,
  type AwaitingInputError,
} from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { monotonicIds, type DecisionId, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import type { JsonObject } from "../domain/values/json.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import type { Session } from "../domain/plan/session.ts";
import { storable, textProblem } from "../domain/text/text.ts";
import { isTerminal, statusKey } from "../domain/plan/transitions.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import { findDecisions, findInterventions, insertDecision } from "../ledger/decisions.ts";
import { endLease, type Lease } from "../ledger/leases.ts";
import {
  answerAt,
  answerQuestion,
  answersAt,
  awaitingInputError,
  insertQuestion,
  openQuestion,
  type NewQuestion,
  type PlanQuestion,
} from "../ledger/questions.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { canFollowUp, followUp } from "./follow-up.ts";
import { continueSession } from "./join-session.ts";
import { isByModel, isRevisable } from "./revise-strategy.ts";
import { insertRootDecision } from "./root-decision.ts";
import { recordSourceOf } from "./transition.ts";

/**
 * Where plans and people talk: a plan asks and waits, a person answers, or says something without having been asked.
 */
export type QuestionToAsk = Pick<NewQuestion, "key" | "question" | "alternatives" | "assessment">;

const LONGEST_LINE = 2_000;

/**
 * Asks, and gives the lease up in the same transaction: from then on the plan waits, and no process works on it.
 * Returns the error that ends what the caller is doing.
 */
export async function pauseFor(
  lease: Lease,
  asking: QuestionToAsk,
  user: string,
  ids: IdGenerator = monotonicIds(),
): Promise<AwaitingInputError> {
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

/** In front of the positions at which a model asks the user. */
export const ASKED_USER = "ask-user:";

/**
 * The user's answer to what is asked at this position. Without one the plan asks, gives its lease up, and this rejects;
 * the next run comes to the same position again.
 */
export async function answerOf(
  lease: Lease,
  asking: { readonly key: string; readonly question: string; readonly options: readonly string[] },
  user: string,
): Promise<string> {
  const { key, question, options } = asking;
  const answer = await lease.store.read(async (reader) => {
    const id = await answerAt(reader, lease.plan, key);
    return id === undefined
      ? undefined
      : (await guidanceOf(reader, lease.plan)).find(({ decision }) => decision === id);
  });
  if (answer !== undefined) return answer.text;
  throw await pauseFor(lease, { key, question, alternatives: options, assessment: undefined }, user);
}

/** The words of people that a conversation is told in their name; answers to `answerOf` are told there. */
export async function spokenTo(reader: Reader, plan: Pick<Plan, "id">): Promise<string[]> {
  const asked = await answersAt(reader, plan.id, ASKED_USER);
  // A message to an executed plan is a step of its own, and is told as that.
  const said = (await guidanceOf(reader, plan)).filter(({ decision, isStep }) => !asked.has(decision) && !isStep);
  return said.map(({ question, text }) => (question === undefined ? text : `${question} ${text}`));
}

export interface Prompted {
  readonly plan: Plan;
  readonly decision: DecisionId;
  /** The question it answers; undefined when it is guidance that the plan did not ask for. */
  readonly answered: PlanQuestion | undefined;
  /** Whether it comes between a model's strategy and its first step: the strategist is asked again. */
  readonly revises: boolean;
  /** Whether the plan was executed, and continues with what was said. */
  readonly continues: boolean;
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
    /** The session in which it is said: it must still be the one that the person saw. */
    readonly session?: Pick<Session, "id" | "version"> | undefined;
    /** Rejects when the words are for something that is not so any more; may move the plan for them, and returns it. */
    readonly require?: ((tx: Tx, plan: Plan) => Promise<Plan>) | undefined;
    /** Records more with the decision that the words are. */
    readonly record?: ((tx: Tx, plan: Plan, decision: DecisionId) => Promise<void>) | undefined;
    /** Written in the same transaction as the words. */
    readonly alongside?: ((tx: Tx, plan: Plan) => Promise<void>) | undefined;
  },
): Promise<Prompted> {
  const recordSource = recordSourceOf({ store, user: said.user });
  const text = said.text.trim();
  const problem = text === "" ? "is empty" : textProblem(text);
  if (problem !== undefined)
    throw new ValidationError(`The guidance ${problem}.`, [{ path: "text", message: problem }]);
  return store.transaction(async (tx) => {
    const found = await findPlan(tx, said.planId);
    if (found === undefined) throw new NotFoundError("plan", said.planId, { next: [nextStep("plan.list")] });
    const plan = said.require === undefined ? found : await said.require(tx, found);
    if (said.session !== undefined) await continueSession(tx, said.session);
    const open = await openQuestion(tx, plan.id);
    if (open?.id !== said.answering) throw answeredMeanwhileError(plan, open);
    const decisions = await findDecisions(tx, plan.id, plan.attempt);
    const revises = isRevisable(plan) && isByModel(decisions);
    const question = open?.question ?? (revises ? aboutStrategy(decisions) : undefined);
    const continues = open === undefined && canFollowUp(plan, decisions);
    const decision = await recordIntervention(tx, plan, text, { question, decisions, continues });
    await said.record?.(tx, plan, decision);
    if (open !== undefined && !(await answerQuestion(tx, open.id, decision)))
      throw answeredMeanwhileError(plan, undefined);
    const type = open === undefined ? "plan.guided" : "plan.answered";
    const details = { decision, text, ...(open === undefined ? {} : { question: open.question }) };
    await recordSystemEvent(tx, { type, user: recordSource.user, planId: plan.id, details });
    await said.alongside?.(tx, plan);
    const moved = continues ? await followUp(tx, recordSource, { plan, decisions, said: decision, text }) : plan;
    return { plan: moved, decision, answered: open, revises, continues };
  });
}

export interface Guidance {
  readonly decision: DecisionId;
  /** The question; undefined for guidance that the plan did not ask for. */
  readonly question: string | undefined;
  readonly text: string;
  readonly at: number;
  /** It became a further step of an executed plan. */
  readonly isStep: boolean;
}

/** The words of people to the plan, in order, over all attempts: every later prompt has them. */
export async function guidanceOf(reader: Reader, plan: Pick<Plan, "id">): Promise<Guidance[]> {
  return (await findInterventions(reader, plan.id)).map(readGuidance);
}

function readGuidance({ id, chosen, createdAt }: Decision): Guidance {
  const { guidance, question, step } = chosen as Said;
  return { decision: id, question: question ?? undefined, text: guidance, at: createdAt, isStep: step === true };
}

interface Said extends JsonObject {
  readonly guidance: string;
  readonly question: string | null;
  readonly step?: true;
}

async function recordIntervention(
  tx: Tx,
  plan: Plan,
  text: string,
  parts: { question: string | undefined; decisions: readonly Decision[]; continues: boolean },
  ids: IdGenerator = monotonicIds(),
): Promise<DecisionId> {
  const { question, decisions, continues } = parts;
  if (!isActive(plan) && !continues) throw notActiveError(plan);
  // Before the plan has begun, what it is asked to do is decided here: guidance stands below it.
  const root = decisions.find(({ parent }) => parent === undefined)?.id ?? (await insertRootDecision(tx, plan));
  const chosen: Said = { guidance: text, question: question ?? null, ...(continues ? { step: true } : {}) };
  return insertDecision(tx, ids, {
    planId: plan.id,
    attempt: plan.attempt,
    type: "user_intervention",
    phase: plan.phase,
    step: undefined,
    question: question ?? "What should be kept in mind from here on?",
    chosen,
    parent: root,
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
  const applied = plan.phase === "apply" && plan.state === "applied";
  return new PlanError(`The plan ${plan.id} is ${stateText(plan)}: no step is ahead that guidance could reach.`, {
    next: applied ? [nextStep("run", { request: "<what comes next>" })] : [nextStep("plan.status", { plan: plan.id })],
  });
}

function answeredMeanwhileError(plan: Plan, open: PlanQuestion | undefined): ConflictError {
  const now = open === undefined ? "it asks nothing any more" : `it asks now: ${open.question}`;
  return new ConflictError(
    `The plan ${plan.id} got another answer in the meantime; ${now}.`,
    { expected: "the question that was shown", actual: open?.question ?? "no question" },
    { kept: "Nothing was recorded.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}
