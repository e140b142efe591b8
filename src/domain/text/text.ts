import { stripVTControlCharacters } from "node:util";

/**
 * The gate every string from outside passes. NUL cannot be stored by every database, lone surrogates change when
 * encoded as UTF-8, and other control characters can forge terminal output: each would come back different from what
 * was given, so it is refused rather than cleaned.
 */

export const TEXT_LIMIT = 64 * 1024;

// Tabs and line ends are text.
const CONTROL = /[\p{Cc}--[\t\n\r]]/v;
const EACH_CONTROL = new RegExp(CONTROL, "gv");

/**
 * Characters that a terminal obeys, or shows as nothing: control characters but the tab and the line feed, direction
 * changes, every character that Unicode lets a program leave out when drawing (zero-width characters, variation
 * selectors, tags), line and paragraph separators, halves of surrogate pairs. Unicode counts a few Arabic and Indic
 * signs among its format characters, which are drawn: they stay.
 *
 * Emoji stay whole: the joiner between two pictures, the selector of a picture or a keycap. Elsewhere a joiner or a
 * selector can make two names that look alike, or carry a hidden text, so it is shown, although Persian and some Indic
 * scripts have uses for the joiners.
 */
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]](?<!\p{Extended_Pictographic}[\ufe0e\ufe0f]|[0-9#*]\ufe0f(?=\u20e3)|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?\u200d(?=\p{Extended_Pictographic}))/v;
const EACH_HIDDEN = new RegExp(HIDDEN, "gv");

/**
 * The text with everything hidden made visible: "a<U+001B>[2J". The one place that decides how: the gate at the
 * streams, widths, tables and names all use it, so that each counts the columns that are really drawn. A line that ends
 * in CR LF ends in LF; any other CR is shown.
 */
export function visible(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return text.replaceAll("\r\n", "\n").replaceAll(EACH_HIDDEN, marked);
}

function marked(character: string): string {
  return `<U+${codeOf(character, 4).toUpperCase()}>`;
}

/** JSON text in which everything hidden is escaped. */
export function visibleJson(json: string): string {
  return json.replaceAll(EACH_HIDDEN, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${codeOf(found[i] ?? "", 4)}`).join(""),
  );
}

/** YAML text the same; what is hidden must stand in double quotes. */
export function visibleYaml(yaml: string): string {
  return yaml.replaceAll(EACH_HIDDEN, (found) =>
    found.length === 1 ? `\\u${codeOf(found, 4)}` : `\\U${codeOf(found, 8)}`,
  );
}

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

function codeOf(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}

/** Undefined when `value` may be stored as it is, else the reason why not. */
export function textProblem(value: string, limit: number = TEXT_LIMIT): string | undefined {
  if (value.includes("\0")) return "contains a NUL character";
  if (!value.isWellFormed()) return "contains half of a surrogate pair (not valid Unicode)";
  if (CONTROL.test(value)) return "contains a control character";
  if (value.length > limit) return `is longer than ${limit} characters`;
  return undefined;
}

/** The same for a name or a text of one line, in which two that look alike must be alike. */
export function lineProblem(value: string, limit: number = TEXT_LIMIT): string | undefined {
  const problem = textProblem(value, limit);
  if (problem !== undefined) return problem;
  const hidden = HIDDEN.exec(value.replaceAll("\r\n", "\n"))?.[0];
  return hidden === undefined ? undefined : `contains an invisible character, ${marked(hidden)}`;
}

/** Collects `path: problem` for a text field of one line; returns whether it was fine. */
export function checkText(
  value: string,
  path: string,
  issues: { readonly path: string; readonly message: string }[],
  limit: number = TEXT_LIMIT,
): boolean {
  const problem = lineProblem(value, limit);
  if (problem !== undefined) issues.push({ path, message: `${path} ${problem}` });
  return problem === undefined;
}

/** A program's output as it may be stored and shown: without colors, cursor movements and other control characters. */
export function printable(output: string): string {
  return stripVTControlCharacters(output.toWellFormed()).replaceAll(EACH_CONTROL, "");
}

/** The same, and no longer than may be stored. */
export function storable(output: string, limit: number = TEXT_LIMIT): string {
  return printable(output).slice(0, limit).toWellFormed();
}

/** A string made safe to show inside an error message: quoted, escaped, cut. */
export function shown(value: unknown, limit = 60): string {
  const text = asText(value);
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return visibleJson(JSON.stringify(cut.toWellFormed()));
}

function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
