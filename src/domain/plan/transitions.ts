/**
 * The state machine of plans. A status is a pair (phase, state); the two tables below are all the moves there are.
 * Going on and going back are separate tables, so that "revert" can never name a later phase. Because the tables
 * `satisfies` a record over every status, a status without its row is a type error.
 */

type WorkState = "queued" | "processing" | "complete" | "errored" | "cancelled";
type ApplyState = "queued" | "processing" | "applied" | "constrained" | "errored" | "cancelled";

export type PlanStatus =
  | { readonly phase: "strategize" | "execute"; readonly state: WorkState }
  | { readonly phase: "apply"; readonly state: ApplyState };

/** A phase of a plan. */
export type Phase = PlanStatus["phase"];
/** A state within a phase. */
export type State = PlanStatus["state"];
export type StatusKey = `${"strategize" | "execute"}/${WorkState}` | `apply/${ApplyState}`;

export const PHASES = ["strategize", "execute", "apply"] as const satisfies readonly Phase[];
export const STATES = [
  "queued",
  "processing",
  "complete",
  "applied",
  "constrained",
  "errored",
  "cancelled",
] as const satisfies readonly State[];

/** `start*` on a plan that is already processing is a takeover: allowed only when its lease has lapsed. */
type ForwardOperation =
  | "startStrategize"
  | "completeStrategize"
  | "failStrategize"
  | "executePlan"
  | "startExecute"
  | "completeExecute"
  | "failExecute"
  | "applyPlan"
  | "startApply"
  | "completeApply"
  | "constrainApply"
  | "failApply"
  | "undoPlan"
  | "redoPlan"
  | "cancelPlan";

/**
 * `reviseStrategy` has the strategy made again within the attempt, for guidance that came before its first step;
 * `resolvePlan` gives an executed plan files that were merged by hand with its target, after which it is ready again;
 * `continuePlan` has more done on an executed plan, in the same attempt and sandbox;
 * `executePlan` and `applyPlan` on an errored phase queue it again with the same strategy; `revertPlan` always replans;
 * `rollbackPlan` keeps the strategy and executes again from a checkpoint. A running execution is rolled back only once
 * its lease has lapsed.
 */
type BackwardOperation =
  | "reviseStrategy"
  | "resolvePlan"
  | "continuePlan"
  | "revertPlan"
  | "rollbackPlan"
  | "executePlan"
  | "applyPlan";

export type PlanOperation = ForwardOperation | BackwardOperation;

export const MAX_REVERSIONS = 3;

const FORWARD = {
  "strategize/queued": { startStrategize: "strategize/processing", cancelPlan: "strategize/cancelled" },
  "strategize/processing": {
    startStrategize: "strategize/processing",
    completeStrategize: "strategize/complete",
    failStrategize: "strategize/errored",
    cancelPlan: "strategize/cancelled",
  },
  "strategize/complete": { executePlan: "execute/queued", cancelPlan: "strategize/cancelled" },
  // Steps recorded before the failure are not run again.
  "strategize/errored": { startStrategize: "strategize/processing", cancelPlan: "strategize/cancelled" },
  "strategize/cancelled": {},
  "execute/queued": { startExecute: "execute/processing", cancelPlan: "execute/cancelled" },
  "execute/processing": {
    startExecute: "execute/processing",
    completeExecute: "execute/complete",
    failExecute: "execute/errored",
    cancelPlan: "execute/cancelled",
  },
  // A plan that works in place has changes to undo as soon as it stops, applied or not.
  "execute/complete": {
    applyPlan: "apply/queued",
    undoPlan: "execute/complete",
    redoPlan: "execute/complete",
    cancelPlan: "execute/cancelled",
  },
  "execute/errored": { undoPlan: "execute/errored", redoPlan: "execute/errored", cancelPlan: "execute/cancelled" },
  "execute/cancelled": { undoPlan: "execute/cancelled", redoPlan: "execute/cancelled" },
  "apply/queued": {
    startApply: "apply/processing",
    constrainApply: "apply/constrained",
    cancelPlan: "apply/cancelled",
  },
  "apply/processing": {
    startApply: "apply/processing",
    completeApply: "apply/applied",
    constrainApply: "apply/constrained",
    failApply: "apply/errored",
    cancelPlan: "apply/cancelled",
  },
  // Undo and redo leave the plan applied; `undoneAt` says whether its changes are in the resources.
  "apply/applied": { undoPlan: "apply/applied", redoPlan: "apply/applied" },
  "apply/constrained": { undoPlan: "apply/constrained", redoPlan: "apply/constrained", cancelPlan: "apply/cancelled" },
  "apply/errored": { undoPlan: "apply/errored", redoPlan: "apply/errored", cancelPlan: "apply/cancelled" },
  "apply/cancelled": { undoPlan: "apply/cancelled", redoPlan: "apply/cancelled" },
} as const satisfies Record<StatusKey, Partial<Record<ForwardOperation, StatusKey>>>;

const BACKWARD = {
  "strategize/queued": {},
  "strategize/processing": {},
  "strategize/complete": { reviseStrategy: "strategize/queued" },
  "strategize/errored": { revertPlan: "strategize/queued" },
  "strategize/cancelled": {},
  "execute/queued": { revertPlan: "strategize/queued", rollbackPlan: "execute/queued" },
  "execute/processing": { revertPlan: "strategize/queued", rollbackPlan: "execute/queued" },
  "execute/complete": {
    resolvePlan: "execute/complete",
    continuePlan: "execute/queued",
    revertPlan: "strategize/queued",
    rollbackPlan: "execute/queued",
  },
  "execute/errored": {
    revertPlan: "strategize/queued",
    rollbackPlan: "execute/queued",
    executePlan: "execute/queued",
  },
  "execute/cancelled": {},
  "apply/queued": {},
  "apply/processing": {},
  "apply/applied": {},
  "apply/constrained": { revertPlan: "strategize/queued", rollbackPlan: "execute/queued" },
  "apply/errored": {
    resolvePlan: "execute/complete",
    revertPlan: "strategize/queued",
    rollbackPlan: "execute/queued",
    applyPlan: "apply/queued",
  },
  "apply/cancelled": {},
} as const satisfies Record<StatusKey, Partial<Record<BackwardOperation, StatusKey>>>;

export function statusKey({ phase, state }: PlanStatus): StatusKey {
  return `${phase}/${state}` as StatusKey;
}

export function parseStatusKey(key: string): PlanStatus | undefined {
  if (!Object.hasOwn(FORWARD, key)) return undefined;
  const [phase, state] = key.split("/");
  return { phase, state } as PlanStatus;
}

/** Where `operation` leads from `from`, or undefined when the tables have no such move. */
export function target(from: StatusKey, operation: PlanOperation): StatusKey | undefined {
  const forward: Partial<Record<PlanOperation, StatusKey>> = FORWARD[from];
  const backward: Partial<Record<PlanOperation, StatusKey>> = BACKWARD[from];
  return forward[operation] ?? backward[operation];
}

/** The statuses from which `operation` is possible. */
export function sources(operation: PlanOperation): StatusKey[] {
  return (Object.keys(FORWARD) as StatusKey[]).filter((key) => target(key, operation) !== undefined);
}

/** `applied` and `cancelled` are final; every other state is active. */
export function isTerminal({ state }: PlanStatus): boolean {
  return state === "applied" || state === "cancelled";
}

/** Stopped, and a person can send it on again. */
export function isRecoverable({ state }: PlanStatus): boolean {
  return state === "errored" || state === "constrained";
}
