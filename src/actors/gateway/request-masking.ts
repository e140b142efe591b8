/**
 * The request as a model may see it, by the same rules as our own calls: every text is masked, thoughts and the data of
 * a provider stay as they came, because a provider refuses changed ones. The same request always gives the same bytes,
 * and the order of keys is kept, so prompt caches keep working.
 */
import { maskJson, maskSecrets } from "../../domain/secrets/redaction.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { Dialect } from "./dialects.ts";
import { changedPieces, isMessages, type Piece } from "./request-pieces.ts";

/** Not for the model: a provider finds its cache by it. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["model", "prompt_cache_key"]);

export function maskedRequest(
  dialect: Dialect,
  body: JsonObject,
  known: readonly string[],
): { readonly body: JsonObject; readonly masked: number } {
  let masked = 0;
  const json = (value: JsonValue): JsonValue => {
    const found = maskJson(value, known);
    masked += found.masked;
    return found.value;
  };
  const change = (piece: Piece): JsonValue => {
    if (piece.kind === "json") return json(piece.value);
    if (piece.kind !== "text") return piece.value;
    const found = maskSecrets(piece.value, known);
    masked += found.masked;
    return found.text;
  };
  const entries = Object.entries(body).map(([key, value]): [string, JsonValue] => {
    if (NOT_SHOWN.has(key)) return [key, value];
    return [key, isMessages(dialect, key) ? changedPieces(value, change, key) : json(value)];
  });
  return { body: Object.fromEntries(entries), masked };
}
