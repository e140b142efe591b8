/**
 * How fragments become text. Each begins with a heading line that starts with "#" and ends with a line of its own, so
 * that tokens can be counted fragment by fragment (token-counter.ts). The content stands in a fence that is longer than
 * any it holds: a file cannot pretend to be another one by writing a heading itself.
 */
import type { ContextFragment } from "./context-model.ts";

export function renderFragment(fragment: ContextFragment): string {
  const { content } = fragment;
  const fence = "`".repeat(Math.max(3, longestFence(content) + 1));
  const end = content.endsWith("\n") ? "" : "\n";
  return `# ${headingOf(fragment)}\n${fence}\n${content}${end}${fence}\n`;
}

export function renderContext(preamble: string, fragments: readonly ContextFragment[]): string {
  return preamble + fragments.map(renderFragment).join("");
}

function headingOf({ entity, level, provenance }: ContextFragment): string {
  if (provenance === undefined) return oneLine(entity);
  const { resource, path, startLine, endLine } = provenance;
  const detail = level === "full" ? "" : `, ${level.replaceAll("_", " ")}`;
  return `${oneLine(`${resource}:${path}`)} (lines ${startLine}-${endLine}${detail})`;
}

/** A file's name may hold anything, also the end of a line. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\u2028\u2029]/gu, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

function longestFence(content: string): number {
  let longest = 0;
  for (const [run] of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  return longest;
}
