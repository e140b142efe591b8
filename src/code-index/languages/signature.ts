import type { SyntaxTree } from "./syntax-tree.ts";

/** A definition up to this long, on one line, is shown with its value: `const LIMIT = 200`. */
const LONGEST_WITH_VALUE = 200;

/** Where the body of something with a value begins: at the value, unless all of it is short enough to be a signature (-1). */
export function valueStart(tree: SyntaxTree, outer: number, value: number): number {
  if (value < 0) return -1;
  const length = tree.end(outer) - tree.start(outer);
  if (length <= LONGEST_WITH_VALUE && !tree.textOf(outer).includes("\n")) return -1;
  return tree.start(value);
}
