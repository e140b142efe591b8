/** A call of a tool that is not built in: the same checks in the same order, by its schema. */
import { AgentsError, ValidationError } from "../../domain/errors/errors.ts";
import type { AddedOutput } from "../../domain/tool/added-tool.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { ImageFacts } from "../../domain/values/image.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { maskedText } from "../../platform/masking.ts";
import { bindResource, requireMayWrite } from "./resource-binding.ts";
import type { ToolEnvironment, ToolRequest } from "./tool-pipeline.ts";
import type { AddedTool } from "./tool.ts";

type Surroundings = Omit<ToolEnvironment, "context">;

export async function callAdded(
  tool: AddedTool,
  request: Pick<ToolRequest, "params" | "by" | "forModel">,
  environment: Surroundings,
): Promise<JsonValue> {
  const { by, forModel = false } = request;
  const output = await carriedOut(tool, request.params, { by, forModel, environment });
  if (forModel || output.failure === undefined) return output;
  throw new AgentsError("tool_failed", maskedText(output.failure), {
    kept: "Its earlier changes are recorded.",
    detail: { ...output },
  });
}

async function carriedOut(
  tool: AddedTool,
  given: JsonObject,
  call: { readonly by: string; readonly forModel: boolean; readonly environment: Surroundings },
): Promise<AddedOutput> {
  const { by, forModel, environment } = call;
  const { signal, outputs, syntax } = environment;
  if ("ask" in tool) {
    requireFit(tool, given);
    requireMayWrite(tool, environment);
    return tool.ask(given, { by, signal, forModel, outputs });
  }
  const { [resourceKey(tool)]: resource, ...params } = given;
  requireFit(tool, params);
  requireMayWrite(tool, environment);
  const workspace = bindResource(resource, environment.workspaces);
  return workspace.during(by, () => tool.run(params, { workspace, by, signal, forModel, outputs, syntax }));
}

/** The parameter that names the resource, beside the tool's own. */
export function resourceKey({ schema }: Pick<AddedTool, "schema">): string {
  return schema.names.includes("resource") ? "in_resource" : "resource";
}

function requireFit({ name, schema }: AddedTool, params: JsonObject): void {
  const issues = schema.issues(params);
  if (issues.length === 0) return;
  const list = issues.map(({ path, message }) => `${path === "" ? "" : `${path}: `}${message}`).join("; ");
  throw new ValidationError(
    `The parameters of ${name} do not fit: ${list}. It takes: ${schema.told || "nothing"}.`,
    issues,
  );
}

/** The text, the failure and the image that are in a recorded output. */
export function toldAdded(output: JsonValue): Pick<Extract<ToolOutcome, { ok: true }>, "text" | "failure" | "image"> {
  if (typeof output === "string") return { text: output };
  if (!isJsonObject(output) || typeof output["text"] !== "string") return { text: JSON.stringify(output) };
  const { text, failure, image } = output;
  return {
    text,
    ...(typeof failure === "string" ? { failure } : {}),
    ...(image === undefined ? {} : { image: image as unknown as ImageFacts }),
  };
}
