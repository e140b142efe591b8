/**
 * Finds the place that an edit means. Models repeat a text with small mistakes: other line ends, trailing blanks,
 * typographic quotes, an indentation that is shifted as a whole, blank lines at the edges, or everything escaped once
 * too often. Each tier forgives one more of these. The first tier at which the text is found decides: found once, the
 * edit applies; found more often, it is refused. A tier never looks for a text that is only similar.
 *
 * Measured by `npm run bench -- edits`.
 */
import { commonLines, textLines, type TextLine } from "./edit-lines.ts";
import { indentationShift, type Shift } from "./indentation-shift.ts";
import { hasTypography, plainTypography } from "./typography.ts";

export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly replaceAll?: boolean;
  /** The text is made of whole lines: a place inside a line is not meant. */
  readonly wholeLines?: boolean;
}

/** The difference that had to be forgiven. */
export type Tier = "exact" | "line ends" | "trailing blanks" | "typography" | "indentation" | "blank edges" | "escapes";

export type EditResult =
  | {
      readonly ok: true;
      readonly text: string;
      readonly tier: Tier;
      /** Where in the new text the changes are. */
      readonly changed: readonly { readonly from: number; readonly to: number }[];
    }
  | {
      readonly ok: false;
      readonly why: "missing" | "ambiguous";
      /** The numbers of the lines at which the text begins, when there are several. */
      readonly lines: readonly number[];
    };

/** `from`: where the search begins; what is before it stays as it is. */
export function applyEdit(text: string, edit: Edit, from = 0): EditResult {
  for (const [tier, variant] of variantsOf(edit)) {
    const found = variant.places(text, from);
    const places = edit.wholeLines === true ? found.filter((place) => isWholeLines(text, place)) : found;
    if (places.length === 0) continue;
    if (places.length > 1 && edit.replaceAll !== true)
      return { ok: false, why: "ambiguous", lines: places.map(({ start }) => lineAt(text, start)) };
    return { ok: true, tier, ...replaced(text, places) };
  }
  return { ok: false, why: "missing", lines: [] };
}

function isWholeLines(text: string, { start, end }: Place): boolean {
  const begins = start === 0 || text[start - 1] === "\n";
  return begins && (end === text.length || text[end - 1] === "\n" || /^\r?\n/.test(text.slice(end, end + 2)));
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

interface Variant {
  readonly places: (text: string, from: number) => readonly Place[];
}

function* variantsOf(edit: Edit): Generator<readonly [Tier, Variant]> {
  yield* tiersOf(edit);
  const trimmed = withoutBlankEdges(edit);
  if (trimmed !== undefined) for (const [, variant] of tiersOf(trimmed)) yield ["blank edges", variant];
  const unescaped = withoutEscapes(edit);
  if (unescaped === undefined) return;
  for (const [, variant] of tiersOf(unescaped)) yield ["escapes", variant];
  const both = withoutBlankEdges(unescaped);
  if (both !== undefined) for (const [, variant] of tiersOf(both)) yield ["escapes", variant];
}

function* tiersOf(edit: Edit): Generator<readonly [Tier, Variant]> {
  if (edit.old === "") return;
  yield ["exact", { places: (text, from) => exactPlaces(text, edit, from) }];
  yield ["line ends", { places: (text, from) => foldedPlaces(text, edit, from, (one) => one) }];
  yield ["trailing blanks", { places: (text, from) => linePlaces(text, edit, from, "trailing") }];
  yield ["typography", { places: (text, from) => foldedPlaces(text, edit, from, plainTypography) }];
  yield ["typography", { places: (text, from) => linePlaces(text, edit, from, "typography") }];
  yield ["indentation", { places: (text, from) => linePlaces(text, edit, from, "indentation") }];
}

function exactPlaces(text: string, edit: Edit, from: number): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(edit.old, from); at !== -1; at = text.indexOf(edit.old, at + edit.old.length))
    places.push({ start: at, end: at + edit.old.length, replacement: edit.new });
  return places;
}

/**
 * Anywhere in a line, with every line end taken for LF and every character folded by `fold`, which keeps the length.
 */
function foldedPlaces(text: string, edit: Edit, from: number, fold: (text: string) => string): Place[] {
  const isPlain = !text.includes("\r\n") && !edit.old.includes("\r\n");
  const wanted = fold(edit.old.replaceAll("\r\n", "\n"));
  if (isPlain && wanted === edit.old && fold(text) === text) return [];
  const { folded, offsets } = withOffsets(text, fold);
  const places: Place[] = [];
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + wanted.length)) {
    const [start, end] = [offsets(at), offsets(at + wanted.length)];
    if (start < from) continue;
    const there = text.slice(start, end);
    const lines = there.replaceAll("\r\n", "\n").split("\n");
    const ends = textLines(there).map((line) => line.end);
    const replacement = mergedText(text, { there: lines, ends }, edit, plainIfNotThere(there), SAME);
    if (replacement !== undefined) places.push({ start, end, replacement });
  }
  return places;
}

/** The text with LF alone, and where each of its positions is in the original. */
function withOffsets(
  text: string,
  fold: (text: string) => string,
): { folded: string; offsets: (at: number) => number } {
  const folded = fold(text.replaceAll("\r\n", "\n"));
  const removed: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) removed.push(at - removed.length);
  // How many of the removed characters are before a position: found by halving.
  const before = (position: number): number => {
    let [low, high] = [0, removed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((removed[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { folded, offsets: (at) => at + before(at) };
}

type Forgiven = "trailing" | "typography" | "indentation";

/** Whole lines, compared without what is forgiven. */
function linePlaces(text: string, edit: Edit, from: number, forgiven: Forgiven): Place[] {
  const wanted = textLines(edit.old);
  const all = textLines(text);
  const key = keyOf(forgiven);
  const keys = wanted.map((line) => key(line.text));
  if (keys.every((one) => one === "")) return [];
  const lines = all.map((line) => key(line.text));
  const places: Place[] = [];
  for (let index = 0; index + keys.length <= lines.length; index += 1) {
    if ((all[index]?.at ?? 0) < from || !keys.every((one, offset) => one === lines[index + offset])) continue;
    const found = all.slice(index, index + keys.length);
    const place = linePlace(text, found, wanted, edit, forgiven);
    if (place === undefined) continue;
    places.push(place);
    index += keys.length - 1;
  }
  return places;
}

function keyOf(forgiven: Forgiven): (line: string) => string {
  if (forgiven === "trailing") return (line) => line.trimEnd();
  if (forgiven === "typography") return (line) => plainTypography(line).trimEnd();
  return (line) => plainTypography(line).trim();
}

function linePlace(
  text: string,
  found: readonly TextLine[],
  wanted: readonly TextLine[],
  edit: Edit,
  forgiven: Forgiven,
): Place | undefined {
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const there = found.map((line) => line.text);
  const shift =
    forgiven === "indentation"
      ? indentationShift(
          there,
          wanted.map((line) => line.text),
        )
      : SAME;
  if (shift === undefined) return undefined;
  const tidy = plainIfNotThere(there.join("\n"));
  const isOpen = wanted.at(-1)?.end === "";
  const end = last.at + last.text.length + (isOpen ? 0 : last.end.length);
  const ends = found.map((line) => line.end);
  const replacement = mergedText(text, { there: isOpen ? there : [...there, ""], ends }, edit, tidy, shift);
  if (replacement === undefined) return undefined;
  // A file without a line end behind its last line stays so.
  const isWhole = isOpen || last.end !== "";
  return { start: first.at, end, replacement: isWhole ? replacement : replacement.replace(/\r?\n$/, "") };
}

const SAME: Shift = (line) => line;

/** A new line may have the typographic characters that the file has there; others are as much a mistake as in `old`. */
function plainIfNotThere(there: string): (line: string) => string {
  return hasTypography(there) ? (line) => line : plainTypography;
}

/**
 * The replacement: lines that old and new have in common are the file's own, others are the model's, shifted as `old`
 * was and with the file's line ends. Undefined when a new line cannot be shifted so.
 */
function mergedText(
  text: string,
  { there, ends }: { readonly there: readonly string[]; readonly ends: readonly string[] },
  edit: Edit,
  tidy: (line: string) => string,
  shift: Shift,
): string | undefined {
  const old = plainLines(edit.old);
  const now = plainLines(edit.new);
  const usual = ends.find((end) => end !== "") ?? (text.includes("\r\n") ? "\r\n" : "\n");
  const isTidy = plainTypography(edit.old) !== edit.old;
  const merged: string[] = [];
  for (const [index, from] of commonLines(old, now).entries()) {
    const isLast = index === now.length - 1;
    const own = from === undefined ? undefined : there[from];
    const line = now[index] ?? "";
    const shifted = own ?? shift(isTidy ? tidy(line) : line, index);
    if (shifted === undefined) return undefined;
    const ownEnd = from === undefined ? undefined : ends[from];
    merged.push(shifted, isLast ? "" : ownEnd === undefined || ownEnd === "" ? usual : ownEnd);
  }
  return merged.join("");
}

function plainLines(text: string): string[] {
  return text.replaceAll("\r\n", "\n").split("\n");
}

/** Without blank lines and a line end at the edges of `old`, and as many of them taken from `new`. */
function withoutBlankEdges(edit: Edit): Edit | undefined {
  const old = plainLines(edit.old);
  const now = plainLines(edit.new);
  const isBlank = (line: string | undefined): boolean => line !== undefined && line.trim() === "";
  let changed = false;
  for (const side of ["shift", "pop"] as const) {
    const edge = (lines: readonly string[]): string | undefined => (side === "shift" ? lines[0] : lines.at(-1));
    while (old.length > 1 && isBlank(edge(old))) {
      old[side]();
      if (isBlank(edge(now))) now[side]();
      changed = true;
    }
  }
  return changed && old.some((line) => !isBlank(line))
    ? { ...edit, old: old.join("\n"), new: now.join("\n") }
    : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** With every escape resolved once, in both texts: a model that escapes twice does it in both. */
function withoutEscapes(edit: Edit): Edit | undefined {
  const unescaped = (text: string): string =>
    text.replaceAll(/\\([ntr"'`\\$])/g, (_, character: string) => ESCAPES[character] ?? character);
  const old = unescaped(edit.old);
  return old === edit.old ? undefined : { ...edit, old, new: unescaped(edit.new) };
}

function replaced(text: string, places: readonly Place[]): Pick<Extract<EditResult, { ok: true }>, "text" | "changed"> {
  const parts: string[] = [];
  const changed: { from: number; to: number }[] = [];
  let [copied, length] = [0, 0];
  for (const { start, end, replacement } of places) {
    const kept = text.slice(copied, start);
    parts.push(kept, replacement);
    changed.push({ from: length + kept.length, to: length + kept.length + replacement.length });
    length += kept.length + replacement.length;
    copied = end;
  }
  return { text: [...parts, text.slice(copied)].join(""), changed };
}

/** The number of the line at a position, from 1. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
