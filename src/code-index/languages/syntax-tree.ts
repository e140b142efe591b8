/**
 * The parts of a syntax tree that matter, copied out of the parser's memory into flat arrays in the order of the text,
 * so that rules can move in them without crossing into WebAssembly.
 *
 * Measured on 5.4 M characters of TypeScript (1.8 M nodes; processor time, parsing alone 1.28 s):
 * - `TreeCursor` of the library, kinds only: + 0.63 s. It copies its four words into the parser's memory and back on
 *   every call.
 * - a query that captures identifiers and definitions: + 0.46 to 0.68 s, without parents and fields.
 * - `descendantsOfType` for the same: + 0.43 to 0.55 s, likewise without parents.
 * - the functions under `TreeCursor` called directly: + 0.31 s.
 * - the parser's memory read as it is, as here: + 0.07 s.
 *
 * So this file knows how the runtime lays out its trees (`subtree.h`, `tree.h` and `parser.h` of tree-sitter, for a
 * machine of 32 bits). The library's version is pinned, and a test compares this walk, node by node, with one by
 * `TreeCursor`.
 */
import { countAt, shortAt } from "../../domain/values/number-at.ts";
import { ROLE } from "./grammar.ts";

/** A grammar's node types and fields by their numbers. */
export interface NodeTypes {
  readonly names: readonly string[];
  readonly fields: readonly (string | null)[];
  /** Role bits by type number, for every number there is. */
  readonly roles: Uint16Array;
}

/** The type number of nodes that could not be parsed, in every grammar. */
const ERROR_TYPE = 0xffff;
/** Enough for all but the largest files: whenever it grows, V8 compiles all code that reads trees again. */
const FIRST_CAPACITY = 65_536;
const FIRST_DEPTH = 1_024;
const CLOSED = ROLE.leaf | ROLE.opaque;

/** A node is two words: either all of a small leaf, marked by its lowest bit, or the address of its data. */
const WORDS_PER_NODE = 2;
/** Where in a node's data its parts are, by the size of the part: words of 32 bits, or halves of them. */
const WORD = { padding: 1, size: 4, errorCost: 8, children: 9 } as const;
const HALF = { type: 20, flags: 22, production: 33 } as const;
/** Where a grammar has its tables, in words. */
const TABLE = {
  fieldCount: 8,
  longestAliases: 9,
  fieldSlices: 16,
  fieldEntries: 17,
  publicTypes: 19,
  aliases: 21,
} as const;
/** Of a tree: its root, then its grammar. */
const GRAMMAR_OF_TREE = 2;

/** The parser's memory, and the parts of its grammar that say how nodes are shown. All are addresses. */
interface ParserMemory {
  readonly words: Uint32Array;
  readonly halves: Uint16Array;
  readonly bytes: Uint8Array;
  readonly publicTypes: number;
  /** Types that children have in place of their own, for each production that renames any. */
  readonly aliases: number;
  readonly longestAliases: number;
  readonly fieldSlices: number;
  readonly fieldEntries: number;
}

/**
 * The position of the walk below one node: the node's data, where its next child lies and where they end, that child's
 * number among those that are not extras, and its position in the text.
 */
interface WalkLevel {
  node: number;
  child: number;
  end: number;
  structural: number;
  position: number;
  aliases: number;
  isVisible: boolean;
  /** Whether it stands where the grammar does not expect it, as comments do. */
  isExtra: boolean;
  /** The copy of the node, or -1. */
  copied: number;
  /** For what is directly below: the nearest copied ancestor, and the role of the parent if it was copied. */
  owner: number;
  parentRole: number;
}

export class SyntaxTree {
  text = "";
  count = 0;
  /** Whether something could not be parsed or is missing. */
  hasErrors = false;
  /** The start of the first part that could not be parsed; -1 when there is none, or something is only missing. */
  firstError = -1;
  #types: NodeTypes | undefined;
  #type = new Uint16Array(FIRST_CAPACITY);
  #field = new Uint16Array(FIRST_CAPACITY);
  #start = new Uint32Array(FIRST_CAPACITY);
  #end = new Uint32Array(FIRST_CAPACITY);
  #parent = new Int32Array(FIRST_CAPACITY);
  #after = new Int32Array(FIRST_CAPACITY);
  readonly #levels: WalkLevel[] = Array.from({ length: FIRST_DEPTH }, newLevel);

  /**
   * Copies a tree, replacing what was copied before.
   *
   * @param buffer the parser's memory, in which `tree` is an address.
   */
  read(buffer: ArrayBuffer, tree: number, types: NodeTypes, text: string): void {
    this.text = text;
    this.count = 0;
    this.firstError = -1;
    this.#types = types;
    const memory = memoryOf(buffer, tree);
    const root = countAt(memory.words, tree >> 2);
    this.hasErrors = (root & 1) === 0 && memory.words[(root >> 2) + WORD.errorCost] !== 0;
    this.#walk(memory, tree, types.roles);
  }

  /**
   * The one loop over all nodes, in one function of 71 lines: with a part of it in a function of its own, the analysis
   * of 5.0 M characters of TypeScript took 3 to 6 % more processor time (1.32 to 1.39 s instead of 1.28 to 1.30 s).
   */
  #walk(memory: ParserMemory, tree: number, roles: Uint16Array): void {
    const { words, halves, publicTypes } = memory;
    const levels = this.#levels;
    let level: WalkLevel | undefined;
    let depth = 0;
    let at = tree >> 2;
    let position = 0;
    for (;;) {
      const node = countAt(words, at);
      const isLeaf = (node & 1) === 1;
      const flags = isLeaf ? node >> 1 : shortAt(halves, (node >> 1) + HALF.flags);
      const own = isLeaf ? (node >> 8) & 0xff : shortAt(halves, (node >> 1) + HALF.type);
      const sizes = isLeaf ? countAt(words, at + 1) : 0;
      const start = position + (isLeaf ? (sizes >> 16) & 0xff : countAt(words, (node >> 2) + WORD.padding));
      const end = start + (isLeaf ? sizes >>> 24 : countAt(words, (node >> 2) + WORD.size));
      const isExtra = (flags & 4) !== 0;
      const aliases = level?.aliases ?? 0;
      const alias = aliases === 0 || isExtra ? 0 : shortAt(halves, aliases + (level?.structural ?? 0));
      const isVisible = (flags & 1) !== 0 || alias !== 0;
      let owner = level?.owner ?? -1;
      let parentRole = level?.parentRole ?? 0;
      const children = isLeaf ? 0 : countAt(words, (node >> 2) + WORD.children);
      let isOpen = children > 0;
      let copied = -1;
      if (isVisible) {
        const named = alias === 0 ? own : alias;
        const type = named === ERROR_TYPE ? ERROR_TYPE : shortAt(halves, publicTypes + named);
        const role = roles[type] ?? 0;
        isOpen &&= (role & CLOSED) === 0;
        if ((role & ~CLOSED) !== 0 || ((parentRole & ROLE.children) !== 0 && (role & ROLE.leaf) === 0)) {
          const field = parentRole === 0 || isExtra ? 0 : this.#fieldOf(memory, depth);
          copied = this.#copy(type, start, end, owner, field);
          owner = copied;
        }
        // Positions are in bytes, of which a unit of the text has two.
        if (type === ERROR_TYPE && this.firstError < 0) this.firstError = start >> 1;
        parentRole = copied >= 0 ? role | ROLE.kept : 0;
      }
      if (level !== undefined) {
        level.position = end;
        level.child += WORDS_PER_NODE;
        if (!isExtra) level.structural++;
      }
      if (isOpen) {
        if (depth === levels.length) levels.push(newLevel());
        level = levels[depth++] ?? newLevel();
        level.node = node;
        // Children lie before their parent's data.
        level.child = (node >> 2) - WORDS_PER_NODE * children;
        level.end = node >> 2;
        level.structural = 0;
        level.position = position;
        level.aliases = aliasesOf(memory, shortAt(halves, (node >> 1) + HALF.production));
        level.isVisible = isVisible;
        level.isExtra = isExtra;
        level.copied = copied;
        level.owner = owner;
        level.parentRole = parentRole;
      } else if (copied >= 0) {
        this.#after[copied] = this.count;
      }
      while (level !== undefined && level.child === level.end) {
        if (level.copied >= 0) this.#after[level.copied] = this.count;
        depth--;
        level = depth > 0 ? levels[depth - 1] : undefined;
      }
      if (level === undefined) return;
      at = level.child;
      position = level.position;
    }
  }

  /**
   * The field of the current node in its parent. The grammar assigns it to the child of a production, and hidden parts
   * of a production lie in between.
   */
  #fieldOf(memory: ParserMemory, depth: number): number {
    for (let up = depth - 1; up >= 0; up--) {
      const level = this.#levels[up];
      if (level === undefined) return 0;
      // All but the lowest already count the child that the walk is in.
      const child = up === depth - 1 ? level.structural : level.structural - 1;
      const field = fieldAt(memory, shortAt(memory.halves, (level.node >> 1) + HALF.production), child);
      if (field !== 0 || level.isVisible || level.isExtra) return field;
    }
    return 0;
  }

  #copy(type: number, start: number, end: number, owner: number, field: number): number {
    const index = this.count++;
    if (index === this.#type.length) this.#grow();
    this.#type[index] = type;
    this.#start[index] = start >> 1;
    this.#end[index] = end >> 1;
    // A field relates a node to its parent; a node whose parent was not copied has no field.
    this.#field[index] = field;
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

  /** The nodes copied directly below a node, in order. */
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

function newLevel(): WalkLevel {
  return {
    node: 0,
    child: 0,
    end: 0,
    structural: 0,
    position: 0,
    aliases: 0,
    isVisible: false,
    isExtra: false,
    copied: -1,
    owner: -1,
    parentRole: 0,
  };
}

function memoryOf(buffer: ArrayBuffer, tree: number): ParserMemory {
  const words = new Uint32Array(buffer);
  const grammar = countAt(words, (tree >> 2) + GRAMMAR_OF_TREE) >> 2;
  const hasFields = words[grammar + TABLE.fieldCount] !== 0;
  return {
    words,
    halves: new Uint16Array(buffer),
    bytes: new Uint8Array(buffer),
    publicTypes: countAt(words, grammar + TABLE.publicTypes) >> 1,
    aliases: countAt(words, grammar + TABLE.aliases) >> 1,
    longestAliases: countAt(words, grammar + TABLE.longestAliases) & 0xffff,
    fieldSlices: hasFields ? countAt(words, grammar + TABLE.fieldSlices) >> 1 : 0,
    fieldEntries: countAt(words, grammar + TABLE.fieldEntries) >> 1,
  };
}

/** Where the types begin that a production's children have in place of their own; 0 if they have none. */
function aliasesOf({ aliases, longestAliases }: ParserMemory, production: number): number {
  return production === 0 ? 0 : aliases + production * longestAliases;
}

/**
 * A slice is where its entries begin and how many they are; an entry is a field, a child, and whether it is inherited
 * from a hidden part.
 */
function fieldAt(
  { halves, bytes, fieldSlices, fieldEntries }: ParserMemory,
  production: number,
  child: number,
): number {
  if (fieldSlices === 0) return 0;
  const slice = fieldSlices + production * 2;
  const first = fieldEntries + shortAt(halves, slice) * 2;
  const end = first + shortAt(halves, slice + 1) * 2;
  for (let entry = first; entry < end; entry += 2) {
    const isInherited = bytes[(entry + 1) * 2 + 1] !== 0;
    if (!isInherited && bytes[(entry + 1) * 2] === child) return shortAt(halves, entry);
  }
  return 0;
}
