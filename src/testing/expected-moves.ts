/**
 * The moves of a plan, written down a second time, by hand and from the description of the lifecycle, so that a slip in
 * the product's table is seen: each line is a status, an operation, and the status it leads to. All other moves are
 * refused.
 */
import type { PlanOperation, StatusKey } from "../domain/plan/transitions.ts";

const LINES = `
  strategize/queued      startStrategize     strategize/processing
  strategize/queued      cancelPlan          strategize/cancelled

  strategize/processing  startStrategize     strategize/processing
  strategize/processing  completeStrategize  strategize/complete
  strategize/processing  failStrategize      strategize/errored
  strategize/processing  cancelPlan          strategize/cancelled

  strategize/complete    executePlan         execute/queued
  strategize/complete    reviseStrategy      strategize/queued
  strategize/complete    cancelPlan          strategize/cancelled

  strategize/errored     startStrategize     strategize/processing
  strategize/errored     revertPlan          strategize/queued
  strategize/errored     cancelPlan          strategize/cancelled

  execute/queued         startExecute        execute/processing
  execute/queued         revertPlan          strategize/queued
  execute/queued         rollbackPlan        execute/queued
  execute/queued         cancelPlan          execute/cancelled

  execute/processing     startExecute        execute/processing
  execute/processing     completeExecute     execute/complete
  execute/processing     failExecute         execute/errored
  execute/processing     revertPlan          strategize/queued
  execute/processing     rollbackPlan        execute/queued
  execute/processing     cancelPlan          execute/cancelled

  execute/complete       applyPlan           apply/queued
  execute/complete       revertPlan          strategize/queued
  execute/complete       rollbackPlan        execute/queued
  execute/complete       cancelPlan          execute/cancelled

  execute/errored        executePlan         execute/queued
  execute/errored        revertPlan          strategize/queued
  execute/errored        rollbackPlan        execute/queued
  execute/errored        cancelPlan          execute/cancelled

  apply/queued           startApply          apply/processing
  apply/queued           constrainApply      apply/constrained
  apply/queued           cancelPlan          apply/cancelled

  apply/processing       startApply          apply/processing
  apply/processing       completeApply       apply/applied
  apply/processing       constrainApply      apply/constrained
  apply/processing       failApply           apply/errored
  apply/processing       cancelPlan          apply/cancelled

  apply/constrained      revertPlan          strategize/queued
  apply/constrained      rollbackPlan        execute/queued
  apply/constrained      cancelPlan          apply/cancelled

  apply/errored          applyPlan           apply/queued
  apply/errored          revertPlan          strategize/queued
  apply/errored          rollbackPlan        execute/queued
  apply/errored          cancelPlan          apply/cancelled
`;

export interface ExpectedMove {
  readonly from: StatusKey;
  readonly operation: PlanOperation;
  readonly to: StatusKey;
}

export const EXPECTED_MOVES: readonly ExpectedMove[] = LINES.split("\n")
  .map((line) => line.trim().split(/\s+/))
  .filter((words) => words.length === 3)
  .map(([from, operation, to]) => ({ from, operation, to }) as ExpectedMove);

export const OPERATIONS = [
  "startStrategize",
  "completeStrategize",
  "failStrategize",
  "executePlan",
  "startExecute",
  "completeExecute",
  "failExecute",
  "applyPlan",
  "startApply",
  "completeApply",
  "constrainApply",
  "failApply",
  "cancelPlan",
  "revertPlan",
  "rollbackPlan",
] as const satisfies readonly PlanOperation[];

export function expectedTarget(from: StatusKey, operation: PlanOperation): StatusKey | undefined {
  return EXPECTED_MOVES.find((move) => move.from === from && move.operation === operation)?.to;
}
