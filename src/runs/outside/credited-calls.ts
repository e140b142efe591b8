/**
 * Which of an answer's calls made which change. One call: that one. Of several, the only one that names the path;
 * where none or more than one does, the first that writes. So every change has one call, and all have one decision.
 */
import type { AnswerCall } from "../../actors/gateway/answer-calls.ts";
import { guardedTool, outsideToolName } from "../../domain/profile/outside-tools.ts";
import { isJsonObject, type JsonValue } from "../../domain/values/json.ts";

/** The changes of each call, in the order of the calls. */
export function creditedTo<T extends { readonly path: string }>(
  calls: readonly AnswerCall[],
  changes: readonly T[],
): T[][] {
  const credited = calls.map((): T[] => []);
  const texts = calls.map(({ params }) => textsIn(params));
  const writer = Math.max(
    0,
    calls.findIndex(({ tool }) => guardedTool(outsideToolName("", tool)).writes),
  );
  for (const change of changes) {
    const naming = texts.flatMap((all, index) => (all.some((text) => names(text, change.path)) ? [index] : []));
    const [only = writer, ...more] = naming;
    credited[more.length === 0 ? only : writer]?.push(change);
  }
  return credited;
}

/** All texts in parameters. */
export function textsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

const PART_OF_NAME = /[\w.-]/;

/** As a whole name, also below the root of the sandbox and within a command or a patch. */
function names(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const [before = "", after = ""] = [text[at - 1], text[at + path.length]];
    if (!PART_OF_NAME.test(before) && !/[\w/-]/.test(after) && !/^\.\w/.test(text.slice(at + path.length))) return true;
  }
  return false;
}
