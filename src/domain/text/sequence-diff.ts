/**
 * The shortest way from one list of texts to another (Myers, "An O(ND) difference algorithm"): lines of a file, or
 * words of a line.
 */
export interface Replaced {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** More differences than this are not looked for one by one: the middle counts as replaced as a whole. */
const MOST_DIFFERENCES = 1_000;

export function sequenceDiff(a: readonly string[], b: readonly string[]): Replaced[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
  if (start === endA && start === endB) return [];
  const [middleA, middleB] = [a.slice(start, endA), b.slice(start, endB)];
  const kept = middleA.length === 0 || middleB.length === 0 ? [] : common(middleA, middleB);
  const replaced: Replaced[] = [];
  let [x, y] = [0, 0];
  for (const [keptA, keptB] of [...kept, [middleA.length, middleB.length] as const]) {
    if (keptA > x || keptB > y)
      replaced.push({ oldFrom: start + x, oldTo: start + keptA, newFrom: start + y, newTo: start + keptB });
    [x, y] = [keptA + 1, keptB + 1];
  }
  return replaced;
}

/** The pairs of places that stay, in order; none when there are too many differences. */
function common(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, MOST_DIFFERENCES); edits += 1) {
    trace.push(new Map(reach));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = nextX(reach, diagonal, edits);
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return walkBack(trace, a.length, b.length);
    }
  }
  return [];
}

function nextX(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const [left, right] = [reach.get(diagonal - 1) ?? -1, reach.get(diagonal + 1) ?? -1];
  return diagonal === -edits || (diagonal !== edits && left < right) ? right : left + 1;
}

function walkBack(trace: readonly ReadonlyMap<number, number>[], lengthA: number, lengthB: number) {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [lengthA, lengthB];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const reach = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const [left, right] = [reach.get(diagonal - 1) ?? -1, reach.get(diagonal + 1) ?? -1];
    const before = diagonal === -edits || (diagonal !== edits && left < right) ? diagonal + 1 : diagonal - 1;
    const beforeX = edits === 0 ? 0 : (reach.get(before) ?? 0);
    const beforeY = edits === 0 ? 0 : beforeX - before;
    while (x > beforeX && y > beforeY) {
      [x, y] = [x - 1, y - 1];
      pairs.push([x, y]);
    }
    [x, y] = [beforeX, beforeY];
  }
  return pairs.reverse();
}
