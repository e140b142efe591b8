import { visible } from "../../domain/text/text.ts";
import type { Tone } from "./view.ts";

/**
 * Text on its way to a terminal, how many columns it takes, and how to fit it into fewer. Colors and cursor movements
 * are not characters but parts of their own, which the gate (gate.ts) turns into codes after it has made everything
 * hidden in the strings visible: so no string from any source can move the cursor or color a line.
 */
export type Text = string | { readonly text: string; readonly tone: Tone } | Movement | readonly Text[];

export type Movement =
  | { readonly move: "line start" | "erase line" | "erase below" | "home" | "enter screen" | "leave screen" }
  | { readonly move: "up"; readonly lines: number };

// Terminals draw these two columns wide: East Asian wide and full-width forms, and emoji. Half a flag takes one.
const WIDE =
  /[[\p{Emoji_Presentation}--\p{Regional_Indicator}]\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/v;
// Behind a character of a language without spaces, unless a mark that closes something follows.
const BREAKS =
  /(?<=[\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3。、，．」』）！？])(?![。、，．」』）！？ー\p{Mark}])/v;
// Joiners reach a terminal only within an emoji.
const ZERO = /\p{Mark}|\u200d/u;

export function width(text: Text): number {
  let columns = 0;
  for (const character of visible(plainText(text))) {
    columns += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Its readable part, without colors and movements. */
function plainText(text: Text): string {
  if (typeof text === "string") return text;
  if (isList(text)) return text.map(plainText).join("");
  return "text" in text ? text.text : "";
}

export function isList(text: Text): text is readonly Text[] {
  return Array.isArray(text);
}

/** One line of at most `columns` columns; a cut is marked. */
export function fit(text: string, columns: number): string {
  const line = oneLine(text);
  if (width(line) <= columns) return line;
  let cut = "";
  let used = 0;
  for (const character of line) {
    const next = width(character);
    if (used + next > columns - 1) break;
    cut += character;
    used += next;
  }
  // A joiner with nothing to join would be shown.
  return `${cut.replace(/\u200d$/u, "")}…`;
}

const LETTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The end of one line, in at most `columns` columns; a cut is marked, and never goes through a letter. */
export function fitEnd(text: string, columns: number): string {
  const line = oneLine(text);
  if (width(line) <= columns) return line;
  let kept = "";
  let used = 1;
  for (const { segment } of [...LETTERS.segment(line)].toReversed()) {
    used += width(segment);
    if (used > columns) break;
    kept = segment + kept;
  }
  return `…${kept}`;
}

export function pad(text: string, columns: number): string {
  return text + padding(text, columns);
}

export function padding(text: Text, columns: number): string {
  return " ".repeat(Math.max(0, columns - width(text)));
}

export function joined(parts: readonly Text[], by: string): Text[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [by, part]));
}

/**
 * Broken at spaces, so that a path stays fit to be copied, and in languages without spaces between characters; a line
 * that continues begins where its text began, and `hanging` further right.
 */
export function wrapped(line: string, columns: number, hanging = 0): string[] {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const further = indent + " ".repeat(hanging);
  const room = columns - further.length;
  const lines: string[] = [];
  let current = indent;
  line
    .slice(indent.length)
    .split(" ")
    .forEach((word, index) => {
      const pieces = width(word) > room ? word.split(BREAKS) : [word];
      pieces.forEach((piece, at) => {
        const candidate = index > 0 && at === 0 ? `${current} ${piece}` : current + piece;
        const begun = index > 0 || at > 0;
        if (begun && width(candidate) > columns) {
          lines.push(current);
          current = further + piece;
        } else {
          current = candidate;
        }
      });
    });
  return [...lines, current];
}

/** Line breaks and tabs would break a row. */
export function oneLine(text: string): string {
  return visible(text).replaceAll(/ *[\n\t]+[ \n\t]*/g, " ");
}

// A picture with what may follow it, a line end that is half there, half of a character: the next piece may belong to
// it.
const UNFINISHED =
  /(?:\r|(?:\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?\u200d){0,8}(?:\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)?)[\ud800-\udbff]?$/v;
const LONGEST_UNFINISHED = 64;

/**
 * Writes a text that arrives in pieces: what looks hidden only because it is cut in the middle waits for the next
 * piece.
 */
export class Pieces {
  readonly #write: (text: string) => void;
  #held = "";

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  readonly push = (piece: string): void => {
    const text = this.#held + piece;
    const held = UNFINISHED.exec(text.slice(-LONGEST_UNFINISHED))?.[0] ?? "";
    this.#held = held;
    const ready = text.slice(0, text.length - held.length);
    if (ready !== "") this.#write(ready);
  };

  end(): void {
    if (this.#held !== "") this.#write(this.#held);
    this.#held = "";
  }
}
