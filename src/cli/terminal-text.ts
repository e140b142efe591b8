import { stripVTControlCharacters } from "node:util";

/** How many columns a text takes in a terminal, and how to fit it into fewer. */

// Ranges that terminals draw two columns wide: East Asian wide and full-width forms, and emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const ZERO = /\p{Mark}|[\u200b-\u200f]/u;

export function width(text: string): number {
  let columns = 0;
  for (const character of stripVTControlCharacters(text)) {
    columns += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  }
  return columns;
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
  return `${cut}…`;
}

export function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - width(text)));
}

/** Line breaks and tabs would break a row; nothing that reaches here may move the cursor either. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s*[\r\n\t]+\s*/g, " ");
}
