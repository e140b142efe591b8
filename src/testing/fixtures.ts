/** The things most tests of plans need: an action, plans at a wanted status, a change entry. */
import { createHash } from "node:crypto";
import { Lease } from "../ledger/leases.ts";
import type { ActionInput } from "../domain/action/action.ts";
import type { ChangeEntryInput } from "../domain/plan/change-entry.ts";
import type { PlanOperation, Phase, StatusKey } from "../domain/plan/transitions.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { completeApply } from "./complete-apply.ts";

export const ACTION_NAME = "local/fix";

export function actionInput(name: string = ACTION_NAME): ActionInput {
  return {
    name,
    description: "Make the tests pass",
    executionActor: "local/worker",
    definitionOfDone: "All tests pass",
  };
}

/** A created file whose content is told by its path. */
export function created(path: string): ChangeEntryInput {
  const hash = createHash("sha256").update(path).digest("hex");
  return { resource: "api", path, operation: "create", after: { hash, mode: 0o100644 } };
}

/** How each status is reached from strategize/queued. */
const ROUTES: Readonly<Record<StatusKey, readonly PlanOperation[]>> = (() => {
  const strategized = ["startStrategize", "completeStrategize"] as const;
  const executing = [...strategized, "executePlan", "startExecute"] as const;
  const applyQueued = [...executing, "completeExecute", "applyPlan"] as const;
  return {
    "strategize/queued": [],
    "strategize/processing": ["startStrategize"],
    "strategize/complete": strategized,
    "strategize/errored": ["startStrategize", "failStrategize"],
    "strategize/cancelled": ["cancelPlan"],
    "execute/queued": [...strategized, "executePlan"],
    "execute/processing": executing,
    "execute/complete": [...executing, "completeExecute"],
    "execute/errored": [...executing, "failExecute"],
    "execute/cancelled": [...strategized, "executePlan", "cancelPlan"],
    "apply/queued": applyQueued,
    "apply/processing": [...applyQueued, "startApply"],
    "apply/applied": [...applyQueued, "startApply", "completeApply"],
    "apply/constrained": [...applyQueued, "constrainApply"],
    "apply/errored": [...applyQueued, "startApply", "failApply"],
    "apply/cancelled": [...applyQueued, "cancelPlan"],
  };
})();

export const STATUSES: readonly StatusKey[] = Object.keys(ROUTES) as StatusKey[];

export interface PlanAt {
  readonly id: PlanId;
  /** The lease that was taken last, held only while the plan is processing; undefined when none was ever taken. */
  readonly lease: Lease | undefined;
}

/** Makes a plan of the fixture action and moves it to `status`. */
export async function planAt(
  service: PlanLifecycleService,
  status: StatusKey,
  options: { ttlMs?: number } = {},
): Promise<PlanAt> {
  const { id } = await service.useAction({ action: ACTION_NAME });
  return { id, lease: await moveTo(service, id, status, options) };
}

/** Moves a plan that is at strategize/queued to `status`. */
export async function moveTo(
  service: PlanLifecycleService,
  id: PlanId,
  status: StatusKey,
  options: { ttlMs?: number } = {},
): Promise<Lease | undefined> {
  let lease: Lease | undefined;
  for (const operation of ROUTES[status]) {
    const result = await perform(service, {
      operation,
      planId: id,
      lease: needsLease(operation) ? lease : undefined,
      ...options,
    });
    if (result instanceof Lease) lease = result;
  }
  return lease;
}

export interface Move {
  readonly operation: PlanOperation;
  readonly planId: PlanId;
  /** For the operations of a lease's holder. `constrainApply` goes by the plan's id without it. */
  readonly lease?: Lease | undefined;
  readonly ttlMs?: number;
}

export function needsLease(operation: PlanOperation): boolean {
  return /^(complete|fail)/.test(operation);
}

/** The phase a lease must be of to be used for the operation. */
export function leasePhase(operation: PlanOperation): Phase | undefined {
  const phase = /^(?:complete|fail|constrain)(Strategize|Execute|Apply)$/.exec(operation)?.[1];
  return phase?.toLowerCase() as Phase | undefined;
}

/** Calls the service's method of that name. Starting returns the lease, everything else the plan. */
export async function perform(service: PlanLifecycleService, move: Move): Promise<Plan | Lease> {
  const { operation, planId, lease, ttlMs } = move;
  const start = ttlMs === undefined ? {} : { ttlMs };
  const failure = { message: `${operation} by a test` };
  // The service's types do not let a lease of another phase through; the tests want to see it refused at run time too.
  const held = <P extends Phase>(): Lease<P> => {
    if (lease === undefined) throw new Error(`${operation} needs a lease`);
    return lease as Lease<P>;
  };
  switch (operation) {
    case "startStrategize":
      return service.startStrategize(planId, start);
    case "completeStrategize":
      return service.completeStrategize(held());
    case "failStrategize":
      return service.failStrategize(held(), failure);
    case "executePlan":
      return service.executePlan(planId);
    case "startExecute":
      return service.startExecute(planId, start);
    case "completeExecute":
      return service.completeExecute(held());
    case "failExecute":
      return service.failExecute(held(), failure);
    case "applyPlan":
      return service.applyPlan(planId);
    case "startApply":
      return service.startApply(planId, start);
    case "completeApply":
      return completeApply(held());
    case "constrainApply":
      return service.constrainApply(lease === undefined ? planId : held(), failure);
    case "failApply":
      return service.failApply(held(), failure);
    case "cancelPlan":
      return service.cancelPlan(planId);
    case "revertPlan":
      return service.revertPlan(planId);
    case "reviseStrategy":
    case "resolvePlan":
    case "continuePlan":
      throw new Error(`${operation} comes only with what a person says or does`);
    case "undoPlan":
    case "redoPlan":
      throw new Error(`${operation} comes only with a landing in the resources`);
    case "rollbackPlan":
      return (await service.rollbackPlan(planId, "start")).plan;
  }
}
