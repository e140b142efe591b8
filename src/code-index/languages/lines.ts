/** Positions and lines. A line ends with its line feed; a carriage return before it belongs to the line. */

/** Code that shows parts of a text asks for its lines many times in a row. */
let latestText = "";
let latestStarts: readonly number[] = [0];

/** Where each line begins. */
export function lineStartsOf(text: string): readonly number[] {
  if (latestText === text) return latestStarts;
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  latestText = text;
  latestStarts = starts;
  return starts;
}

/** The line a position is on, counted from 1. */
export function lineAt(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle;
  }
  return low + 1;
}
