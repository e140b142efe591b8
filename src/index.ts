/** The library: everything the command line does is done through these. */
export { BudgetedModels } from "./actors/budgeted-models.ts";
export type { PricedModels } from "./actors/budgeted-models.ts";
export { runGraph } from "./actors/graph/run-graph.ts";
export type { GraphInput, GraphOutcome, GraphPorts, NodeEvent } from "./actors/graph/run-graph.ts";
export { builtInActor, offeredActors } from "./actors/built-in-actors.ts";
export { ModelError } from "./actors/model-error.ts";
export type { ModelErrorKind } from "./actors/model-error.ts";
export { ModelGateway } from "./actors/model-gateway.ts";
export { modelOf } from "./actors/model-of.ts";
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
export { findProfile, mustBeApproved, PROFILE_NAMES } from "./domain/automation-profile.ts";
export type { AutomationProfile, ProfileBudget, ProfileSource, Threshold } from "./domain/automation-profile.ts";
export type { GuardName, Guards, Tightening } from "./domain/guards.ts";
export { parseProfile } from "./domain/profile-definition.ts";
export type { ProfileDefinition } from "./domain/profile-definition.ts";
export type {
  ChangeEntry,
  ChangeEntryInput,
  ChangeOperation,
  FileImage,
  FileImageInput,
} from "./domain/change-entry.ts";
export { assess, decide } from "./domain/confidence.ts";
export type { Assessment, ConfidenceFactors } from "./domain/confidence.ts";
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
export { dollars, parseDollars } from "./domain/money.ts";
export type { Project, ProjectInput } from "./domain/project.ts";
export { nameKey, nameParts, parseOwnName, parseQualifiedName } from "./domain/qualified-name.ts";
export type { NameParts, QualifiedName } from "./domain/qualified-name.ts";
export { parseActor, parseActors } from "./domain/actor-parser.ts";
export type { ActorInput } from "./domain/actor-parser.ts";
export type * from "./domain/actor.ts";
export { evaluate, holds, parseExpression } from "./domain/expression.ts";
export type { Expression } from "./domain/expression.ts";
export { actorVariables, parseToolActor, renderParams, stepOrder } from "./domain/tool-actor.ts";
export { TOOL_NAMES } from "./domain/tool-names.ts";
export type { ToolActor, ToolActorDefinition, ToolActorInput, ToolStep } from "./domain/tool-actor.ts";
export type { ToolName } from "./domain/tool-names.ts";
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
export { daySpending, ownBudget, planSpending, setOwnBudget } from "./ledger/budget-report.ts";
export type { DaySpending, Spending } from "./ledger/budget-report.ts";
export { Budget } from "./ledger/budgets.ts";
export type { Bound, BudgetWarning, Cap, Caps, Reservation } from "./ledger/budgets.ts";
export { ChangesetStore } from "./ledger/changesets.ts";
export type { Changeset } from "./ledger/changesets.ts";
export { subscribeEvents } from "./ledger/events.ts";
export type { SubscribeOptions } from "./ledger/events.ts";
export { Lease, LEASE_TTL_MS } from "./ledger/leases.ts";
export { openQuestion } from "./ledger/questions.ts";
export type { Question } from "./ledger/questions.ts";
export { runStep } from "./ledger/steps.ts";
export { familiarity, successRate } from "./ledger/track-record.ts";
export type { OperationType } from "./ledger/track-record.ts";
export type { StepResult } from "./ledger/steps.ts";
export { latestValidations } from "./ledger/validation-runs.ts";
export type { ValidationRunResults } from "./ledger/validation-runs.ts";
export { budgetedModels, configuredCaps } from "./plans/budgeted-models.ts";
export { afterStrategy, beforeDecision, shouldApply } from "./plans/gates.ts";
export type { Choice, Gate, RiskyStep } from "./plans/gates.ts";
export { guidanceOf, pauseFor, promptPlan } from "./plans/pausing.ts";
export type { Asking, Guidance, Prompted } from "./plans/pausing.ts";
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
export type { ActorServiceParts, ListedActor } from "./plans/actor-service.ts";
export { parseActorFile } from "./plans/actor-file.ts";
export { resolveActor } from "./plans/resolve-actor.ts";
export type { ActorSources } from "./plans/resolve-actor.ts";
export { PlanApplier } from "./plans/plan-applier.ts";
export type { ApplyOptions, LandedPlan, UndoOptions } from "./plans/plan-applier.ts";
export type { OnRunEvent, RunEvent } from "./plans/run-events.ts";
export { PlanExecutor } from "./plans/plan-executor.ts";
export type { ExecuteOptions, Executed } from "./plans/plan-executor.ts";
export { recoverLandings } from "./plans/plan-recovery.ts";
export type { Recovered, RecoveryParts } from "./plans/plan-recovery.ts";
export { GuardService } from "./plans/guard-service.ts";
export type { GuardReport } from "./plans/guard-service.ts";
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
export { ProfileService } from "./plans/profile-service.ts";
export type { OwnProfile } from "./store/profiles.ts";
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
