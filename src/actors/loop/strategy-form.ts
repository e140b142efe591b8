/**
 * The form of a strategy as a model writes it, in `record_strategy` before the work and in `revise_strategy` during it,
 * and the checks that a schema cannot say: ids, needs, resources and circles.
 */
import * as z from "zod";
import { firstCycles } from "../../domain/actor/step-graph.ts";
import type { ValidationIssue } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { JsonObject } from "../../domain/values/json.ts";

const STEP_LIMIT = 100;
const TEXT_LIMIT = 20_000;
const line = z.string().trim().min(1).max(TEXT_LIMIT);
const share = z.number().min(0).max(1);

const bareStep = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,59}$/, { message: 'must be a letter, then up to 59 letters, digits, "_" or "-"' }),
  description: line,
  needs: z.array(z.string()).max(STEP_LIMIT).default([]),
  resources: z.array(z.string()).max(STEP_LIMIT).default([]),
  complexity: z.enum(["low", "medium", "high"]).default("medium"),
  risk: share.nullable().default(null),
  confidence: share.nullable().default(null),
  rationale: z.string().max(TEXT_LIMIT).default(""),
  alternatives: z.array(line).max(20).default([]),
  actor: z.string().nullable().default(null),
});

/** A step is explained to a model once, where it is recorded; each call carries all tools. */
const { id, description, needs, resources, rationale, alternatives, actor } = bareStep.shape;
const stepSchema = bareStep.extend({
  id: id.describe("short name of the step, such as write-tests"),
  description: description.describe("what has to be done, complete enough for a colleague who knows only the goal"),
  needs: needs.describe("ids of the steps that must be done before"),
  resources: resources.describe("names of the resources it works on"),
  rationale: rationale.describe("why it is done, and done so"),
  alternatives: alternatives.describe("other ways to do it"),
  actor: actor.describe("the name of the actor that carries it out, of those you were told; otherwise the first"),
});

const atMost = { message: `must not have more than ${STEP_LIMIT} steps` };

export const strategySchema = z.object({
  steps: z.array(stepSchema).max(STEP_LIMIT, atMost).default([]),
  answer: z
    .string()
    .max(TEXT_LIMIT)
    .default("")
    .describe("only for a request that needs no change, such as a question: the answer; leave steps empty then"),
});

export const revisionSchema = z.object({
  reason: line.describe("what you found that makes the present strategy wrong"),
  steps: z
    .array(bareStep)
    .max(STEP_LIMIT, atMost)
    .describe("all steps still to be done after the present one, as in record_strategy; they replace those"),
});

/** The forms as they are sent where all steps have the same actor: a field without a choice costs tokens. */
const { actor: _one, ...ofOneActor } = stepSchema.shape;
const { actor: _other, ...bareOfOneActor } = bareStep.shape;
export const strategyOfOneActor = strategySchema.extend({
  steps: z.array(z.object(ofOneActor)).max(STEP_LIMIT, atMost).default([]),
});
export const revisionOfOneActor = revisionSchema.extend({
  steps: z
    .array(z.object(bareOfOneActor))
    .max(STEP_LIMIT, atMost)
    .describe("all steps still to be done after the present one, as in record_strategy; they replace those"),
});

export type StrategyStep = Omit<z.output<typeof stepSchema>, "actor"> & {
  /** The actor that carries it out; the plan's execution actor where none is named. */
  readonly actor?: string | null;
  /** Of a request that needs no work: the answer itself. */
  readonly answer?: string;
};

/** As models are sent it; which version of JSON Schema it is, is clear to all of them. */
export function parametersOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return parameters as unknown as JsonObject;
}

/** `taken` are the ids of steps that began or are done: new steps cannot have them, but may need them. */
export function stepIssues(
  steps: readonly StrategyStep[],
  names: {
    readonly resources: readonly string[];
    readonly taken?: readonly string[];
    /** Those that single steps may be given to. */
    readonly actors?: readonly string[];
  },
): ValidationIssue[] {
  const { resources, taken = [], actors = [] } = names;
  const issues: ValidationIssue[] = [];
  const ids = steps.map(({ id }) => id);
  const known = new Set([...ids, ...taken]);
  for (const [index, { id, needs, resources: used, actor: by }] of steps.entries()) {
    const at = `steps.${index}`;
    if (typeof by === "string" && !actors.includes(by))
      issues.push({ path: `${at}.actor`, message: unknown("actor", by, actors) });
    if (ids.indexOf(id) !== index) issues.push({ path: `${at}.id`, message: `"${id}" is the id of two steps` });
    if (taken.includes(id))
      issues.push({ path: `${at}.id`, message: `"${id}" is the id of a step that has begun; choose another` });
    for (const need of needs) {
      if (need === id) issues.push({ path: `${at}.needs`, message: `the step "${id}" cannot need itself` });
      else if (!known.has(need)) issues.push({ path: `${at}.needs`, message: unknown("step", need, [...known]) });
    }
    for (const name of used) {
      if (!resources.includes(name))
        issues.push({ path: `${at}.resources`, message: unknown("resource", name, resources) });
    }
  }
  // Circles can only be found in a graph whose needs are all there.
  if (issues.length > 0) return issues;
  const own = steps.map((step) => ({ ...step, needs: step.needs.filter((need) => ids.includes(need)) }));
  return firstCycles(own).map((cycle) => ({
    path: "steps",
    message: `the steps wait for each other: ${cycle.join(" → ")}`,
  }));
}

function unknown(kind: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  return `there is no ${kind} ${shown(name)}${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
