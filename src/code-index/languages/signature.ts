import type { SyntaxTree } from "./syntax-tree.ts";

/** A definition up to this long, on one line, is shown with its value: `const LIMIT = 200`. */
const LONGEST_WITH_VALUE = 200;

/** Where the body of something with a value begins: at the value, unless all of it is short enough to be a signature (-1). */
export function valueStart(tree: SyntaxTree, outer: number, value: number): number {
  if (value < 0) return -1;
  // Some nodes of a line take its end along.
  const all = tree.text
    .slice(tree.start(outer), Math.min(tree.end(outer), tree.start(outer) + LONGEST_WITH_VALUE + 1))
    .trimEnd();
  if (all.length <= LONGEST_WITH_VALUE && !all.includes("\n")) return -1;
  return tree.start(value);
}

/** Whether a node is the only child of its type, as far as its neighbours show: `const a = 1` but not `const a = 1, b = 2`. */
export function isOnlyOfType(tree: SyntaxTree, parent: number, node: number): boolean {
  if (parent < 0 || tree.childOfType(parent, tree.type(node)) !== node) return false;
  for (let next = tree.after(node); next < tree.after(parent); next = tree.after(next)) {
    if (tree.type(next) === tree.type(node)) return false;
  }
  return true;
}
