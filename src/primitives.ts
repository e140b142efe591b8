/**
 * `cleveragents/primitives`: the parts that keep plans exact when many threads and processes work at once. The
 * store, the lifecycle of plans with its leases, the record of changes, the circuit breaker, and strategies in
 * worker threads.
 */
export { openStore } from "./store/sqlite/open-store.ts";
export type { OpenStoreOptions } from "./store/sqlite/open-store.ts";
export type { ContentPort, Reader, SqlValue, Store, Tx } from "./store/port.ts";

export { PlanLifecycleService } from "./plans/plan-lifecycle-service.ts";
export type {
  FailureInput,
  ListedAction,
  MoveOptions,
  PlanList,
  PlanQuery,
  StartOptions,
} from "./plans/plan-lifecycle-service.ts";
export type { RollbackImpact, RolledBack } from "./plans/rollback.ts";
export type { ServiceParts } from "./plans/transition.ts";
export type { ProjectLinkInput, UseActionInput } from "./plans/use-action.ts";
export type { PlanSummary } from "./store/tables/plan-summaries.ts";
export type { FailureCategory, PhaseTimes, Plan, PlanFailure, ProjectLink } from "./domain/plan/plan.ts";
export type { Phase, State } from "./domain/plan/transitions.ts";
export type { Action, ActionInput } from "./domain/action/action.ts";
export type { ChangesetId, Clock, DecisionId, IdGenerator, InvocationId, PlanId } from "./domain/names/ids.ts";

export { Lease, LEASE_TTL_MS } from "./ledger/leases.ts";
export { runStep } from "./ledger/steps.ts";
export type { StepResult, Together } from "./ledger/steps.ts";
export { subscribeEvents } from "./ledger/event-log.ts";
export type { SubscribeOptions } from "./ledger/event-log.ts";
export type { DomainEvent, EventType } from "./domain/plan/events.ts";

export { ChangesetHandle, PlanExecutionContext } from "./execution/workspace/plan-execution-context.ts";
export { ChangesetStore } from "./ledger/changesets.ts";
export type { Changeset } from "./ledger/changesets.ts";
export type { CallEnd, CallStart } from "./ledger/invocations.ts";
export type { InvocationEnd } from "./domain/plan/decision.ts";
export type {
  ChangeEntry,
  ChangeEntryInput,
  ChangeOperation,
  FileImage,
  FileImageInput,
} from "./domain/plan/change-entry.ts";

export { CircuitBreaker } from "./context/breaker/circuit-breaker.ts";
export type { BreakerWord, CircuitBreakerOptions, SharedBreaker } from "./context/breaker/circuit-breaker.ts";
export type { BreakerSettings } from "./context/breaker/breaker-settings.ts";
export type { BreakerPermit } from "./context/breaker/breaker-permit.ts";
export type { BreakerChange, BreakerTransition, TransitionListener } from "./context/breaker/breaker-transitions.ts";
export type { BreakerState } from "./context/breaker/breaker-word.ts";
export { ParallelStrategyExecutor } from "./context/executor/parallel-strategy-executor.ts";
export type {
  ParallelStrategyExecutorOptions,
  DeadlineTimers,
  StrategyAllocation,
  StrategyResults,
} from "./context/executor/parallel-strategy-executor.ts";
export type { StrategyOutcome } from "./context/executor/strategy-task.ts";
export type { Fragment, Strategy, StrategyContext } from "./context/executor/strategy-protocol.ts";

export {
  AgentsError,
  BreakerFullError,
  BreakerOpenError,
  ConflictError,
  NotFoundError,
  PlanError,
  StaleLeaseError,
  StoreError,
  UnitOfWorkError,
  ValidationError,
} from "./domain/errors/errors.ts";
