/**
 * How many tokens a request can have: for the amount that its budget must reserve, and to tell whether a provider's
 * claim can be true.
 */
import { isJsonObject, type JsonObject } from "../../domain/values/json.ts";
import type { CountModelTokens } from "../providers/prices.ts";
import type { Dialect } from "./dialects.ts";
import { changedPieces, isMessages, type Piece } from "./request-pieces.ts";
import { listAt } from "./request-values.ts";

export interface RequestTokens {
  /** Everything the model may read. */
  readonly input: number;
  /** The parts of it that every model reads. */
  readonly sent: number;
  readonly tools: boolean;
}

/** The tokens around each piece and each tool; generous, as for our own calls. */
const AROUND_PIECE = 16;
const AROUND_TOOL = 32;

/** More than the largest image has with any of the providers. */
const IMAGE = 10_240;
/** Documents and sound, by their characters of base64. */
const MEDIA_SHARE = 0.5;

export function requestTokens(
  dialect: Dialect,
  body: JsonObject,
  model: string,
  count: CountModelTokens,
): RequestTokens {
  const of = (text: string): number => (text === "" ? 0 : count(text, model));
  let [input, sent] = [AROUND_PIECE, 0];
  const add = (piece: Piece): null => {
    switch (piece.kind) {
      case "text":
      case "json": {
        const tokens = of(typeof piece.value === "string" ? piece.value : JSON.stringify(piece.value));
        input += AROUND_PIECE + tokens;
        sent += tokens;
        break;
      }
      case "opaque":
        input += AROUND_PIECE + of(JSON.stringify(piece.value));
        break;
      case "media":
        input += piece.image ? IMAGE : Math.ceil(piece.length * MEDIA_SHARE);
        break;
      case "frame":
        input += 1;
    }
    return null;
  };
  for (const [key, value] of Object.entries(body)) {
    if (isMessages(dialect, key)) changedPieces(value, add, key);
    // Schemas of answers and settings of the model.
    else if (key !== "tools") input += of(JSON.stringify(value));
  }
  const tools = toolsOf(body);
  for (const tool of tools) {
    const tokens = of(JSON.stringify(tool));
    input += AROUND_TOOL + tokens;
    // Some providers write schemas more briefly than JSON.
    sent += tokens / 2;
  }
  return { input, sent, tools: tools.length > 0 };
}

/** Gemini has several declarations in one tool. */
function toolsOf(body: JsonObject): readonly unknown[] {
  return (listAt(body, "tools") ?? []).flatMap((tool): readonly unknown[] => {
    if (!isJsonObject(tool)) return [tool];
    return listAt(tool, "functionDeclarations") ?? listAt(tool, "function_declarations") ?? [tool];
  });
}
