/**
 * `cleveragents`: one object that does everything the command line does. `cleveragents/primitives` has the parts
 * below it as they are, `cleveragents/definitions` the types and parsers of definition files.
 */
export { openCleverAgents } from "./app/open.ts";
export type { CallOptions, CleverAgents, OpenOptions } from "./app/open.ts";
export { OPERATIONS } from "./app/table/operation-table.ts";
export type { InputOf, OperationName, OutputOf } from "./app/table/operation-table.ts";
export type { Parameter, ParameterKind, Role, TableEntry } from "./app/base/operation.ts";
export { approveEverything } from "./app/base/call.ts";
export type { Ask, Call, Question, Reply, Shown } from "./app/base/call.ts";
export type { Environment } from "./domain/values/environment.ts";
export type { Paths } from "./app/base/paths.ts";
export { VERSION } from "./app/base/package-version.ts";
export type {
  AnswerEvent,
  AskWait,
  BudgetWarningEvent,
  GatewayReadyEvent,
  ChecklistEvent,
  HookEvent,
  KeptFilesEvent,
  LandingEvent,
  ModelEvent,
  NoticeEvent,
  PlanMadeEvent,
  ProgressEvent,
  RunEvent,
  RunStartedEvent,
  SandboxEvent,
  StepEvent,
  Tell,
  ToolEvent,
  ValidationEvent,
} from "./domain/run-event.ts";
export type { Microdollars } from "./domain/money/money.ts";
export type { ResolvedSetting } from "./domain/settings/settings.ts";
export type { NextStep } from "./domain/errors/next-step.ts";
export type { JsonObject, JsonValue } from "./domain/values/json.ts";
export {
  AgentsError,
  AuditBrokenError,
  AwaitingInputError,
  BreakerFullError,
  BreakerOpenError,
  BudgetError,
  ConfigurationError,
  ConflictError,
  DecisionPhaseViolationError,
  NotFoundError,
  PlanError,
  StaleLeaseError,
  StoreError,
  StuckError,
  UnitOfWorkError,
  UsageError,
  ValidationError,
} from "./domain/errors/errors.ts";
export type { ErrorCode, ErrorExtras, ValidationIssue } from "./domain/errors/errors.ts";
