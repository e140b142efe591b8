/** One line for each transition that several callers may ask for at the same time. */
import type { PlanOperation, StatusKey } from "../domain/plan/transitions.ts";

export interface Race {
  readonly from: StatusKey;
  readonly operation: PlanOperation;
  /** Whether all callers act under the lease of the running phase. */
  readonly underLease: boolean;
}

export const RACES: readonly Race[] = [
  { from: "strategize/queued", operation: "startStrategize", underLease: false },
  { from: "strategize/processing", operation: "completeStrategize", underLease: true },
  { from: "strategize/processing", operation: "failStrategize", underLease: true },
  { from: "strategize/complete", operation: "executePlan", underLease: false },
  { from: "execute/queued", operation: "startExecute", underLease: false },
  { from: "execute/processing", operation: "completeExecute", underLease: true },
  { from: "execute/processing", operation: "failExecute", underLease: true },
  { from: "execute/errored", operation: "executePlan", underLease: false },
  { from: "execute/complete", operation: "applyPlan", underLease: false },
  { from: "apply/queued", operation: "startApply", underLease: false },
  { from: "apply/processing", operation: "completeApply", underLease: true },
  { from: "apply/processing", operation: "constrainApply", underLease: true },
  { from: "apply/queued", operation: "constrainApply", underLease: false },
  { from: "apply/processing", operation: "failApply", underLease: true },
  { from: "apply/errored", operation: "applyPlan", underLease: false },
  { from: "strategize/queued", operation: "cancelPlan", underLease: false },
  { from: "execute/processing", operation: "cancelPlan", underLease: false },
  { from: "apply/constrained", operation: "cancelPlan", underLease: false },
  { from: "strategize/errored", operation: "revertPlan", underLease: false },
  { from: "execute/processing", operation: "revertPlan", underLease: false },
  { from: "apply/constrained", operation: "revertPlan", underLease: false },
];
