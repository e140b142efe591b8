/** The content of a file as text, and the errors of the tools that work on files. */
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";

/** Text is UTF-8 that comes back as the same bytes; anything else would be damaged by passing through a string. */
export function fileText(content: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    throw fileError(file, "is not UTF-8 text", error);
  }
}

export function fileError(file: string, why: string, cause?: unknown): AgentsError {
  return new AgentsError("tool_failed", `${shown(file)} ${why}.`, {
    cause,
    kept: "Nothing was changed.",
    detail: { path: file },
  });
}
