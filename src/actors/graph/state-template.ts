import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { placeholders, renderTemplate } from "../../domain/values/template.ts";
import { NodeFailure } from "./graph-error.ts";
import { isList, valueAt, type GraphState } from "./state.ts";

const WHOLE = /^\{([A-Za-z][A-Za-z0-9_-]*)\}$/;

/**
 * A prompt with the state filled in. A key that the state does not have yet, as in the first turn of a loop, is empty.
 */
export function filledText(text: string, state: GraphState, path: string): string {
  const values = new Map(placeholders(text).map((key) => [key, asText(valueAt(state, key) ?? "")]));
  return renderTemplate(text, values, path);
}

/**
 * Parameters with the state filled in. A text that is nothing but `{key}` becomes the value itself, be it a list or a
 * number. Unlike a prompt, a parameter that uses what is not there is refused: a tool should not be called with half a
 * path.
 */
export function filledParams(params: JsonObject, state: GraphState): JsonObject {
  const filled = (value: JsonValue, path: string): JsonValue => {
    if (typeof value === "string") return filledParam(value, state, path);
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map((item, index) => filled(item, `${path}.${index}`));
    return filledObject(value, path);
  };
  const filledObject = (object: JsonObject, path: string): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, item]) => [key, filled(item, `${path}.${key}`)]));
  return filledObject(params, "params");
}

function filledParam(text: string, state: GraphState, path: string): JsonValue {
  const missing = placeholders(text).find((key) => valueAt(state, key) === undefined);
  if (missing !== undefined) throw new NodeFailure(`${path} uses {${missing}}, and the state has nothing there`);
  const whole = WHOLE.exec(text)?.[1];
  return (whole === undefined ? undefined : valueAt(state, whole)) ?? filledText(text, state, path);
}

export function asText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
