/** The library: everything the command line does is done through these. */
export { ModelError } from "./actors/model-error.ts";
export type { ModelErrorKind } from "./actors/model-error.ts";
export { ModelGateway } from "./actors/model-gateway.ts";
export type * from "./actors/model.ts";
export { configuredProviders } from "./actors/providers.ts";
export type { Provider } from "./actors/providers.ts";
export type { CountTokens } from "./actors/prices.ts";
export type { Patience } from "./actors/retry.ts";
export { CircuitBreaker } from "./context/circuit-breaker.ts";
export type * from "./context/circuit-breaker.ts";
export { ParallelStrategyExecutor } from "./context/parallel-strategy-executor.ts";
export type * from "./context/parallel-strategy-executor.ts";
export { listBreakers, resetBreakers } from "./context/breaker-record.ts";
export type { BreakerStatus } from "./context/breaker-record.ts";
export type * from "./context/model.ts";
export type { AttachedValidation, Attachment, AttachmentScope } from "./domain/attachment.ts";
export { ACTOR_ROLES, parseAction } from "./domain/action.ts";
export type { Action, ActionDefinition, ActionInput, ActionState, ActorRole, Actors } from "./domain/action.ts";
export type { ArgumentSpec, ArgumentType, ArgumentValue, GivenArguments } from "./domain/arguments.ts";
export { findProfile, PROFILE_NAMES } from "./domain/automation-profile.ts";
export type { AutomationProfile, ProfileSource, Threshold } from "./domain/automation-profile.ts";
export type {
  ChangeEntry,
  ChangeEntryInput,
  ChangeOperation,
  FileImage,
  FileImageInput,
} from "./domain/change-entry.ts";
export { CONTEXT_VIEWS, resolveView } from "./domain/context-policy.ts";
export type { ContextPolicy, ContextView, ResolvedView, ViewPolicy } from "./domain/context-policy.ts";
export { DECISION_TYPES, PHASE_TYPES } from "./domain/decision.ts";
export type {
  ChosenCall,
  ChosenWork,
  Decision,
  DecisionType,
  InvocationEnd,
  Thought,
  ToolInvocation,
} from "./domain/decision.ts";
export * from "./domain/errors.ts";
export { EVENT_TYPES } from "./domain/events.ts";
export type { DomainEvent, EventType } from "./domain/events.ts";
export { monotonicIds } from "./domain/ids.ts";
export type { AttachmentId, ChangesetId, Clock, DecisionId, IdGenerator, InvocationId, PlanId } from "./domain/ids.ts";
export type { JsonObject, JsonValue } from "./domain/json.ts";
export type { FailureCategory, PhaseTimes, Plan, PlanFailure, ProjectLink } from "./domain/plan.ts";
export type { Project, ProjectInput } from "./domain/project.ts";
export { nameKey, nameParts, parseOwnName, parseQualifiedName } from "./domain/qualified-name.ts";
export type { NameParts, QualifiedName } from "./domain/qualified-name.ts";
export { actorVariables, parseToolActor, renderParams, stepOrder, TOOL_NAMES } from "./domain/tool-actor.ts";
export type { ToolActor, ToolActorDefinition, ToolActorInput, ToolName, ToolStep } from "./domain/tool-actor.ts";
export { holdsMask, maskJson, maskSecrets, secretValues } from "./domain/redaction.ts";
export type { Masked } from "./domain/redaction.ts";
export { findResourceType, parseResource, RESOURCE_TYPES } from "./domain/resource.ts";
export type {
  ProjectResource,
  Resource,
  ResourceDefinition,
  ResourceInput,
  ResourceType,
  ResourceTypeArgument,
  ResourceTypeName,
} from "./domain/resource.ts";
export { isRecoverable, isTerminal, MAX_REVERSIONS, PHASES, STATES, statusKey, target } from "./domain/transitions.ts";
export type { Operation, Phase, PlanStatus, State, StatusKey } from "./domain/transitions.ts";
export { parseValidation, READ_ONLY_TOOLS, VALIDATION_MODES } from "./domain/validation.ts";
export type {
  Check,
  ReadOnlyTool,
  Validation,
  ValidationDefinition,
  ValidationInput,
  ValidationMode,
} from "./domain/validation.ts";
export type { ValidatedPlace, ValidationResult, ValidationRun } from "./domain/validation-result.ts";
export { commitMessage, recordedCommitMessage } from "./execution/commit-message.ts";
export { recordedHooks } from "./execution/hooks.ts";
export type { HookId } from "./execution/hooks.ts";
export { dependants, stepsOfDecision } from "./execution/decided-steps.ts";
export { ChangesetHandle, PlanExecutionContext } from "./execution/plan-execution-context.ts";
export { validationGate } from "./execution/validation-gate.ts";
export type { GateFailure, ValidationGate } from "./execution/validation-gate.ts";
export { ChangesetStore } from "./ledger/changesets.ts";
export type { Changeset } from "./ledger/changesets.ts";
export { subscribeEvents } from "./ledger/events.ts";
export type { SubscribeOptions } from "./ledger/events.ts";
export { Lease, LEASE_TTL_MS } from "./ledger/leases.ts";
export { runStep } from "./ledger/steps.ts";
export type { StepResult } from "./ledger/steps.ts";
export { latestValidations } from "./ledger/validation-runs.ts";
export type { ValidationRunResults } from "./ledger/validation-runs.ts";
export { ContextPolicyService } from "./plans/context-policy-service.ts";
export type { ProjectPolicy } from "./plans/context-policy-service.ts";
export { contextConfiguration } from "./plans/context-configuration.ts";
export type { ContextConfiguration } from "./plans/context-configuration.ts";
export { ContextService } from "./plans/context-service.ts";
export type { BudgetSource } from "./plans/budget-for.ts";
export type { ContextResult, ContextWish } from "./plans/context-service.ts";
export type { ContextPlace } from "./plans/context-places.ts";
export type { IndexedPlace } from "./plans/index-places.ts";
export { directorySource, projectSource } from "./plans/project-context.ts";
export type { ContextSource } from "./plans/project-context.ts";
export { PlanContextService } from "./plans/plan-context-service.ts";
export type { ExecutingContext, PlanContextSummary, PlanSource } from "./plans/plan-context-service.ts";
export { ActorService } from "./plans/actor-service.ts";
export type { ListedActor } from "./plans/actor-service.ts";
export { PlanApplier } from "./plans/plan-applier.ts";
export type { ApplyOptions, LandedPlan, UndoOptions } from "./plans/plan-applier.ts";
export type { PlanModels } from "./plans/actor-hands.ts";
export type { RunGraph } from "./plans/plan-thinking.ts";
export type { OnRunEvent, RunEvent } from "./plans/run-events.ts";
export { PlanExecutor } from "./plans/plan-executor.ts";
export type { ExecuteOptions, Executed } from "./plans/plan-executor.ts";
export { recoverLandings } from "./plans/plan-recovery.ts";
export type { Recovered, RecoveryParts } from "./plans/plan-recovery.ts";
export { PlanLifecycleService } from "./plans/plan-lifecycle-service.ts";
export type {
  FailureInput,
  ListedAction,
  MoveOptions,
  PlanList,
  PlanQuery,
  StartOptions,
} from "./plans/plan-lifecycle-service.ts";
export type { Checkpoint, RollbackImpact, RolledBack } from "./plans/rollback.ts";
export { ProjectService } from "./plans/project-service.ts";
export type { CreateProjectInput, ListedProject } from "./plans/project-service.ts";
export type { ResourceLinkInput } from "./plans/project-links.ts";
export { ResourceService } from "./plans/resource-service.ts";
export type { ListedResource } from "./plans/resource-service.ts";
export type { ProjectLinkInput, UseActionInput } from "./plans/use-action.ts";
export { ValidationService } from "./plans/validation-service.ts";
export type { AttachInput, ListedValidation } from "./plans/validation-service.ts";
export { verifyAudit } from "./store/audit-verify.ts";
export type { AuditProblem, AuditVerification } from "./store/audit-verify.ts";
export { openStore } from "./store/open.ts";
export type { OpenStoreOptions } from "./store/open.ts";
export type { PlanSummary } from "./store/plans.ts";
export type { ResourceFilter } from "./store/resources.ts";
export type { Reader, SqlValue, Store, Tx } from "./store/store.ts";
