/** The news of a tool call, for a person who watches. */
import type { ToolEvent } from "../domain/run-event.ts";
import type { JsonObject } from "../domain/values/json.ts";

type About = Omit<Extract<ToolEvent, { type: "tool_started" }>, "type">;

export function aboutCall(
  step: string,
  key: string,
  { tool, params }: { readonly tool: string; readonly params: JsonObject },
): About {
  const { path, resource } = params;
  return {
    step,
    key,
    tool,
    target: targetOf(params),
    ...(typeof path === "string" ? { path } : {}),
    ...(typeof resource === "string" ? { resource } : {}),
  };
}

/** The parameter by which a person knows what a call is about. */
function targetOf(params: JsonObject): string {
  const { path = params["command"] ?? params["pattern"] ?? params["query"] ?? params["url"] } = params;
  return typeof path === "string" ? path : "";
}
