import { stripVTControlCharacters } from "node:util";
import type { ValidationIssue } from "./errors.ts";

/**
 * The gate every string from outside passes. NUL cannot be stored by every database, lone surrogates change when encoded as
 * UTF-8, and other control characters can forge terminal output: each would come back different from what was given, so it is
 * refused rather than cleaned.
 */

export const TEXT_LIMIT = 64 * 1024;

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;

/** Undefined when `value` may be stored as it is, else the reason why not. */
export function textProblem(value: string, limit: number = TEXT_LIMIT): string | undefined {
  if (value.includes("\0")) return "contains a NUL character";
  if (!value.isWellFormed()) return "contains half of a surrogate pair (not valid Unicode)";
  if (CONTROL.test(value)) return "contains a control character";
  if (value.length > limit) return `is longer than ${limit} characters`;
  return undefined;
}

/** Collects `path: problem` for a text field; returns whether it was fine. */
export function checkText(value: string, path: string, issues: ValidationIssue[], limit: number = TEXT_LIMIT): boolean {
  const problem = textProblem(value, limit);
  if (problem !== undefined) issues.push({ path, message: `${path} ${problem}` });
  return problem === undefined;
}

/** What a program printed, as it may be stored and shown: without colours, cursor movements and other control characters. */
export function printable(output: string): string {
  return stripVTControlCharacters(output.toWellFormed()).replaceAll(new RegExp(CONTROL, "gu"), "");
}

/** The same, and no longer than may be stored. */
export function storable(output: string, limit: number = TEXT_LIMIT): string {
  return printable(output).slice(0, limit).toWellFormed();
}

/** A string made safe to show inside an error message: quoted, escaped, cut. */
export function shown(value: unknown, limit = 60): string {
  const text = asText(value);
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return JSON.stringify(cut.toWellFormed()).replaceAll(INVISIBLE, escaped);
}

// What JSON leaves as it is, but a terminal obeys or hides: eight-bit controls, direction changes, invisible characters.
const INVISIBLE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
