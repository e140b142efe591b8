import { isAbsolute } from "node:path";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { nearest } from "../text/suggest.ts";
import { checkText, lineProblem, shown, textProblem } from "../text/text.ts";

/**
 * Something a plan works on: a git checkout, a directory. One table lists the arguments of each type; the parser, the
 * flags of `agents resource add` and `agents resource type show` all read it, so that they cannot disagree.
 */
export interface ResourceTypeArgument {
  readonly name: "path" | "branch" | "sandbox";
  readonly type: "path" | "string";
  readonly required: boolean;
  readonly description: string;
  /** The only values it can have; the first is what it is unless given. */
  readonly choices?: readonly string[];
}

/** How a plan gets its own copy of a resource to work in; `none`: it gets none and works in place. */
export const SANDBOX_STRATEGIES = ["git_worktree", "filesystem_copy", "none"] as const;
export type SandboxStrategy = (typeof SANDBOX_STRATEGIES)[number];

/** Whether plans work on the user's own files there, without a copy. */
export function worksInPlace(
  place: { readonly strategy: SandboxStrategy } | { readonly sandbox: SandboxStrategy },
): boolean {
  return ("strategy" in place ? place.strategy : place.sandbox) === "none";
}

export interface ResourceType {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly ResourceTypeArgument[];
  /** The sandbox strategy for plans of such a resource unless it says otherwise. */
  readonly sandbox: SandboxStrategy;
}

const SANDBOX = {
  name: "sandbox",
  type: "string",
  required: false,
  description: "none works in place; by default plans work in a copy",
} as const;

export const RESOURCE_TYPES = [
  {
    name: "git-checkout",
    description: "The working tree of a git repository",
    arguments: [
      { name: "path", type: "path", required: true, description: "where it is: the top directory" },
      { name: "branch", type: "string", required: false, description: "the branch to work on" },
      { ...SANDBOX, choices: ["git_worktree", "none"] },
    ],
    sandbox: "git_worktree",
  },
  {
    name: "fs-directory",
    description: "A plain directory with everything in it",
    arguments: [
      { name: "path", type: "path", required: true, description: "where it is: the top directory" },
      { ...SANDBOX, choices: ["filesystem_copy", "none"] },
    ],
    sandbox: "filesystem_copy",
  },
] as const satisfies readonly ResourceType[];

export type ResourceTypeName = (typeof RESOURCE_TYPES)[number]["name"];
export const RESOURCE_TYPE_NAMES: readonly ResourceTypeName[] = RESOURCE_TYPES.map(({ name }) => name);

export interface ResourceDefinition {
  readonly name: QualifiedName;
  readonly type: ResourceTypeName;
  readonly description: string | undefined;
  /** Absolute; symbolic links are resolved when the resource is added. */
  readonly path: string;
  readonly branch: string | undefined;
  readonly sandbox: SandboxStrategy;
}

export interface Resource extends ResourceDefinition {
  /** The machine on which `path` is a directory. */
  readonly host: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The input of `addResource`: `arguments` are the ones that the type declares. */
export interface ResourceInput {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments: Readonly<Record<string, string | undefined>>;
}

/** A resource as one of its projects sees it. */
export interface ProjectResource {
  readonly project: QualifiedName;
  readonly resource: QualifiedName;
  readonly type: ResourceTypeName;
  /** The machine on which `path` is a directory. */
  readonly host: string;
  readonly path: string;
  readonly branch: string | undefined;
  readonly sandbox: SandboxStrategy;
  /** The name tools use for it in plans of the project; unique there in any letter case. */
  readonly alias: string;
  readonly readOnly: boolean;
  readonly linkedAt: number;
}

export function findResourceType(name: string): ResourceType | undefined {
  return RESOURCE_TYPES.find((type) => type.name === name);
}

/**
 * Parses and checks a resource completely, except for what only the disk can tell; every problem is in the one error.
 */
export function parseResource(input: ResourceInput): ResourceDefinition {
  const issues: ValidationIssue[] = [];
  const name = ownName(input.name, issues);
  if (input.description !== undefined) checkText(input.description, "description", issues);
  const given = new Map(
    Object.entries(input.arguments).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const type = RESOURCE_TYPES.find((candidate) => candidate.name === input.type);
  if (type === undefined) issues.push(unknownType(input.type));
  else issues.push(...argumentIssues(type, given));
  const path = given.get("path");
  const branch = given.get("branch");
  if (path !== undefined) issues.push(...problemOf("path", path, pathProblem(path)));
  if (branch !== undefined) issues.push(...problemOf("branch", branch, branchProblem(branch)));
  if (issues.length > 0 || name === undefined || type === undefined || path === undefined) {
    throw new ValidationError(`The resource is not valid: ${listIssues(issues)}.`, issues, {
      next: [type === undefined ? nextStep("resource.type.list") : nextStep("resource.type.show", { type: type.name })],
    });
  }
  const sandbox = (given.get("sandbox") ?? type.sandbox) as SandboxStrategy;
  return { name, type: type.name, description: input.description, path, branch, sandbox };
}

function ownName(text: string, issues: ValidationIssue[]): QualifiedName | undefined {
  try {
    return parseOwnName(text);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

function unknownType(wanted: string): ValidationIssue {
  const suggestion = nearest(wanted, RESOURCE_TYPE_NAMES);
  const message = `there is no resource type ${shown(wanted)} (known: ${RESOURCE_TYPE_NAMES.join(", ")})`;
  return { path: "type", message, ...(suggestion === undefined ? {} : { suggestion }) };
}

function argumentIssues(type: ResourceType, given: ReadonlyMap<string, string>): ValidationIssue[] {
  const missing = type.arguments
    .filter(({ name, required }) => required && !given.has(name))
    .map(({ name, description }) => ({ path: name, message: `${type.name} needs it (${description})` }));
  const declared: readonly string[] = type.arguments.map(({ name }) => name);
  const foreign = [...given.keys()].filter((name) => !declared.includes(name)).map((name) => foreignIssue(type, name));
  return [...missing, ...foreign, ...type.arguments.flatMap((argument) => choiceIssue(argument, given))];
}

function choiceIssue({ name, choices }: ResourceTypeArgument, given: ReadonlyMap<string, string>): ValidationIssue[] {
  const value = given.get(name);
  if (value === undefined || choices === undefined || choices.includes(value)) return [];
  const suggestion = nearest(value, choices);
  const message = `${shown(value)} is not one of ${choices.join(", ")}`;
  return [{ path: name, message, ...(suggestion === undefined ? {} : { suggestion }) }];
}

/** An argument the type does not have: another type's, or a typing mistake. */
function foreignIssue(type: ResourceType, name: string): ValidationIssue {
  const owners = RESOURCE_TYPES.filter((other: ResourceType) => other.arguments.some((one) => one.name === name));
  if (owners.length > 0) {
    return { path: name, message: `${type.name} has none, only ${owners.map((owner) => owner.name).join(", ")}` };
  }
  const declared = type.arguments.map((argument) => argument.name);
  const suggestion = nearest(name, declared);
  return {
    path: name,
    message: `${type.name} has no such argument (it has: ${declared.join(", ")})`,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function problemOf(field: string, value: string, problem: string | undefined): ValidationIssue[] {
  return problem === undefined ? [] : [{ path: field, message: `${shown(value)} ${problem}` }];
}

/** Undefined when `path` can be the place of a resource. */
export function pathProblem(path: string): string | undefined {
  if (path === "") return "is empty";
  const problem = textProblem(path, 4096);
  if (problem !== undefined) return problem;
  if (/[\n\r\t]/.test(path)) return "contains a line break or tab";
  return isAbsolute(path) ? undefined : "is not absolute";
}

/** Undefined when git could have a branch of that name; the rules of `git check-ref-format --branch`, and no "HEAD". */
export function branchProblem(branch: string): string | undefined {
  if (branch === "") return "is empty";
  const problem = lineProblem(branch, 250);
  if (problem !== undefined) return problem;
  if (branch.startsWith("-")) return 'starts with "-"';
  if (/[\s~^:?*[\\]/u.test(branch)) return 'contains a space or one of ~ ^ : ? * [ "\\"';
  if (branch.includes("..") || branch.includes("@{")) return 'contains ".." or "@{"';
  if (branch === "@" || branch === "HEAD" || branch.endsWith(".")) return "is not the name of a branch";
  const unusable = (part: string): boolean => part === "" || part.startsWith(".") || part.endsWith(".lock");
  return branch.split("/").some(unusable) ? 'has a part that is empty, starts with "." or ends in ".lock"' : undefined;
}
