/**
 * `cleveragents/definitions`: the types and parsers of definition files. `parse…File` reads the text of a YAML
 * file, the other parsers a value that was read already; both report every problem at once, in one
 * `ValidationError`.
 */
export { parseActionFile } from "./catalog/action-file.ts";
export { parseActorFile } from "./catalog/actor-file.ts";
export { parseProfileFile } from "./catalog/profile-file.ts";
export { parseValidationFile } from "./catalog/validation-file.ts";

export { parseAction } from "./domain/action/action.ts";
export type { ActionDefinition, ActionInput, Actors } from "./domain/action/action.ts";
export type { ArgumentSpec, ArgumentType, ArgumentValue } from "./domain/action/arguments.ts";
export { ACTOR_ROLES } from "./domain/names/actor-roles.ts";
export type { ActorRole } from "./domain/names/actor-roles.ts";

export { parseActor, parseActors } from "./domain/actor/actor-parser.ts";
export type { ActorInput } from "./domain/actor/actor-parser.ts";
export type {
  ActorDefinition,
  ActorMemory,
  ActorOptions,
  ActorType,
  Branch,
  GraphActorDefinition,
  GraphEdge,
  GraphFunction,
  GraphNode,
  LlmActorDefinition,
  Reducer,
  Route,
} from "./domain/actor/actor.ts";
export type { ToolActorDefinition, ToolStep } from "./domain/actor/tool-actor.ts";
export { TOOL_NAMES } from "./domain/names/tool-names.ts";
export type { AddedToolName, ToolName, ToolRef } from "./domain/names/tool-names.ts";
export type { Environment } from "./domain/values/environment.ts";

export { parseProfile } from "./domain/profile/profile-definition.ts";
export type { ProfileDefinition } from "./domain/profile/profile-definition.ts";
export { PROFILE_NAMES } from "./domain/profile/automation-profile.ts";
export type { AutomationProfile, ProfileBudget, Threshold } from "./domain/profile/automation-profile.ts";
export type { Guards } from "./domain/profile/guards.ts";

export { parseValidation, READ_ONLY_TOOLS, VALIDATION_MODES } from "./domain/validation/validation.ts";
export type {
  Check,
  ReadOnlyTool,
  ValidationDefinition,
  ValidationInput,
  ValidationMode,
} from "./domain/validation/validation.ts";

export type { QualifiedName } from "./domain/names/qualified-name.ts";
export type { JsonObject, JsonValue } from "./domain/values/json.ts";
export { AgentsError, ValidationError } from "./domain/errors/errors.ts";
export type { ValidationIssue } from "./domain/errors/errors.ts";
