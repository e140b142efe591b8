/**
 * The parameters of the tool calls that an actor's file fixes, checked before any step runs. A value with a placeholder
 * is only known later, so it is judged by its type alone: in a tool actor it becomes a text, in a graph it can become
 * anything.
 */
import type * as z from "zod";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import { suggested } from "../../domain/definition/checked-schema.ts";
import type { ValidationIssue } from "../../domain/errors/errors.ts";
import type { ToolRef } from "../../domain/names/tool-names.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { placeholders } from "../../domain/values/template.ts";
import { BUILT_IN_TOOLS } from "./tool-set.ts";

/** The problems of all calls that the actor's file fixes, each by its place below the actor. */
export function parameterProblems(actor: ActorDefinition): ValidationIssue[] {
  if (actor.type === "llm" || actor.type === "acp") return [];
  if (actor.type === "tool")
    return actor.steps.flatMap(({ tool, params }, index) => callProblems(tool, params, `steps.${index}`, true));
  return actor.route.nodes.flatMap((node, index) =>
    node.type === "tool" || node.type === "validation"
      ? callProblems(node.tool, node.params, `route.nodes.${index}`, false)
      : [],
  );
}

function callProblems(name: ToolRef, params: JsonObject, at: string, textsOnly: boolean): ValidationIssue[] {
  const tool = BUILT_IN_TOOLS.get(name);
  // The schema of any other tool is known when a plan uses it.
  if (tool === undefined) return [];
  const { resource, ...given } = params;
  // Tools of the plan as a whole take the resource as a parameter of their own, or not at all.
  const ofPlan = "ask" in tool;
  const parsed = tool.parameters.safeParse(ofPlan ? params : given);
  const known = [...parameterNames(tool.parameters), ...(ofPlan ? [] : ["resource"])];
  const issues = parsed.success ? [] : parsed.error.issues.filter((issue) => isCertain(issue, params, textsOnly));
  return [
    ...issues.flatMap((issue) => inWords(issue, `${at}.params`, name, known)),
    ...(ofPlan || resource === undefined || typeof resource === "string"
      ? []
      : [{ path: `${at}.params.resource`, message: "must be the alias of a resource" }]),
  ];
}

/** Whether the value stays as wrong as it is once its placeholders are filled in. */
function isCertain(issue: z.core.$ZodIssue, params: JsonObject, textsOnly: boolean): boolean {
  let value: JsonValue | undefined = params;
  for (const key of issue.path) value = (value as Record<PropertyKey, JsonValue> | undefined)?.[key];
  if (typeof value !== "string" || placeholders(value).length === 0) return true;
  return textsOnly && issue.code === "invalid_type";
}

function inWords(
  issue: z.core.$ZodIssue,
  at: string,
  tool: ToolRef,
  known: readonly string[],
): readonly ValidationIssue[] {
  const path = [at, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    const takes = known.length === 0 ? "no parameters" : known.join(", ");
    return issue.keys.map((key) => ({
      path: `${path}.${key}`,
      message: `${tool} has no parameter "${key}" (it takes ${takes})`,
      ...suggested(key, known),
    }));
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return [{ path, message: missing ? `is required by ${tool}` : issue.message }];
}

/** All parameters of tools are objects. */
export function parameterNames(parameters: z.ZodType): string[] {
  return "shape" in parameters ? Object.keys(parameters.shape as object) : [];
}
