import { parametersOf as jsonSchemaOf } from "../actors/loop/strategy-form.ts";
import type { ModelTool } from "../actors/models/model.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { TOOLS } from "../execution/tools/tool-pipeline.ts";
import type { Tool } from "../execution/tools/tool.ts";

/**
 * The tools of the one pipeline as a model is offered them: only those that its actor names and that could succeed in
 * this plan.
 */
export function modelTools(
  named: readonly string[] | undefined,
  plan: { readonly resources: readonly string[]; readonly readOnly: boolean; readonly inPlace: boolean },
): ModelTool[] {
  return [...TOOLS.values()]
    .filter(({ name }) => named === undefined || named.includes(name))
    .filter(({ writes }) => !(writes && plan.readOnly))
    .filter(({ compared }) => !(compared === true && plan.inPlace))
    .filter((tool) => "ask" in tool || plan.resources.length > 0)
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: parametersOf(tool, plan.resources),
    }));
}

function parametersOf(tool: Tool, resources: readonly string[]): JsonObject {
  const schema = jsonSchemaOf(tool.parameters);
  if ("ask" in tool) return schema;
  const resource = { type: "string", enum: [...resources], description: "in which resource" };
  const properties = { ...(schema["properties"] as JsonObject | undefined), resource };
  const required = (schema["required"] as readonly string[] | undefined) ?? [];
  // With only one there is nothing to choose.
  return { ...schema, properties, required: resources.length > 1 ? [...required, "resource"] : [...required] };
}
