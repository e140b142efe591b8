/** The library: everything the command line does is done through these. */
export { BudgetedModels } from "./actors/models/budgeted-models.ts";
export type { PricedModels } from "./actors/models/budgeted-models.ts";
export { runGraph } from "./actors/graph/run-graph.ts";
export type { GraphInput, GraphOutcome, GraphPorts, NodeEvent } from "./actors/graph/run-graph.ts";
export { builtInActor, offeredActors } from "./actors/providers/built-in-actors.ts";
export { ModelError } from "./actors/models/model-error.ts";
export type { ModelErrorKind } from "./actors/models/model-error.ts";
export { ModelGateway } from "./actors/model-gateway.ts";
export { modelOf } from "./actors/providers/actor-model.ts";
export type * from "./actors/models/model.ts";
export { configuredProviders } from "./actors/providers/providers.ts";
export type { Provider } from "./actors/providers/providers.ts";
export type { CountTokens } from "./actors/providers/prices.ts";
export type { Patience } from "./actors/providers/retry.ts";
export { CircuitBreaker } from "./context/breaker/circuit-breaker.ts";
export type * from "./context/breaker/circuit-breaker.ts";
export { ParallelStrategyExecutor } from "./context/executor/parallel-strategy-executor.ts";
export type * from "./context/executor/parallel-strategy-executor.ts";
export { listBreakers, resetBreakers } from "./context/breaker/breaker-record.ts";
export type { BreakerStatus } from "./context/breaker/breaker-record.ts";
export type * from "./context/model/context-model.ts";
export type { AttachedValidation, Attachment, AttachmentScope } from "./domain/validation/attachment.ts";
export { ACTOR_ROLES, parseAction } from "./domain/action/action.ts";
export type { Action, ActionDefinition, ActionInput, ActionState, ActorRole, Actors } from "./domain/action/action.ts";
export type { ArgumentSpec, ArgumentType, ArgumentValue, GivenArguments } from "./domain/action/arguments.ts";
export { findProfile, mustBeApproved, PROFILE_NAMES } from "./domain/profile/automation-profile.ts";
export type {
  AutomationProfile,
  ProfileBudget,
  ProfileSource,
  Threshold,
} from "./domain/profile/automation-profile.ts";
export type { GuardName, Guards, Tightening } from "./domain/profile/guards.ts";
export { parseProfile } from "./domain/profile/profile-definition.ts";
export type { ProfileDefinition } from "./domain/profile/profile-definition.ts";
export type {
  ChangeEntry,
  ChangeEntryInput,
  ChangeOperation,
  FileImage,
  FileImageInput,
} from "./domain/plan/change-entry.ts";
export { assess, decide } from "./domain/plan/confidence.ts";
export type { Assessment, ConfidenceFactors } from "./domain/plan/confidence.ts";
export { CONTEXT_VIEWS, resolveView } from "./domain/context/context-policy.ts";
export type { ContextPolicy, ContextView, ResolvedView, ViewPolicy } from "./domain/context/context-policy.ts";
export { DECISION_TYPES, PHASE_TYPES } from "./domain/plan/decision.ts";
export type {
  ChosenCall,
  ChosenWork,
  Decision,
  DecisionType,
  InvocationEnd,
  Thought,
  ToolInvocation,
} from "./domain/plan/decision.ts";
export * from "./domain/errors/errors.ts";
export { nextStep } from "./domain/errors/next-step.ts";
export type { NextStep } from "./domain/errors/next-step.ts";
export { EVENT_TYPES } from "./domain/plan/events.ts";
export type { DomainEvent, EventType } from "./domain/plan/events.ts";
export { monotonicIds } from "./domain/names/ids.ts";
export type {
  AttachmentId,
  ChangesetId,
  Clock,
  DecisionId,
  IdGenerator,
  InvocationId,
  PlanId,
} from "./domain/names/ids.ts";
export type { JsonObject, JsonValue } from "./domain/values/json.ts";
export type { FailureCategory, PhaseTimes, Plan, PlanFailure, ProjectLink } from "./domain/plan/plan.ts";
export { dollars, parseDollars } from "./domain/money/money.ts";
export type { Project, ProjectInput } from "./domain/resource/project.ts";
export { nameKey, nameParts, parseOwnName, parseQualifiedName } from "./domain/names/qualified-name.ts";
export type { NameParts, QualifiedName } from "./domain/names/qualified-name.ts";
export { parseActor, parseActors } from "./domain/actor/actor-parser.ts";
export type { ActorInput } from "./domain/actor/actor-parser.ts";
export type * from "./domain/actor/actor.ts";
export { evaluate, holds, parseExpression } from "./domain/values/expression.ts";
export type { Expression } from "./domain/values/expression.ts";
export { actorVariables, parseToolActor, renderParams, stepOrder } from "./domain/actor/tool-actor.ts";
export { TOOL_NAMES } from "./domain/names/tool-names.ts";
export type { ToolActor, ToolActorDefinition, ToolActorInput, ToolStep } from "./domain/actor/tool-actor.ts";
export type { ToolName } from "./domain/names/tool-names.ts";
export { holdsMask, maskJson, maskSecrets, secretValues } from "./domain/secrets/redaction.ts";
export type { Masked } from "./domain/secrets/redaction.ts";
export { findResourceType, parseResource, RESOURCE_TYPES } from "./domain/resource/resource.ts";
export type {
  ProjectResource,
  Resource,
  ResourceDefinition,
  ResourceInput,
  ResourceType,
  ResourceTypeArgument,
  ResourceTypeName,
} from "./domain/resource/resource.ts";
export {
  isRecoverable,
  isTerminal,
  MAX_REVERSIONS,
  PHASES,
  STATES,
  statusKey,
  target,
} from "./domain/plan/transitions.ts";
export type { Operation, Phase, PlanStatus, State, StatusKey } from "./domain/plan/transitions.ts";
export { parseValidation, READ_ONLY_TOOLS, VALIDATION_MODES } from "./domain/validation/validation.ts";
export type {
  Check,
  ReadOnlyTool,
  Validation,
  ValidationDefinition,
  ValidationInput,
  ValidationMode,
} from "./domain/validation/validation.ts";
export type { ValidatedPlace, ValidationResult, ValidationRun } from "./domain/validation/validation-result.ts";
export { commitMessage, recordedCommitMessage } from "./changes/commit-message.ts";
export { recordedHooks } from "./execution/checks/hooks.ts";
export type { HookId } from "./execution/checks/hooks.ts";
export { dependants, stepsOfDecision } from "./changes/decided-steps.ts";
export { ChangesetHandle, PlanExecutionContext } from "./execution/workspace/plan-execution-context.ts";
export { validationGate } from "./execution/checks/validation-gate.ts";
export type { GateFailure, ValidationGate } from "./execution/checks/validation-gate.ts";
export { daySpending, planSpending } from "./ledger/budget-report.ts";
export { allowedBudget, ownBudget, setOwnBudget, type BudgetLimits } from "./ledger/own-budget.ts";
export type { DaySpending, Spending } from "./ledger/budget-report.ts";
export { Budget } from "./ledger/budgets.ts";
export type { Bound, BudgetWarning, Cap, Caps, Reservation } from "./ledger/budgets.ts";
export { ChangesetStore } from "./ledger/changesets.ts";
export type { Changeset } from "./ledger/changesets.ts";
export { subscribeEvents } from "./ledger/event-log.ts";
export type { SubscribeOptions } from "./ledger/event-log.ts";
export { Lease, LEASE_TTL_MS } from "./ledger/leases.ts";
export { openQuestion } from "./ledger/questions.ts";
export type { Question } from "./ledger/questions.ts";
export { runStep } from "./ledger/steps.ts";
export { familiarity, successRate } from "./ledger/track-record.ts";
export type { OperationType } from "./ledger/track-record.ts";
export type { StepResult } from "./ledger/steps.ts";
export { latestValidations } from "./ledger/validation-runs.ts";
export type { ValidationRunResults } from "./ledger/validation-runs.ts";
export { budgetedModels, configuredCaps } from "./runs/budget-caps.ts";
export { afterStrategy, beforeDecision, shouldApply } from "./plans/autonomy.ts";
export type { Choice, Gate, RiskyStep } from "./plans/autonomy.ts";
export { guidanceOf, pauseFor, promptPlan } from "./plans/plan-questions.ts";
export type { Asking, Guidance, Prompted } from "./plans/plan-questions.ts";
export { ContextPolicyService } from "./catalog/context-policy-service.ts";
export type { ProjectPolicy } from "./catalog/context-policy-service.ts";
export { contextConfiguration } from "./context/front/context-configuration.ts";
export type { ContextConfiguration } from "./context/front/context-configuration.ts";
export { ContextService } from "./context/front/context-service.ts";
export type { BudgetSource } from "./context/front/assembly-budget.ts";
export type { ContextResult, ContextOrder } from "./context/front/context-service.ts";
export type { ContextPlace } from "./context/front/context-places.ts";
export type { IndexedPlace } from "./context/front/index-places.ts";
export { directorySource, projectSource } from "./catalog/project-context.ts";
export type { ContextSource } from "./catalog/project-context.ts";
export { PlanContextService } from "./runs/plan-context-service.ts";
export type { ExecutingContext, PlanContextSummary, PlanSource } from "./runs/plan-context-service.ts";
export { ActorService } from "./catalog/actor-service.ts";
export type { ActorServiceParts, ListedActor } from "./catalog/actor-service.ts";
export { parseActorFile } from "./catalog/actor-file.ts";
export { resolveActor } from "./catalog/resolve-actor.ts";
export type { ActorSources } from "./catalog/resolve-actor.ts";
export { PlanApplier } from "./apply/plan-applier.ts";
export type { ApplyOptions, UndoOptions } from "./apply/plan-applier.ts";
export type { LandedPlan } from "./apply/plan-landing.ts";
export type { RunEvent, Tell } from "./domain/run-event.ts";
export { PlanExecutor } from "./runs/plan-executor.ts";
export { DataDirectory } from "./platform/data-directory.ts";
export type { ExecuteOptions, Executed } from "./runs/plan-executor.ts";
export { recoverLandings } from "./apply/plan-recovery.ts";
export type { Recovered, RecoveryParts } from "./apply/plan-recovery.ts";
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
export { ProfileService } from "./catalog/profile-service.ts";
export type { OwnProfile } from "./store/tables/profiles.ts";
export { ProjectService } from "./catalog/project-service.ts";
export type { CreateProjectInput, ListedProject } from "./catalog/project-service.ts";
export type { ResourceLinkInput } from "./catalog/project-links.ts";
export { ResourceService } from "./catalog/resource-service.ts";
export type { ListedResource } from "./catalog/resource-service.ts";
export type { ProjectLinkInput, UseActionInput } from "./plans/use-action.ts";
export { ValidationService } from "./catalog/validation-service.ts";
export type { AttachInput, ListedValidation } from "./catalog/validation-service.ts";
export { verifyAudit } from "./store/tables/audit-verification.ts";
export type { AuditProblem, AuditVerification } from "./store/tables/audit-verification.ts";
export { openStore } from "./store/sqlite/open-store.ts";
export type { OpenStoreOptions } from "./store/sqlite/open-store.ts";
export type { PlanSummary } from "./store/tables/plans.ts";
export type { ResourceFilter } from "./store/tables/resources.ts";
export type { Reader, SqlValue, Store, Tx } from "./store/port.ts";
