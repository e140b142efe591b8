import { createHash } from "node:crypto";

/**
 * Providers take tool names of letters, digits, "_" and "-", at most 128 of them, beginning with a letter or "_"; ours
 * have slashes and colons too, and may be longer. A name is written so that it can be read back: "/" as `_S_`, ":" as
 * `_C_`, anything else that is not allowed as `_X` with its code point in hexadecimal and `_`. An underscore that could
 * be taken for the beginning of one of those is itself written as `_U_`, so that no two names are ever written alike;
 * ordinary names such as `read_file` stay as they are.
 */
const ALLOWED = /[A-Za-z0-9_-]/;
const WRITTEN = /_(?:([SCU])|X([0-9a-f]+))_/g;
/** OpenAI and Google stop at 64 characters, others at 128: the smaller one serves all. */
const LIMIT = 64;

export function encodeToolName(name: string): string {
  let encoded = "";
  const characters = Array.from(name);
  for (const [index, character] of characters.entries()) {
    if (character === "/") encoded += "_S_";
    else if (character === ":") encoded += "_C_";
    else if (character === "_" && /[SCUX]/.test(characters[index + 1] ?? "")) encoded += "_U_";
    else if (ALLOWED.test(character) && !(index === 0 && /[0-9-]/.test(character))) encoded += character;
    else encoded += `_X${character.codePointAt(0)?.toString(16)}_`;
  }
  return encoded;
}

export function decodeToolName(encoded: string): string {
  return encoded.replaceAll(WRITTEN, (written, letter: string | undefined, code: string | undefined) => {
    if (letter !== undefined) return letter === "S" ? "/" : letter === "C" ? ":" : "_";
    const point = Number.parseInt(code ?? "", 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : written;
  });
}

/** The names of one call. A name that is still too long is cut and told apart by a hash; the table maps it back. */
export class ToolNames {
  readonly #shortened = new Map<string, string>();

  encode(name: string): string {
    const encoded = encodeToolName(name);
    if (encoded.length <= LIMIT) return encoded;
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
    const short = `${encoded.slice(0, LIMIT - hash.length - 1)}-${hash}`;
    this.#shortened.set(short, name);
    return short;
  }

  /** A name that no tool of the call has comes back as the model wrote it. */
  decode(encoded: string): string {
    return this.#shortened.get(encoded) ?? decodeToolName(encoded);
  }
}
