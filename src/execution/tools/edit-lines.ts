/**
 * Texts as lines with their ends, and which lines two texts have in common. An edit works on these, so that every line
 * it does not change keeps the bytes it has in the file.
 */
export interface TextLine {
  /** Without its end. */
  readonly text: string;
  /** "\n", "\r\n", or "" for a last line without one. */
  readonly end: string;
  /** Where it begins in its text. */
  readonly at: number;
}

export function textLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const next = feed === -1 ? text.length : feed + 1;
    const isCrlf = feed > at && text[feed - 1] === "\r";
    const end = feed === -1 ? "" : isCrlf ? "\r\n" : "\n";
    lines.push({ text: text.slice(at, next - end.length), end, at });
    at = next;
  }
  return lines;
}

/** Beyond this, only equal lines at the two ends count as common: the table would take too long. */
const TABLE_LIMIT = 4_000_000;

/** For each line of `after`, the line of `before` that it is; undefined for a line that is new. In order. */
export function commonLines(before: readonly string[], after: readonly string[]): (number | undefined)[] {
  const common: (number | undefined)[] = after.map(() => undefined);
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    common[head] = head;
    head += 1;
  }
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    common[after.length - 1 - tail] = before.length - 1 - tail;
    tail += 1;
  }
  const [rows, columns] = [before.length - head - tail, after.length - head - tail];
  if (rows * columns > TABLE_LIMIT) return common;
  for (const [row, column] of longestCommon(before.slice(head, head + rows), after.slice(head, head + columns)))
    common[head + column] = head + row;
  return common;
}

function longestCommon(before: readonly string[], after: readonly string[]): [number, number][] {
  const width = after.length + 1;
  const best = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => best[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      best[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < before.length && column < after.length;) {
    if (before[row] === after[column]) pairs.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}
