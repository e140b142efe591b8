import { nextStep } from "../domain/errors/next-step.ts";
import { randomUUID } from "node:crypto";
import { ConflictError, NotFoundError, ValidationError } from "../domain/errors/errors.ts";
import type { EventType } from "../domain/plan/events.ts";
import { monotonicIds, type Clock, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import type { FailureCategory, PhaseTimes, Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import { lineProblem } from "../domain/text/text.ts";
import { loginName } from "../platform/user.ts";
import {
  isTerminal,
  MAX_REVERSIONS,
  parseStatusKey,
  PHASES,
  sources,
  statusKey,
  target,
  type PlanOperation,
  type Phase,
  type PlanStatus,
  type StatusKey,
} from "../domain/plan/transitions.ts";
import { isLanding } from "../ledger/journal.ts";
import { appendEvent } from "../ledger/event-log.ts";
import { cancelJobs } from "../ledger/jobs.ts";
import { requireNothingInPlace } from "./in-place-rules.ts";
import {
  acquireLease,
  endLease,
  revokeLapsedLease,
  revokeLease,
  staleLeaseError,
  type LeaseFacts,
} from "../ledger/leases.ts";
import { requireNoQuestion, withdrawQuestion } from "../ledger/questions.ts";
import { appendAudit } from "../store/tables/audit.ts";
import { findPlan, insertFailure, movePlan } from "../store/tables/plans.ts";
import type { Store, Tx } from "../store/port.ts";

/** The clock, ids and user that a service writes with. */
export interface RecordSource {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Recorded in the audit log as the one who asked. */
  readonly user: string;
}

/** The parts of every service; clock, ids and user have defaults so that only tests and simulations name them. */
export interface ServiceParts {
  readonly store: Store;
  readonly clock?: Clock;
  readonly ids?: IdGenerator;
  readonly user?: string;
}

export function recordSourceOf({
  clock = Date.now,
  ids = monotonicIds(clock),
  user = loginName(),
}: ServiceParts): RecordSource {
  const problem = user.trim() === "" ? "is empty" : lineProblem(user, 200);
  if (problem !== undefined)
    throw new ValidationError(`The user's name ${problem}.`, [{ path: "user", message: problem }]);
  return { clock, ids, user };
}

/** The effect of a transition on the plan's lease. */
export type LeaseUse =
  | { readonly kind: "acquire"; readonly holder: string; readonly ttlMs: number }
  | { readonly kind: "end"; readonly held: Pick<LeaseFacts, "planId" | "epoch" | "phase"> }
  | { readonly kind: "revoke" }
  /** Only allowed while no process holds the lease; afterwards no process holds it. */
  | { readonly kind: "lapsed" }
  | { readonly kind: "none" };

interface TransitionFailure {
  readonly message: string;
  readonly category: FailureCategory;
}

export interface TransitionRequest {
  readonly planId: PlanId;
  readonly operation: PlanOperation;
  readonly lease: LeaseUse;
  /** Refuse unless the plan is still at this version: what the caller saw is what they decided on. */
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
  readonly failure?: TransitionFailure | undefined;
  /** Failures of steps that ran side by side with the one that `failure` is about. */
  readonly otherFailures?: readonly TransitionFailure[] | undefined;
  /** For undo and redo: which steps are taken back now, and whether that is all of them. */
  readonly undone?: { readonly steps: readonly string[]; readonly all: boolean } | undefined;
  /** Further details for the event and the audit entry. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

export interface Transitioned {
  readonly plan: Plan;
  readonly lease: LeaseFacts | undefined;
}

/**
 * The only way a plan moves. In the caller's one transaction it checks the plan's (version, phase, state) against the
 * table, takes, ends or revokes the lease, writes the new row by compare-and-swap, the event and the audit entry. The
 * second of two callers gets a ConflictError with the expected and the actual status.
 */
export async function transition(
  tx: Tx,
  recordSource: RecordSource,
  request: TransitionRequest,
): Promise<Transitioned> {
  const plan = await findPlan(tx, request.planId);
  if (plan === undefined) throw new NotFoundError("plan", request.planId, { next: [nextStep("plan.list")] });
  const { status, from } = permitted(plan, request);
  // Only the lease holder may end it.
  if (request.lease.kind !== "end" && (await isLanding(tx, plan.id))) throw landingInProgressError(plan);
  if (request.operation === "revertPlan") await requireNothingInPlace(tx, plan);
  if (request.lease.kind === "acquire") await requireNoQuestion(tx, plan.id);
  if (WITHDRAWS.has(request.operation)) await withdrawQuestion(tx, plan.id);
  if (request.operation === "cancelPlan") await cancelJobs(tx, plan.id);
  const lease = await useLease(tx, plan, status.phase, request.lease);

  const at = recordSource.clock();
  const reverted = request.operation === "revertPlan";
  const after: Plan = {
    ...plan,
    ...status,
    version: plan.version + 1,
    attempt: plan.attempt + Number(reverted),
    reversionCount: plan.reversionCount + Number(reverted),
    cancelReason: request.operation === "cancelPlan" ? request.reason : plan.cancelReason,
    undoneAt: reverted ? undefined : request.undone === undefined ? plan.undoneAt : request.undone.all ? at : undefined,
    phaseTimes: nextTimes(plan, status, at),
    updatedAt: at,
  };
  if (!(await movePlan(tx, plan, after))) throw transitionConflictError(plan, request, sources(request.operation));
  if (request.failure !== undefined) {
    const kind = status.state === "constrained" ? "constrained" : "errored";
    for (const failure of [request.failure, ...(request.otherFailures ?? [])])
      await insertFailure(tx, plan.id, { ...failure, kind, phase: plan.phase, attempt: plan.attempt, at });
  }
  await record(tx, recordSource, request, from, after, lease);
  return { plan: after, lease };
}

/** After these operations the plan no longer waits for an answer. */
const WITHDRAWS: ReadonlySet<PlanOperation> = new Set(["cancelPlan", "revertPlan", "rollbackPlan"]);

/** Refuses a plan that is no longer as the caller saw it. */
export function requireVersion(plan: Plan, expectedVersion: number | undefined): void {
  if (expectedVersion === undefined || plan.version === expectedVersion) return;
  throw new ConflictError(
    `The plan ${plan.id} has changed in the meantime: it is now ${stateText(plan)}, at version ${plan.version} instead of ${expectedVersion}.`,
    { expected: { version: expectedVersion }, actual: { version: plan.version, status: statusKey(plan) } },
    { kept: "Nothing was changed.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

/** Where the request leads the plan; refused when its version is another, or its status has no such move. */
export function permitted(
  plan: Plan,
  request: Pick<TransitionRequest, "operation" | "expectedVersion">,
): { status: PlanStatus; from: StatusKey } {
  const { expectedVersion, operation } = request;
  requireVersion(plan, expectedVersion);
  const from = statusKey(plan);
  const to = target(from, operation);
  const status = to === undefined ? undefined : parseStatusKey(to);
  if (status === undefined) throw transitionConflictError(plan, request, sources(operation));
  if (operation === "revertPlan" && plan.reversionCount >= MAX_REVERSIONS) {
    throw new ConflictError(
      `The plan ${plan.id} was sent back ${MAX_REVERSIONS} times already, which is the limit.`,
      { expected: `fewer than ${MAX_REVERSIONS} reversions`, actual: plan.reversionCount },
      {
        kept: "Nothing was changed.",
        next: [
          nextStep("plan.cancel", { plan: plan.id }),
          nextStep("plan.use", { action: plan.action, projects: ["<project>"] }),
        ],
      },
    );
  }
  return { status, from };
}

async function useLease(tx: Tx, plan: Plan, phase: Phase, use: LeaseUse): Promise<LeaseFacts | undefined> {
  switch (use.kind) {
    case "acquire":
      return acquireLease(tx, { planId: plan.id, phase, holder: use.holder, ttlMs: use.ttlMs });
    case "end":
      if (use.held.phase !== plan.phase) throw staleLeaseError(use.held);
      await endLease(tx, use.held);
      return undefined;
    case "revoke":
      await revokeLease(tx, plan.id);
      return undefined;
    case "lapsed":
      await revokeLapsedLease(tx, plan.id);
      return undefined;
    case "none":
      return undefined;
  }
}

function nextTimes(plan: Plan, to: PlanStatus, at: number): Readonly<Record<Phase, PhaseTimes>> {
  const none: PhaseTimes = { startedAt: undefined, endedAt: undefined };
  const times = plan.phaseTimes[to.phase];
  switch (to.state) {
    case "queued": {
      // The phase begins again, and so do the later phases.
      const ahead = PHASES.slice(PHASES.indexOf(to.phase));
      return { ...plan.phaseTimes, ...Object.fromEntries(ahead.map((phase) => [phase, none])) };
    }
    case "processing":
      return { ...plan.phaseTimes, [to.phase]: { startedAt: times.startedAt ?? at, endedAt: undefined } };
    case "complete":
    case "applied":
    case "constrained":
    case "errored":
    case "cancelled":
      return { ...plan.phaseTimes, [to.phase]: { startedAt: times.startedAt, endedAt: times.endedAt ?? at } };
  }
}

async function record(
  tx: Tx,
  recordSource: RecordSource,
  request: TransitionRequest,
  from: StatusKey,
  plan: Plan,
  lease: LeaseFacts | undefined,
): Promise<void> {
  const details = {
    operation: request.operation,
    from,
    to: statusKey(plan),
    attempt: plan.attempt,
    ...(request.reason === undefined ? {} : { reason: request.reason }),
    ...(request.failure === undefined ? {} : { failure: request.failure }),
    ...(request.undone === undefined ? {} : { undone_steps: request.undone.steps }),
    ...request.facts,
    ...(lease === undefined ? {} : { holder: lease.holder, epoch: lease.epoch }),
  };
  const type = eventType(request.operation, from, plan);
  await recordEvent(tx, recordSource, { type, at: plan.updatedAt, plan, details });
}

/** Writes the event and the audit entry of one thing that happened, in the transaction in which it happens. */
export async function recordEvent(
  tx: Tx,
  recordSource: RecordSource,
  happened: { type: EventType; at: number; plan?: Plan; details: Readonly<Record<string, unknown>> },
): Promise<void> {
  const { type, at, plan, details } = happened;
  await appendEvent(tx, { id: recordSource.ids(), type, at, planId: plan?.id, details });
  await appendAudit(tx, {
    id: recordSource.ids(),
    chain: plan?.id ?? "system",
    type,
    at,
    user: recordSource.user,
    plan: plan === undefined ? undefined : { version: plan.version, status: statusKey(plan) },
    details,
  });
}

function eventType(operation: PlanOperation, from: StatusKey, to: PlanStatus): EventType {
  if (operation === "undoPlan") return "plan.undone";
  if (operation === "redoPlan") return "plan.redone";
  if (to.state === "applied") return "plan.applied";
  if (to.state === "cancelled") return "plan.cancelled";
  if (to.state === "errored") return "plan.errored";
  return parseStatusKey(from)?.phase === to.phase ? "plan.state_changed" : "plan.phase_changed";
}

/** While a landing is half done, no other transition may prevent that it is finished or rolled back. */
export function landingInProgressError(plan: Plan): ConflictError {
  return new ConflictError(
    `The changes of plan ${plan.id} are being written to its resources right now.`,
    { expected: "no unfinished apply, undo or redo", actual: "an unfinished apply, undo or redo" },
    {
      kept: "Nothing was changed; it ends with all of the changes or none.",
      next: [nextStep("plan.status", { plan: plan.id }), nextStep("plan.undo", { plan: plan.id })],
    },
  );
}

function transitionConflictError(
  plan: Plan,
  request: Pick<TransitionRequest, "operation">,
  expected: readonly StatusKey[],
): ConflictError {
  const verb = VERBS[request.operation];
  return new ConflictError(
    `The plan ${plan.id} is ${stateText(plan)} and cannot be ${verb}.`,
    { expected, actual: statusKey(plan), code: "invalid_transition" },
    {
      kept: isTerminal(plan) ? "It is final and stays as it is." : "Nothing was changed.",
      next: [
        ...(request.operation === "applyPlan" && !isTerminal(plan)
          ? [nextStep("plan.execute", { plan: plan.id })]
          : []),
        nextStep("plan.status", { plan: plan.id }),
      ],
    },
  );
}

const VERBS = {
  startStrategize: "strategized",
  completeStrategize: "completed in strategize",
  failStrategize: "failed in strategize",
  executePlan: "sent to execute",
  startExecute: "executed",
  completeExecute: "completed in execute",
  failExecute: "failed in execute",
  applyPlan: "sent to apply",
  startApply: "applied",
  completeApply: "completed in apply",
  constrainApply: "constrained",
  failApply: "failed in apply",
  undoPlan: "undone",
  redoPlan: "redone",
  cancelPlan: "cancelled",
  reviseStrategy: "given another strategy",
  resolvePlan: "resolved",
  continuePlan: "continued",
  revertPlan: "sent back to strategize",
  rollbackPlan: "rolled back",
} as const satisfies Record<PlanOperation, string>;

/** Names the owner of a lease in a way a person can find: the process and something unique within it. */
export function defaultHolder(): string {
  return `pid ${process.pid} ${randomUUID().slice(0, 8)}`;
}
