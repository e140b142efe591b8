import { assess, decide, type Assessment } from "../domain/plan/confidence.ts";
import { monotonicIds, type DecisionId, type IdGenerator } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { READ_ONLY_TOOLS } from "../domain/validation/validation.ts";
import { CONTEXT_TOOL_NAMES } from "../domain/names/tool-names.ts";
import { appendEvent, findEvents } from "../ledger/event-log.ts";
import type { Lease } from "../ledger/leases.ts";
import { answerAt } from "../ledger/questions.ts";
import { familiarity, successRate, type OperationType } from "../ledger/track-record.ts";
import { databaseTime } from "../store/tables/breakers.ts";
import type { Reader, Store } from "../store/port.ts";
import { answerOf, pauseFor } from "./plan-questions.ts";

/**
 * Where a plan stops for a person, by the thresholds of the profile it was made with: 0 never stops, 1 always does, and
 * between the confidence decides.
 */
export type Gate = { readonly go: true } | { readonly go: false; readonly assessment: Assessment };

/** A step as far as its risk goes. */
export interface RiskyStep {
  /** From 0 to 1, if the planner gave one. */
  readonly risk?: number | undefined;
  readonly tool?: string | undefined;
}

/** More rules than these are as hard to keep as can be. */
const MANY_INVARIANTS = 10;

/**
 * Between strategize and execute. The steps of a tool actor or a graph are in its file, so the user who runs `plan
 * execute` has said yes to them. The strategy of a model is shown first, unless the profile continues by itself, and
 * the next `plan execute` is the yes.
 */
export async function afterStrategy(
  store: Store,
  plan: Plan,
  strategy: {
    readonly byModel: boolean;
    readonly steps: readonly RiskyStep[];
    /** By which `cameToGate` knows the strategy again. */
    readonly decision?: DecisionId | undefined;
  },
): Promise<Gate> {
  const { byModel, steps, decision } = strategy;
  return byModel ? gateOfSteps(store, plan, "autoExecute", steps, decision) : { go: true };
}

const STRATEGY_QUESTION = "Is this strategy carried out?";

/**
 * Whether the gate behind this strategy was reached: a process that died before it has shown the strategy to no one.
 */
export async function cameToGate(store: Store, { id }: Plan, strategy: DecisionId): Promise<boolean> {
  const events = await store.read((reader) => findEvents(reader, id, "plan.assessed"));
  return events.some(({ details }) => details["question"] === STRATEGY_QUESTION && details["strategy"] === strategy);
}

export interface Choice {
  /** The position in the program, the same in every run. */
  readonly key: string;
  readonly question: string;
  readonly chosen: string;
  /** The other options. Without alternatives there is no choice, and the plan never asks. */
  readonly alternatives: readonly string[];
  readonly operation: OperationType;
  readonly step: RiskyStep;
}

/**
 * Before a model's decision counts: resolves with the reason when it may count, and with the answer once a person has
 * given one. Otherwise the plan asks, gives its lease up, and this rejects with an AwaitingInputError: the worker of
 * the plan ends here, and the next run comes to the same position again.
 */
export async function beforeDecision(
  lease: Lease<"strategize">,
  choice: Choice,
  user: string,
): Promise<{ readonly assessment: Assessment; readonly answer: DecisionId | undefined }> {
  const { plan, store } = lease;
  const { key, question, chosen, alternatives } = choice;
  const { assessment, answer } = await store.read(async (reader) => ({
    assessment: await assessmentOf(reader, plan, choice.operation, riskOf(choice.step)),
    answer: await answerAt(reader, plan, key),
  }));
  const threshold = plan.profile.thresholds.autoDecisionsStrategize;
  if (answer !== undefined || alternatives.length === 0) return { assessment, answer };
  if (decide(threshold, assessment.confidence) === "go") {
    await recordAssessment(store, plan, { question, threshold, assessment, go: true });
    return { assessment, answer };
  }
  throw await pauseFor(lease, { key, question, alternatives: [chosen, ...alternatives], assessment }, user);
}

/**
 * Before a strategy changes while it is carried out: undefined when the profile lets it change by itself, otherwise the
 * user's answer. Without an answer the plan asks and waits.
 */
export async function beforeRevision(
  lease: Lease<"execute">,
  revision: { readonly key: string; readonly question: string; readonly risk: number },
  user: string,
): Promise<string | undefined> {
  const { plan, store } = lease;
  const { key, question, risk } = revision;
  const operation = { kind: "phase", phase: "execute", action: plan.action } as const;
  const assessment = await store.read((reader) => assessmentOf(reader, plan, operation, risk));
  const threshold = plan.profile.thresholds.autoStrategyRevision;
  if (decide(threshold, assessment.confidence) === "go") {
    await recordAssessment(store, plan, { question, threshold, assessment, go: true });
    return undefined;
  }
  return answerOf(lease, { key, question, options: ["Yes", "No"] }, user);
}

/** Whether a failing check goes back to the model that did the work. */
export async function mayMend(store: Store, plan: Plan): Promise<boolean> {
  const operation = { kind: "phase", phase: "execute", action: plan.action } as const;
  const assessment = await store.read((reader) => assessmentOf(reader, plan, operation, 0));
  const threshold = plan.profile.thresholds.autoValidationFix;
  const go = decide(threshold, assessment.confidence) === "go";
  await recordAssessment(store, plan, {
    question: "Does the model mend what a check showed?",
    threshold,
    assessment,
    go,
  });
  return go;
}

/** Whether what was executed may land without asking. */
export async function shouldApply(store: Store, plan: Plan, steps: readonly RiskyStep[]): Promise<Gate> {
  return gateOfSteps(store, plan, "autoApply", steps);
}

/** The riskiest step decides. */
async function gateOfSteps(
  store: Store,
  plan: Plan,
  threshold: "autoExecute" | "autoApply",
  steps: readonly RiskyStep[],
  strategy?: DecisionId,
): Promise<Gate> {
  const operation = { kind: "phase", phase: "execute", action: plan.action } as const;
  const risk = Math.max(0, ...steps.map(riskOf));
  const assessment = await store.read((reader) => assessmentOf(reader, plan, operation, risk));
  const needed = plan.profile.thresholds[threshold];
  const go = decide(needed, assessment.confidence) === "go";
  const question = threshold === "autoExecute" ? STRATEGY_QUESTION : "Apply this result?";
  await recordAssessment(store, plan, { question, strategy, threshold: needed, assessment, go });
  return go ? { go } : { go, assessment };
}

/** The record says in both cases whether a person was asked, and why. */
async function recordAssessment(
  store: Store,
  plan: Plan,
  made: {
    readonly question: string;
    readonly strategy?: DecisionId | undefined;
    readonly threshold: number;
    readonly assessment: Assessment;
    readonly go: boolean;
  },
  ids: IdGenerator = monotonicIds(),
): Promise<void> {
  const { question, strategy, threshold, assessment, go } = made;
  const { confidence, factors } = assessment;
  const { attempt } = plan;
  const details = { question, strategy, attempt, threshold, confidence, factors, outcome: go ? "go" : "ask" };
  await store.transaction(async (tx) => {
    const at = await databaseTime(tx);
    await appendEvent(tx, { id: ids(), type: "plan.assessed", at, planId: plan.id, details });
  });
}

async function assessmentOf(reader: Reader, plan: Plan, operation: OperationType, risk: number): Promise<Assessment> {
  return assess({
    successRate: await successRate(reader, operation),
    familiarity: await familiarity(reader, plan),
    risk,
    invariantComplexity: Math.min(1, plan.invariants.length / MANY_INVARIANTS),
  });
}

const HARMLESS: ReadonlySet<string> = new Set([...READ_ONLY_TOOLS, ...CONTEXT_TOOL_NAMES]);
const DELETING: ReadonlySet<string> = new Set(["delete_file", "delete_directory", "move_file"]);

/**
 * The planner's own estimate, else one by the capabilities of the tool; a step of which nothing is known is in the
 * middle.
 */
function riskOf({ risk, tool }: RiskyStep): number {
  if (risk !== undefined) return Math.min(1, Math.max(0, risk));
  if (tool === undefined) return 0.5;
  const name = tool.replace(/^builtin\//, "").replaceAll("-", "_");
  if (HARMLESS.has(name)) return 0.1;
  if (name === "shell_execute") return 0.8;
  return DELETING.has(name) ? 0.6 : 0.4;
}
