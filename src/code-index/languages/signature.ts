import type { SyntaxTree } from "./syntax-tree.ts";

/** A definition up to this long, on one line, is shown with its value: `const LIMIT = 200`. */
const LONGEST_WITH_VALUE = 200;

/**
 * Where the body of something with a value begins: at the value, unless all of it is short enough to be a signature
 * (-1).
 */
export function valueStart(tree: SyntaxTree, outer: number, value: number): number {
  return value < 0 || isShort(tree, outer) ? -1 : tree.start(value);
}

/** Whether all of a node can stand in a signature: one line, not too long. */
export function isShort(tree: SyntaxTree, outer: number): boolean {
  const all = tree.end(outer) - tree.start(outer) > LONGEST_WITH_VALUE + 2 ? undefined : tree.textOf(outer).trimEnd();
  // Trimmed, because some nodes of a line take its end along.
  return all !== undefined && all.length <= LONGEST_WITH_VALUE && !all.includes("\n");
}

/**
 * Whether a node is the only child of its type, as far as its neighbors show: `const a = 1` but not `const a = 1, b =
 * 2`.
 */
export function isOnlyOfType(tree: SyntaxTree, parent: number, node: number): boolean {
  if (parent < 0 || tree.childOfType(parent, tree.type(node)) !== node) return false;
  for (let next = tree.after(node); next < tree.after(parent); next = tree.after(next)) {
    if (tree.type(next) === tree.type(node)) return false;
  }
  return true;
}
