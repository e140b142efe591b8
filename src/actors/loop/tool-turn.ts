import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { ModelTool, ModelToolCall } from "../models/model.ts";

/** The outcome of a tool call that a model asked for, and how much of the outcome the model is shown. */

/** Characters of one tool result that a model is shown. */
const OUTPUT_LIMIT = 50_000;

/**
 * A call that cannot be made at all (an unknown tool, unreadable parameters) is answered here, and the model is told
 * like of any other failure: it has only the tools that were offered. The pipeline decides whether a call may be made
 * and reports how it went.
 */
export async function carriedOut(
  asked: ModelToolCall,
  tools: readonly ModelTool[],
  call: (params: JsonObject) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const names = tools.map(({ name }) => name);
  if (!names.includes(asked.tool)) {
    const near = nearest(asked.tool, names);
    const hint = near === undefined ? `There are: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
    return { ok: false, error: `There is no tool ${shown(asked.tool)}. ${hint}` };
  }
  if (asked.params === undefined)
    return { ok: false, error: `The parameters are not a JSON object: ${shown(asked.raw, 500)}` };
  return await call(asked.params);
}

/** An output that would fill the model's window is cut, and says so. */
export function shortened(output: JsonValue): JsonValue {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  if (text.length <= OUTPUT_LIMIT) return output;
  const kept = text.slice(0, OUTPUT_LIMIT).toWellFormed();
  return `${kept}\n[cut here: ${OUTPUT_LIMIT} of ${text.length} characters are shown; ask for less at a time]`;
}
