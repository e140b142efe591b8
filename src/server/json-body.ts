/** Reads the JSON object of a request within limits: bytes, nesting, and the shape. */
import type { IncomingMessage } from "node:http";
import { isStorable } from "../app/base/storable.ts";
import { AgentsError, UsageError } from "../domain/errors/errors.ts";

const MOST_BYTES = 4 * 1024 * 1024;
const DEEPEST = 64;

/** An empty body is an empty object. */
export async function readJsonObject(
  request: IncomingMessage,
  mostBytes: number = MOST_BYTES,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, mostBytes);
  if (bytes.length === 0) return {};
  const type = request.headers["content-type"] ?? "";
  // A form of a foreign page cannot say this without asking the server first.
  if (!/^application\/json *(;|$)/i.test(type))
    throw new AgentsError("wrong_media_type", "The body is not application/json.", { kept: "Nothing was changed." });
  const text = textOf(bytes);
  requireFlat(text);
  const value = parsed(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw bodyError("is not an object");
  if (!isStorable(value)) throw bodyError("has half a surrogate pair or a NUL character");
  return value as Record<string, unknown>;
}

async function readBytes(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const tooLarge = new AgentsError("request_too_large", `The body is longer than ${mostBytes} bytes.`, {
    kept: "Nothing was changed.",
  });
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The connection outlives the end of the loop, so that the answer can still be sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > mostBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    throw error === tooLarge ? tooLarge : bodyError("broke off");
  }
  return Buffer.concat(chunks);
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bodyError("is not UTF-8");
  }
}

/** Counted in the text: a value that was parsed so deep would exhaust the stack of the code that walks it. */
function requireFlat(text: string): void {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inText && character === "\\") at += 1;
    else if (character === '"') inText = !inText;
    else if (!inText && (character === "[" || character === "{")) depth += 1;
    else if (!inText && (character === "]" || character === "}")) depth -= 1;
    if (depth > DEEPEST)
      throw new AgentsError("request_too_large", `The body is nested deeper than ${DEEPEST} levels.`, {
        kept: "Nothing was changed.",
      });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bodyError("cannot be read as JSON");
  }
}

function bodyError(why: string): UsageError {
  return new UsageError(`The body ${why}: it must be one JSON object.`, { kept: "Nothing was changed." });
}
