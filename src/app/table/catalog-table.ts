/** Actors, actions, resources, projects, validations and automation profiles: what plans are made of. */
import { ACTION_STATES } from "../../domain/action/action-state.ts";
import { RESOURCE_TYPE_NAMES, RESOURCE_TYPES, type ResourceType } from "../../domain/resource/resource.ts";
import type { Parameter, TableEntry } from "../base/operation.ts";

/** The arguments of all types of resources; the operation refuses those that are not of the type at hand. */
const TYPE_ARGUMENTS: readonly Parameter[] = [
  ...new Set(RESOURCE_TYPES.flatMap((type) => type.arguments.map(({ name }) => name))),
].map((name) => {
  const takers = RESOURCE_TYPES.filter((type: ResourceType) => type.arguments.some((one) => one.name === name));
  const argument = takers.flatMap((type: ResourceType) => type.arguments).find((one) => one.name === name);
  const only = takers.length === RESOURCE_TYPES.length ? "" : ` (${takers.map((type) => type.name).join(", ")})`;
  const about = `${argument?.description}${only}`;
  return argument?.type === "path" ? { name, about, value: "path", kind: "path" } : { name, about, value: "text" };
});

const NAMESPACE: Parameter = { name: "namespace", about: "only of this namespace", value: "name" };
const DESCRIPTION: Parameter = { name: "description", about: "one line about it", value: "text", short: "d" };

function named(name: string, about: string): Parameter {
  return { name, about, positional: true, required: true };
}

const ACTOR = named("actor", "the actor's name, such as local/greeter or ollama/qwen3");
const ACTION = named("action", "the action's name");
const RESOURCE = named("resource", "the resource's name");
const RESOURCE_TYPE = named("type", "the type of resource");
const PROJECT = named("project", "the project's name");
const VALIDATION = named("validation", "the validation's name");
const PROFILE = named("profile", "the profile's name");

/** The YAML file that defines something. */
function definition(kind: string): Parameter {
  return {
    name: "definition",
    about: `the ${kind} in YAML ("-" reads standard input)`,
    value: "file",
    kind: "document",
    word: "config",
    short: "c",
    required: true,
  };
}

const REPLACE: Parameter = { name: "replace", about: "in the place of one that has the name already", kind: "flag" };

export const CATALOG_TABLE = {
  "actor.add": {
    summary: "Register the actors of a YAML file",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [
      definition("actor"),
      {
        name: "allowEnv",
        about: "let the file send this environment variable to its model's endpoint",
        value: "name",
        many: true,
      },
      { name: "replace", about: "in the place of actors that have the name already", kind: "flag" },
    ],
    example: { definition: { file: "greeter.yaml" } },
    load: () => import("../operations/actor-add.ts"),
  },
  "actor.list": {
    summary: "List actors",
    role: "reader",
    writes: false,
    parameters: [NAMESPACE],
    example: {},
    load: () => import("../operations/actor-list.ts"),
  },
  "actor.show": {
    summary: "Show an actor: its model, tools and graph, or its steps",
    role: "reader",
    writes: false,
    parameters: [ACTOR],
    example: { actor: "local/greeter" },
    load: () => import("../operations/actor-show.ts"),
  },
  "actor.run": {
    summary: "Ask an actor or a model, outside of any plan and without tools",
    role: "operator",
    writes: true,
    parameters: [
      ACTOR,
      { name: "prompt", about: "the question", positional: true, required: true, kind: "words" },
      { name: "system", about: "the system prompt, instead of the actor's", value: "text" },
      { name: "temperature", about: "sampling temperature, from 0 to 2", value: "number", kind: "number" },
      { name: "maxOutputTokens", about: "the longest answer, in tokens", value: "count", kind: "integer" },
      { name: "topP", about: "nucleus sampling (top-p), from 0 to 1", value: "number", kind: "number" },
      {
        name: "effort",
        about: "how much the model thinks: off, low, medium, high or a number of tokens",
        value: "effort",
      },
      { name: "provider", about: "this provider instead of the actor's", value: "name" },
      { name: "model", about: "this model instead of the actor's", value: "name" },
    ],
    example: { actor: "ollama/qwen3", prompt: "What is a lease?" },
    load: () => import("../operations/actor-run.ts"),
  },
  "actor.remove": {
    summary: "Remove an actor that is not in use",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [ACTOR],
    example: { actor: "local/greeter" },
    load: () => import("../operations/actor-remove.ts"),
  },
  "actor.set-default": {
    summary: "Set the default actor of a role, for plans whose action names none",
    role: "operator",
    writes: true,
    parameters: [{ name: "role", about: "the role: strategy or execution", positional: true, required: true }, ACTOR],
    example: { role: "strategy", actor: "anthropic/claude-sonnet-4-5" },
    load: () => import("../operations/actor-set-default.ts"),
  },
  "action.create": {
    summary: "Create an action from a YAML file",
    role: "operator",
    writes: true,
    parameters: [definition("action"), REPLACE],
    example: { definition: { file: "fix-bug.yaml" } },
    load: () => import("../operations/action-create.ts"),
  },
  "action.list": {
    summary: "List actions",
    role: "reader",
    writes: false,
    parameters: [NAMESPACE, { name: "state", about: "only in this state", value: "state", choices: ACTION_STATES }],
    tool: { takes: ["namespace", "state"] },
    example: { state: "available" },
    load: () => import("../operations/action-list.ts"),
  },
  "action.show": {
    summary: "Show an action with its arguments",
    role: "reader",
    writes: false,
    parameters: [ACTION],
    tool: { takes: ["action"] },
    example: { action: "local/fix-bug" },
    load: () => import("../operations/action-show.ts"),
  },
  "action.archive": {
    summary: "Archive an action; its plans continue",
    role: "operator",
    writes: true,
    parameters: [ACTION],
    example: { action: "local/fix-bug" },
    load: () => import("../operations/action-archive.ts"),
  },
  "resource.add": {
    summary: "Register a resource that plans work on",
    role: "operator",
    writes: true,
    parameters: [RESOURCE_TYPE, RESOURCE, ...TYPE_ARGUMENTS, DESCRIPTION],
    example: { type: "git-checkout", resource: "api", path: ".", branch: "main" },
    load: () => import("../operations/resource-add.ts"),
  },
  "resource.set": {
    summary: "Say where a resource is now that was moved on the disk",
    role: "operator",
    writes: true,
    parameters: [RESOURCE, { name: "path", about: "where it is now", value: "path", kind: "path", required: true }],
    example: { resource: "api", path: "../api" },
    load: () => import("../operations/resource-set.ts"),
  },
  "resource.list": {
    summary: "List resources",
    role: "reader",
    writes: false,
    parameters: [{ name: "type", about: "only of this type", value: "type", choices: RESOURCE_TYPE_NAMES }, NAMESPACE],
    example: { type: "git-checkout" },
    load: () => import("../operations/resource-list.ts"),
  },
  "resource.show": {
    summary: "Show a resource and the projects that have it",
    role: "reader",
    writes: false,
    parameters: [RESOURCE],
    example: { resource: "api" },
    load: () => import("../operations/resource-show.ts"),
  },
  "resource.remove": {
    summary: "Remove a resource that no project has; its files stay",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [RESOURCE],
    example: { resource: "api" },
    load: () => import("../operations/resource-remove.ts"),
  },
  "resource.type.list": {
    summary: "List resource types",
    role: "reader",
    writes: false,
    example: {},
    load: () => import("../operations/resource-type-list.ts"),
  },
  "resource.type.show": {
    summary: "Show a resource type with its flags",
    role: "reader",
    writes: false,
    parameters: [RESOURCE_TYPE],
    example: { type: "git-checkout" },
    load: () => import("../operations/resource-type-show.ts"),
  },
  "project.create": {
    summary: "Create a project",
    role: "operator",
    writes: true,
    parameters: [
      PROJECT,
      DESCRIPTION,
      { name: "resources", about: "link this resource to it", value: "name", many: true, word: "resource" },
    ],
    example: { project: "shop", description: "The web shop" },
    load: () => import("../operations/project-create.ts"),
  },
  "project.list": {
    summary: "List projects",
    role: "reader",
    writes: false,
    parameters: [NAMESPACE],
    example: {},
    load: () => import("../operations/project-list.ts"),
  },
  "project.show": {
    summary: "Show a project",
    role: "reader",
    writes: false,
    parameters: [PROJECT],
    example: { project: "shop" },
    load: () => import("../operations/project-show.ts"),
  },
  "project.link-resource": {
    summary: "Give a project a resource to work on",
    role: "operator",
    writes: true,
    parameters: [
      PROJECT,
      RESOURCE,
      { name: "alias", about: "the name its plans use (the resource's name unless given)", value: "alias" },
      { name: "readOnly", about: "its plans may read but not change it", kind: "flag" },
    ],
    example: { project: "shop", resource: "api", alias: "backend" },
    load: () => import("../operations/project-link-resource.ts"),
  },
  "project.unlink-resource": {
    summary: "Unlink a resource from a project without active plans",
    role: "operator",
    writes: true,
    parameters: [PROJECT, { name: "alias", about: "its alias or its name", positional: true, required: true }],
    example: { project: "shop", alias: "backend" },
    load: () => import("../operations/project-unlink-resource.ts"),
  },
  "project.delete": {
    summary: "Delete a project without active plans; its resources stay",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [PROJECT, { name: "force", about: "cancel its active plans first", kind: "flag" }],
    example: { project: "shop" },
    load: () => import("../operations/project-delete.ts"),
  },
  "validation.add": {
    summary: "Register a validation from a YAML file",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [definition("validation"), REPLACE],
    example: { definition: { file: "tests.yaml" } },
    load: () => import("../operations/validation-add.ts"),
  },
  "validation.list": {
    summary: "List validations and what they are attached to",
    role: "reader",
    writes: false,
    parameters: [NAMESPACE],
    example: {},
    load: () => import("../operations/validation-list.ts"),
  },
  "validation.show": {
    summary: "Show a validation and its attachments",
    role: "reader",
    writes: false,
    parameters: [VALIDATION],
    example: { validation: "tests" },
    load: () => import("../operations/validation-show.ts"),
  },
  "validation.remove": {
    summary: "Remove a validation that has no attachments",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [VALIDATION],
    example: { validation: "tests" },
    load: () => import("../operations/validation-remove.ts"),
  },
  "validation.attach": {
    summary: "Attach a validation to a resource, for all plans or only some",
    role: "operator",
    writes: true,
    parameters: [
      RESOURCE,
      VALIDATION,
      { name: "project", about: "only in plans of this project", value: "name" },
      { name: "plan", about: "only in this plan", value: "plan" },
    ],
    example: { resource: "api", validation: "tests", project: "shop" },
    load: () => import("../operations/validation-attach.ts"),
  },
  "validation.detach": {
    summary: "Remove an attachment; recorded results stay",
    role: "operator",
    writes: true,
    parameters: [{ name: "attachment", about: "the attachment's id", positional: true, required: true }],
    example: { attachment: "01JABCDE" },
    load: () => import("../operations/validation-detach.ts"),
  },
  "automation-profile.add": {
    summary: "Define an automation profile from a YAML file",
    role: "admin",
    writes: true,
    parameters: [definition("profile"), REPLACE],
    example: { definition: { file: "careful.yaml" } },
    load: () => import("../operations/automation-profile-add.ts"),
  },
  "automation-profile.list": {
    summary: "List automation profiles, the built-in ones first",
    role: "reader",
    writes: false,
    parameters: [NAMESPACE],
    example: {},
    load: () => import("../operations/automation-profile-list.ts"),
  },
  "automation-profile.show": {
    summary: "Show an automation profile: thresholds, safety, guards, budget",
    role: "reader",
    writes: false,
    parameters: [PROFILE],
    example: { profile: "trusted" },
    load: () => import("../operations/automation-profile-show.ts"),
  },
  "automation-profile.remove": {
    summary: "Remove an automation profile that is not in use; plans keep theirs",
    role: "admin",
    writes: true,
    asks: true,
    parameters: [PROFILE],
    example: { profile: "careful" },
    load: () => import("../operations/automation-profile-remove.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
