/**
 * The parts of a syntax tree that matter, copied out of the parser's memory into flat arrays in the order of the text, so that rules
 * can move about in them without crossing into WebAssembly.
 *
 * Measured on 5.4 M characters of TypeScript (1.8 M nodes; processor time, parsing alone 1.28 s):
 * - `TreeCursor` of the library, kinds only: + 0.63 s. It copies its four words into the parser's memory and back on every call.
 * - a query that captures identifiers and definitions: + 0.46 to 0.68 s, without parents and fields.
 * - `descendantsOfType` for the same: + 0.43 to 0.55 s, likewise without parents.
 * - the functions under `TreeCursor` called directly, as here: + 0.31 s.
 *
 * Those functions keep the cursor in the parser's transfer buffer between calls. So nothing else of the library may run
 * between `open` and `close`; the walk is synchronous and calls nothing else. The library's version is pinned, and a test compares this walk with `TreeCursor`.
 */
import { ROLE } from "./grammar.ts";

/** The functions of the parser's module that a walk needs. Their argument is the tree's address. */
export interface CursorFunctions {
  readonly _ts_tree_root_node_wasm: (tree: number) => void;
  /** Of the node the transfer buffer holds. */
  readonly _ts_node_has_error_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_new_wasm: (tree: number) => void;
  readonly _ts_tree_cursor_delete_wasm: (tree: number) => void;
  readonly _ts_tree_cursor_goto_first_child_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_goto_next_sibling_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_goto_parent_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_current_node_type_id_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_current_field_id_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_start_index_wasm: (tree: number) => number;
  readonly _ts_tree_cursor_end_index_wasm: (tree: number) => number;
}

/** A grammar's node types and fields by their numbers. */
export interface NodeTypes {
  readonly names: readonly string[];
  readonly fields: readonly (string | null)[];
  /** Role bits by type number, for every number there is. */
  readonly roles: Uint16Array;
}

/** The number of nodes that could not be parsed, in every grammar. */
const ERROR_TYPE = 0xffff;
/** Enough for all but the largest files: whenever it grows, V8 compiles everything anew that reads trees. */
const FIRST_CAPACITY = 65_536;
const CLOSED = ROLE.leaf | ROLE.opaque;

export class SyntaxTree {
  text = "";
  count = 0;
  /** Whether something could not be parsed or is missing. */
  hasErrors = false;
  /** Where the first part begins that could not be parsed; -1 when there is none, or it is only that something is missing. */
  firstError = -1;
  #types: NodeTypes | undefined;
  #type = new Uint16Array(FIRST_CAPACITY);
  #field = new Uint16Array(FIRST_CAPACITY);
  #start = new Uint32Array(FIRST_CAPACITY);
  #end = new Uint32Array(FIRST_CAPACITY);
  #parent = new Int32Array(FIRST_CAPACITY);
  #after = new Int32Array(FIRST_CAPACITY);
  /** For each depth of the walk: the copied node there, or -1. */
  #path = new Int32Array(256);

  /** Copies a tree, replacing what was copied before. */
  read(cursor: CursorFunctions, tree: number, types: NodeTypes, text: string): void {
    this.text = text;
    this.count = 0;
    this.firstError = -1;
    this.#types = types;
    cursor._ts_tree_root_node_wasm(tree);
    this.hasErrors = cursor._ts_node_has_error_wasm(tree) !== 0;
    cursor._ts_tree_cursor_new_wasm(tree);
    try {
      this.#walk(cursor, tree, types.roles);
    } finally {
      cursor._ts_tree_cursor_delete_wasm(tree);
    }
  }

  #walk(cursor: CursorFunctions, tree: number, roles: Uint16Array): void {
    const firstChild = cursor._ts_tree_cursor_goto_first_child_wasm;
    const nextSibling = cursor._ts_tree_cursor_goto_next_sibling_wasm;
    const toParent = cursor._ts_tree_cursor_goto_parent_wasm;
    const typeOf = cursor._ts_tree_cursor_current_node_type_id_wasm;
    let depth = 0;
    // The nearest copied ancestor, and whether it is the parent itself and wants all its children.
    let owner = -1;
    let parentRole = 0;
    for (;;) {
      const type = typeOf(tree);
      const role = roles[type] ?? 0;
      let copied = -1;
      if ((role & ~CLOSED) !== 0 || ((parentRole & ROLE.children) !== 0 && (role & ROLE.leaf) === 0)) {
        copied = this.#copy(cursor, tree, type, owner, parentRole !== 0);
      }
      if (type === ERROR_TYPE && this.firstError < 0) this.firstError = cursor._ts_tree_cursor_start_index_wasm(tree);
      if ((role & CLOSED) === 0 && firstChild(tree) !== 0) {
        if (depth === this.#path.length) this.#path = grown(this.#path);
        this.#path[depth++] = copied;
        if (copied >= 0) owner = copied;
        parentRole = copied >= 0 ? role | ROLE.kept : 0;
        continue;
      }
      if (copied >= 0) this.#after[copied] = this.count;
      while (nextSibling(tree) === 0) {
        if (toParent(tree) === 0) return;
        const left = this.#path[--depth] ?? -1;
        if (left >= 0) {
          this.#after[left] = this.count;
          owner = this.parent(left);
        }
        const above = depth > 0 ? (this.#path[depth - 1] ?? -1) : -1;
        parentRole = above >= 0 ? (roles[this.#type[above] ?? 0] ?? 0) | ROLE.kept : 0;
      }
    }
  }

  #copy(cursor: CursorFunctions, tree: number, type: number, owner: number, isChild: boolean): number {
    const index = this.count++;
    if (index === this.#type.length) this.#grow();
    this.#type[index] = type;
    this.#start[index] = cursor._ts_tree_cursor_start_index_wasm(tree);
    this.#end[index] = cursor._ts_tree_cursor_end_index_wasm(tree);
    // A field is what a node is to its parent; a node whose parent was not copied has none we could ask for.
    this.#field[index] = isChild ? cursor._ts_tree_cursor_current_field_id_wasm(tree) : 0;
    this.#parent[index] = owner;
    return index;
  }

  #grow(): void {
    this.#type = grown(this.#type);
    this.#field = grown(this.#field);
    this.#start = grown(this.#start);
    this.#end = grown(this.#end);
    this.#parent = grown(this.#parent);
    this.#after = grown(this.#after);
  }

  role(node: number): number {
    return node < 0 ? 0 : (this.#types?.roles[this.#type[node] ?? 0] ?? 0);
  }

  type(node: number): string {
    const type = this.#type[node] ?? 0;
    return type === ERROR_TYPE ? "ERROR" : (this.#types?.names[type] ?? "");
  }

  field(node: number): string {
    return this.#types?.fields[this.#field[node] ?? 0] ?? "";
  }

  start(node: number): number {
    return this.#start[node] ?? 0;
  }

  end(node: number): number {
    return this.#end[node] ?? 0;
  }

  /** The nearest copied node around it, or -1. */
  parent(node: number): number {
    return this.#parent[node] ?? -1;
  }

  /** The first node behind everything inside this one. */
  after(node: number): number {
    return this.#after[node] ?? node + 1;
  }

  textOf(node: number): string {
    return this.text.slice(this.start(node), this.end(node));
  }

  /** The first child in a field, or -1. */
  child(node: number, field: string): number {
    const after = this.after(node);
    for (let child = node + 1; child < after; child = this.after(child)) {
      if (this.#field[child] !== 0 && this.field(child) === field) return child;
    }
    return -1;
  }

  /** The first child of a type, or -1. */
  childOfType(node: number, type: string): number {
    const after = this.after(node);
    for (let child = node + 1; child < after; child = this.after(child)) if (this.type(child) === type) return child;
    return -1;
  }

  /** What was copied directly below a node, in order. */
  children(node: number): number[] {
    const children: number[] = [];
    const after = this.after(node);
    for (let child = node + 1; child < after; child = this.after(child)) children.push(child);
    return children;
  }
}

function grown<A extends Int32Array | Uint16Array | Uint32Array>(array: A): A;
function grown(array: Int32Array | Uint16Array | Uint32Array): Int32Array | Uint16Array | Uint32Array {
  const Kind = array instanceof Int32Array ? Int32Array : array instanceof Uint16Array ? Uint16Array : Uint32Array;
  const larger = new Kind(array.length * 2);
  larger.set(array);
  return larger;
}
