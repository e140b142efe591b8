/**
 * The messages of a request, piece by piece: texts, parameters of calls, media, and data that only the provider reads.
 * Masking and counting both go by these pieces. Things that a request only refers to (files and conversations that are
 * stored at the provider, addresses) cannot be counted or masked, so such a request is refused.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { Dialect } from "./dialects.ts";
import { RefusedRequestError } from "./refusals.ts";
import { textAt } from "./request-values.ts";

export type Piece =
  /** Read by the model as it is. */
  | { readonly kind: "text"; readonly value: string; readonly key: string }
  /** Parameters and results of calls. */
  | { readonly kind: "json"; readonly value: JsonValue }
  /** For the provider alone, such as a signature, or a thought, which it may or may not show its model again. */
  | { readonly kind: "opaque"; readonly value: JsonValue }
  /** Base64, in characters; `image` or something else. */
  | { readonly kind: "media"; readonly value: JsonValue; readonly image: boolean; readonly length: number }
  /** Ids, roles and types. */
  | { readonly kind: "frame"; readonly value: JsonValue };

type Change = (piece: Piece) => JsonValue;

const MESSAGES: Readonly<Record<Dialect, readonly string[]>> = {
  anthropic: ["system", "messages"],
  chat: ["messages"],
  responses: ["instructions", "input"],
  gemini: ["systemInstruction", "system_instruction", "contents"],
};

export function isMessages(dialect: Dialect, key: string): boolean {
  return MESSAGES[dialect].includes(key);
}

const FRAME =
  /^(?:type|role|id|call_id|tool_use_id|tool_call_id|cache_control|media_type|mimeType|mime_type|status|phase|detail|format|is_error|index)$/;
const OPAQUE =
  /^(?:signature|encrypted_content|thoughtSignature|thought_signature|thinking|reasoning|reasoning_content|reasoning_details)$/;
const PARAMETERS = /^(?:input|args|arguments|response)$/;

/** Each piece replaced by what `change` makes of it. */
export function changedPieces(value: JsonValue, change: Change, key = ""): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => changedPieces(item, change, key));
  if (!isJsonObject(value)) return change(pieceOf(value, key));
  const whole = wholePiece(value, key);
  if (whole !== undefined) return change(whole);
  refuseReferences(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (FRAME.test(name)) return [name, change({ kind: "frame", value: item })];
      if (OPAQUE.test(name)) return [name, change({ kind: "opaque", value: item })];
      // The parameters of a call; as a text they are JSON too, but masked and counted as the text they are.
      if (PARAMETERS.test(name) && typeof item !== "string") return [name, change({ kind: "json", value: item })];
      return [name, changedPieces(item, change, name)];
    }),
  );
}

function pieceOf(value: Exclude<JsonValue, JsonObject>, key: string): Piece {
  if (typeof value !== "string") return { kind: "frame", value };
  if (!value.startsWith("data:")) return { kind: "text", value, key };
  return media(value, value.slice("data:".length), value.length);
}

/** An object that is one piece. */
function wholePiece(value: JsonObject, key: string): Piece | undefined {
  const type = textAt(value, "type");
  const data = textAt(value, "data");
  if (type === "redacted_thinking" || type === "reasoning" || type === "thinking" || value["thought"] === true)
    return { kind: "opaque", value };
  if (key === "source" && type === "base64") return media(value, textAt(value, "media_type"), data?.length ?? 0);
  if (/^inline_?data$/i.test(key))
    return media(value, textAt(value, "mimeType") ?? textAt(value, "mime_type"), data?.length ?? 0);
  if (key === "input_audio") return media(value, "audio", data?.length ?? 0);
  return undefined;
}

function media(value: JsonValue, type: string | undefined, length: number): Piece {
  return { kind: "media", value, image: type?.startsWith("image/") === true, length };
}

const STORED = "The gateway cannot count or mask what is stored elsewhere. Put it into the request itself:";

function refuseReferences(block: JsonObject): void {
  const type = textAt(block, "type");
  const address = block["image_url"];
  const url = typeof address === "string" ? address : isJsonObject(address) ? textAt(address, "url") : undefined;
  const found =
    (url !== undefined && !url.startsWith("data:") ? "image_url" : undefined) ??
    ["file_id", "file_url", "fileData", "fileUri", "file_uri"].find((key) => Object.hasOwn(block, key)) ??
    (isJsonObject(block["file_data"]) ? "file_data" : undefined) ??
    (type === "item_reference" ? type : undefined) ??
    (/^(?:image|document)$/.test(type ?? "") && isReference(block["source"]) ? "source" : undefined);
  if (found !== undefined) throw new RefusedRequestError(400, `${STORED} ${found}.`);
}

function isReference(source: JsonValue | undefined): boolean {
  return isJsonObject(source) && /^(?:url|file)$/.test(textAt(source, "type") ?? "");
}

const STORED_KEYS = ["previous_response_id", "conversation", "prompt", "cachedContent", "cached_content"];

/** Refuses a request that begins with something that only the provider has. */
export function refuseStored(body: JsonObject): void {
  const found = STORED_KEYS.find((key) => body[key] !== undefined && body[key] !== null);
  if (found !== undefined) throw new RefusedRequestError(400, `${STORED} ${found}.`);
}
