import * as z from "zod";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { parseJson, type JsonObject, type JsonValue } from "../values/json.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { jsonForm, withForm, type FormRules } from "../definition/json-form.ts";
import {
  collect,
  filledLine,
  fitting,
  formIssues,
  onlyKeys,
  suggested,
  type KnownKeys,
} from "../definition/checked-schema.ts";
import { firstCycles, waves, type Node } from "./step-graph.ts";
import { placeholders, renderTemplate } from "../values/template.ts";
import { shown } from "../text/text.ts";
import { unknownTool } from "../definition/unknown-tool.ts";
import { TOOL_NAMES, toolRef, type ToolRef } from "../names/tool-names.ts";

/**
 * An actor that needs no model: a fixed graph of tool calls. Steps that say what they need form a graph; when no step
 * does, they run in order. Arguments of the action go into the parameters by `{name}`, the only templating there is.
 */
export interface ToolActorDefinition {
  readonly name: QualifiedName;
  readonly type: "tool";
  readonly description: string;
  readonly steps: readonly ToolStep[];
}

/** One tool call of a tool actor, and the steps it waits for. */
export interface ToolStep {
  readonly id: string;
  readonly tool: ToolRef;
  readonly params: JsonObject;
  /** Ids of the steps that must have ended before this one begins. Empty for all steps: one after the other. */
  readonly needs: readonly string[];
}

const STEP_LIMIT = 1_000;
const PARAMS_LIMITS = { depth: 16, bytes: 256 * 1024 };
const RENDERED_LIMIT = 1024 * 1024;
const STEP_ID = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;
/** Other kinds of actors: what else is in their files is not judged here. */
const OTHER_TYPES = ["llm", "graph", "acp"];
const ONLY_TOOL = "this must be a tool actor";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const stepId = z.string().regex(STEP_ID, { message: 'must be a letter, then up to 99 letters, digits, "_" or "-"' });

const stepSchema = z.strictObject({
  id: stepId.optional(),
  tool: z.string(),
  params: withForm(z.custom<object>(isObject, { message: "must be a set of parameters, name: value" }), () => ({
    type: "object",
  })).default({}),
  needs: z.array(z.string()).default([]),
});

const toolActorSchema = z.strictObject({
  name: z.string(),
  type: z.string(),
  description: filledLine,
  steps: z
    .array(stepSchema)
    .min(1, { message: "must have at least one step" })
    .max(STEP_LIMIT, { message: `must not have more than ${STEP_LIMIT} steps` }),
});

/** The JSON Schema of its file. */
export function toolActorForm({ optional = [] }: FormRules): JsonObject {
  const form = jsonForm(toolActorSchema);
  const { properties, required } = form as { readonly properties: JsonObject; readonly required: readonly string[] };
  const versioned = { ...properties, version: { type: ["string", "number"] } };
  return { ...form, properties: versioned, required: required.filter((key) => !optional.includes(key)) };
}

/** The input of `addActor`: the same keys as the YAML file. */
export type ToolActorInput = z.input<typeof toolActorSchema>;

const KNOWN_KEYS: KnownKeys = {
  own: Object.keys(toolActorSchema.shape),
  list: "steps",
  items: Object.keys(stepSchema.shape),
};

/**
 * Parses and checks a tool actor completely; every problem is in the one error. Each field that has the right form is
 * judged also when others have not.
 */
export function parseToolActor(input: unknown): ToolActorDefinition {
  refuseOtherTypes(input);
  const form = toolActorSchema.safeParse(input);
  const issues = form.success ? [] : formIssues(form.error, KNOWN_KEYS);
  const given = onlyKeys(input, KNOWN_KEYS.own);
  const { shape } = toolActorSchema;
  const ownName = fitting(shape.name, given["name"]);
  const name = ownName === undefined ? undefined : collect(() => parseOwnName(ownName), issues);
  const type = fitting(shape.type, given["type"]);
  if (type !== undefined && type !== "tool") {
    issues.push({ path: "type", message: `is ${shown(type)}; ${ONLY_TOOL}`, ...suggested(type, ["tool"]) });
  }
  const steps = toolSteps(given["steps"], issues);
  if (!form.success || issues.length > 0 || name === undefined) refuse(issues);
  return { name, type: "tool", description: form.data.description, steps };
}

/** The usable parts of a step that may have wrong fields besides right ones. */
type StepInput = { readonly [K in keyof z.output<typeof stepSchema>]: z.output<typeof stepSchema>[K] | undefined };

function toolSteps(value: unknown, issues: ValidationIssue[]): ToolStep[] {
  if (!Array.isArray(value) || value.length > STEP_LIMIT) return [];
  const { shape } = stepSchema;
  const given = Array.from(value, (one: unknown): StepInput => {
    const fields = onlyKeys(one, KNOWN_KEYS.items);
    return {
      id: fitting(shape.id, fields["id"]),
      tool: fitting(shape.tool, fields["tool"]),
      params: fitting(shape.params, fields["params"]),
      needs: fitting(shape.needs, fields["needs"]),
    };
  });
  const ids = stepIds(given, issues);
  const known = new Set(ids);
  const steps = given.map((step, index) => toolStep(step, { index, id: ids[index] ?? "", known }, issues));
  issues.push(...cycleIssues(steps));
  return steps;
}

/** The ids of all steps. A step without one gets `step-<position>`, or the next free number. */
function stepIds(steps: readonly StepInput[], issues: ValidationIssue[]): string[] {
  const taken = new Set<string>();
  for (const [index, { id }] of steps.entries()) {
    if (id === undefined) continue;
    if (taken.has(id)) issues.push({ path: `steps.${index}.id`, message: `"${id}" is the id of two steps` });
    taken.add(id);
  }
  // Numbers only go up: a thousand steps whose ids are all taken must not search for each from the start.
  let number = 0;
  return steps.map(({ id }, index) => {
    if (id !== undefined) return id;
    number = Math.max(number, index) + 1;
    while (taken.has(`step-${number}`)) number += 1;
    taken.add(`step-${number}`);
    return `step-${number}`;
  });
}

interface StepPlace {
  readonly index: number;
  readonly id: string;
  /** The ids of all steps. */
  readonly known: ReadonlySet<string>;
}

function toolStep(step: StepInput, place: StepPlace, issues: ValidationIssue[]): ToolStep {
  const at = `steps.${place.index}`;
  const params = parseJson(step.params ?? {}, `${at}.params`, PARAMS_LIMITS, issues) as JsonObject | undefined;
  const tool = toolRef(step.tool ?? "");
  if (tool === undefined && step.tool !== undefined) issues.push({ path: `${at}.tool`, ...unknownTool(step.tool) });
  const needs = checkedNeeds(step.needs ?? [], place, issues);
  // The placeholder for a wrong value is never seen: the issues refuse the whole definition.
  return { id: place.id, tool: tool ?? TOOL_NAMES[0], params: params ?? {}, needs };
}

/** The needs that name another step, each once. */
function checkedNeeds(needs: readonly string[], place: StepPlace, issues: ValidationIssue[]): string[] {
  const { id, known } = place;
  const seen = new Set<string>();
  for (const [index, need] of needs.entries()) {
    const path = `steps.${place.index}.needs.${index}`;
    if (need === id) issues.push({ path, message: `the step "${id}" cannot need itself` });
    else if (!known.has(need)) {
      // Looking for the nearest of a thousand ids a hundred thousand times would take minutes, for messages that no
      // user reads.
      const suggestion = issues.length < 100 ? suggested(need, known) : {};
      issues.push({ path, message: `there is no step ${shown(need)}`, ...suggestion });
    } else if (seen.has(need)) issues.push({ path, message: `"${need}" is named twice` });
    else seen.add(need);
  }
  return [...seen];
}

function cycleIssues(steps: readonly ToolStep[]): ValidationIssue[] {
  return firstCycles(steps).map((cycle) => {
    const index = steps.findIndex(({ id }) => id === cycle[0]);
    return { path: `steps.${index}.needs`, message: `the steps wait for each other: ${cycle.join(" → ")}` };
  });
}

function refuseOtherTypes(input: unknown): void {
  if (typeof input !== "object" || input === null || !("type" in input) || typeof input.type !== "string") return;
  if (OTHER_TYPES.includes(input.type)) refuse([{ path: "type", message: `is "${input.type}"; ${ONLY_TOOL}` }]);
}

function refuse(issues: readonly ValidationIssue[]): never {
  throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
}

/** Which steps may run at the same time, wave after wave; within a wave in the order of the file. */
export function stepOrder(definition: { readonly steps: readonly Node[] }): string[][] {
  const { steps } = definition;
  return steps.every(({ needs }) => needs.length === 0) ? steps.map(({ id }) => [id]) : waves(steps);
}

/** The arguments that the parameters use, each once, in the order of the file. */
export function actorVariables(definition: Pick<ToolActorDefinition, "steps">): string[] {
  return [...new Set(definition.steps.flatMap(({ params }) => strings(params).flatMap(placeholders)))];
}

/**
 * The parameters with every `{name}` in their texts filled in; keys stay as they are.
 *
 * ```ts
 * renderParams({ path: "docs/{file}.txt" }, new Map([["file", "a"]])); // { path: "docs/a.txt" }
 * ```
 */
export function renderParams(params: JsonObject, values: ReadonlyMap<string, string>): JsonObject {
  let size = 0;
  const render = (value: JsonValue, path: string): JsonValue => {
    if (typeof value === "string") {
      const text = renderTemplate(value, values, path);
      size += text.length;
      // A parameter may be short and its argument long, thousands of times.
      if (size > RENDERED_LIMIT) {
        const message = `the parameters are longer than ${RENDERED_LIMIT} characters once their arguments are filled in`;
        throw new ValidationError(`${message}.`, [{ path: "params", message }]);
      }
      return text;
    }
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map((item, index) => render(item, `${path}.${index}`));
    return rendered(value, path);
  };
  const rendered = (object: JsonObject, path: string): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, item]) => [key, render(item, `${path}.${key}`)]));
  return rendered(params, "params");
}

function strings(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return (isList(value) ? value : Object.values(value)).flatMap(strings);
}

/** `Array.isArray` does not tell a readonly array from an object. */
function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}
