import * as z from "zod";
import {
  ARGUMENT_NAME,
  ARGUMENT_TYPES,
  coerce,
  wholeMatch,
  type ArgumentSpec,
  type ArgumentValue,
} from "./arguments.ts";
import type { ActionState } from "./action-state.ts";
import { parseActorName } from "../names/actor-name.ts";
import type { ActorRole } from "../names/actor-roles.ts";
import { findProfile, type AutomationProfile } from "../profile/automation-profile.ts";
import { ConflictError, listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import {
  collect,
  filled,
  filledLine,
  formIssues,
  line,
  onlyKeys,
  text,
  type KnownKeys,
} from "../definition/checked-schema.ts";
import { checkTemplate } from "../values/template.ts";

/** A reusable template of plans. This schema is the only one: the YAML loader, the service and the docs all use it. */

export { ACTOR_ROLES, type ActorRole } from "../names/actor-roles.ts";
/** The actor of each role. */
export type Actors = Readonly<Record<ActorRole, QualifiedName | undefined>>;

export type { ActionState };

/** An action as its file defines it, checked. */
export interface ActionDefinition {
  readonly name: QualifiedName;
  readonly description: string;
  readonly longDescription: string | undefined;
  readonly definitionOfDone: string;
  readonly actors: Actors;
  /** The actors that the strategist may give single steps to, the execution actor first; empty for only that one. */
  readonly stepActors: readonly QualifiedName[];
  readonly arguments: readonly ArgumentSpec[];
  readonly invariants: readonly string[];
  readonly automationProfile: string | undefined;
  readonly reusable: boolean;
  readonly readOnly: boolean;
}

/** A registered action: the template of plans. */
export interface Action extends ActionDefinition {
  readonly state: ActionState;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const argumentSchema = z.strictObject({
  name: z.string().regex(ARGUMENT_NAME, { message: "must start with a letter, then letters, digits, _ or -" }),
  type: z.enum(ARGUMENT_TYPES).default("string"),
  required: z.boolean().default(false),
  description: line.default(""),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  pattern: text.optional(),
});

/** The strategist is told of each. */
export const STEP_ACTOR_LIMIT = 20;

export const actionSchema = z.strictObject({
  name: z.string(),
  description: filledLine,
  longDescription: filled.optional(),
  strategyActor: z.string().optional(),
  executionActor: z.string().optional(),
  executionActors: z.array(z.string()).min(1).max(STEP_ACTOR_LIMIT).optional(),
  definitionOfDone: filled,
  arguments: z.array(argumentSchema).default([]),
  invariants: z.array(filled).default([]),
  automationProfile: z.string().optional(),
  reusable: z.boolean().default(true),
  readOnly: z.boolean().default(false),
});

/** The input of `createAction`: the YAML keys in camelCase. */
export type ActionInput = z.input<typeof actionSchema>;

const KNOWN_KEYS: KnownKeys = {
  own: Object.keys(actionSchema.shape),
  list: "arguments",
  items: Object.keys(argumentSchema.shape),
  refused: Object.fromEntries(
    ["estimationActor", "reviewActor", "applyActor", "invariantActor"].map((key) => [
      key,
      "is not implemented: no part of a plan would use this actor; remove the line",
    ]),
  ),
};

/**
 * Parses and checks an action completely; every problem is in the one error. `own` are the profiles it may name besides
 * the built-in ones.
 */
export function parseAction(input: unknown, own: readonly AutomationProfile[] = []): ActionDefinition {
  const issues: ValidationIssue[] = [];
  let parsed = actionSchema.safeParse(input);
  if (!parsed.success) {
    issues.push(...formIssues(parsed.error, KNOWN_KEYS));
    // Unknown keys need not hide what else is wrong: look again without them.
    parsed = actionSchema.safeParse(withoutUnknownKeys(input));
    if (!parsed.success) refuse([...nameIssues(input), ...issues]);
  }
  const { data } = parsed;
  const attempt = <T>(parse: () => T): T | undefined => collect(parse, issues);

  const name = attempt(() => parseOwnName(data.name));
  const actors = {
    strategy: actor(data.strategyActor, "strategyActor", attempt),
    execution: actor(data.executionActor ?? data.executionActors?.[0], "executionActor", attempt),
  };
  if (data.executionActor !== undefined && data.executionActors !== undefined)
    issues.push({ path: "executionActors", message: "cannot go with execution_actor: name all of them here" });
  const stepActors = (data.executionActors ?? []).flatMap(
    (one, index) => actor(one, `executionActors.${index}`, attempt) ?? [],
  );
  const specs = data.arguments.map((argument, index) => argumentSpec(argument, index, issues));
  const names = specs.map((spec) => spec.name);
  for (const [index, one] of names.entries()) {
    if (names.indexOf(one) < index) {
      issues.push({ path: `arguments.${index}.name`, message: `"${one}" is declared twice` });
    }
  }
  issues.push(
    ...checkTemplate(data.description, "description", names),
    ...checkTemplate(data.definitionOfDone, "definitionOfDone", names),
  );
  const profileName = data.automationProfile;
  const profile =
    profileName === undefined ? undefined : attempt(() => findProfile(profileName, "automationProfile", own));
  if (issues.length > 0 || name === undefined) refuse(issues);
  return {
    name,
    description: data.description,
    longDescription: data.longDescription,
    definitionOfDone: data.definitionOfDone,
    actors,
    stepActors,
    arguments: specs,
    invariants: data.invariants,
    automationProfile: profile?.name,
    reusable: data.reusable,
    readOnly: data.readOnly,
  };
}

/** A missing key need not hide that the name is not usable. */
function nameIssues(input: unknown): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const named = z.object({ name: z.string() }).safeParse(input);
  if (named.success) collect(() => parseOwnName(named.data.name), issues);
  return issues;
}

function actor(
  value: string | undefined,
  path: string,
  attempt: <T>(parse: () => T) => T | undefined,
): QualifiedName | undefined {
  return value === undefined ? undefined : attempt(() => parseActorName(value, path));
}

function argumentSpec(
  argument: z.output<typeof argumentSchema>,
  index: number,
  issues: ValidationIssue[],
): ArgumentSpec {
  const at = `arguments.${index}`;
  const { name, type, min, max, pattern } = argument;
  const sized = type !== "boolean";
  if (!sized && (min !== undefined || max !== undefined)) {
    issues.push({ path: at, message: `"${name}" is a boolean and cannot have min or max` });
  }
  if (min !== undefined && max !== undefined && min > max) {
    issues.push({ path: `${at}.min`, message: `"${name}" has min ${min} above max ${max}` });
  }
  let usablePattern = pattern;
  if (pattern !== undefined && (type === "string" || type === "list")) {
    try {
      wholeMatch(pattern);
    } catch (error) {
      usablePattern = undefined;
      issues.push({ path: `${at}.pattern`, message: `"${name}" has no valid regular expression: ${String(error)}` });
    }
  } else if (pattern !== undefined) {
    issues.push({ path: `${at}.pattern`, message: `"${name}" is a ${type} and cannot have a pattern` });
  }
  const spec: ArgumentSpec = {
    name,
    type,
    required: argument.required,
    description: argument.description,
    default: undefined,
    min: min === undefined ? undefined : min + 0,
    max: max === undefined ? undefined : max + 0,
    pattern: usablePattern,
  };
  return { ...spec, default: defaultValue(spec, argument.default, at, issues) };
}

function defaultValue(
  spec: ArgumentSpec,
  raw: ArgumentValue | undefined,
  at: string,
  issues: ValidationIssue[],
): ArgumentValue | undefined {
  if (raw === undefined) return undefined;
  const found: ValidationIssue[] = [];
  const value = coerce(spec, raw, found);
  issues.push(...found.map(({ message }) => ({ path: `${at}.default`, message: `default: ${message}` })));
  return value;
}

function withoutUnknownKeys(input: unknown): unknown {
  const known = onlyKeys(input, KNOWN_KEYS.own);
  const given = known["arguments"];
  return Array.isArray(given) ? { ...known, arguments: given.map((item) => onlyKeys(item, KNOWN_KEYS.items)) } : known;
}

function refuse(issues: readonly ValidationIssue[]): never {
  throw new ValidationError(`The action is not valid: ${listIssues(issues)}.`, issues);
}

/** Refuses an archived action for new plans. Existing plans are never touched by archiving. */
export function assertAvailable(action: Action): void {
  if (action.state === "available") return;
  throw new ConflictError(
    `The action "${action.name}" is archived and takes no new plans.`,
    { expected: "available", actual: action.state },
    { kept: "Nothing was written; its existing plans continue.", next: [nextStep("action.list")] },
  );
}
