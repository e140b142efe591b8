/**
 * A tree-sitter runtime with the grammars that were asked for, and limits to what a text may cost.
 *
 * The runtime is the one that comes with the grammars. `web-tree-sitter` 0.27 is no faster (4.47 against 4.45 M characters of
 * TypeScript a second, side by side) and does not count the work in a step: see below.
 *
 * Parsing is linear for what people write. But a grammar can be made to pile up what it has read, and then each step copies the
 * pile: 4,000 characters of `:-` took Java's grammar 22 s, 6,000 of `a=>` 3 s and 1.5 GB. This runtime counts such copying, so a limit
 * on steps, which are the same everywhere, stops the first; the second happens in one step and is stopped by the limit on memory. Out of
 * memory a runtime is broken for good and must be replaced by another one.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type * as TreeSitter from "@vscode/tree-sitter-wasm";
import { type Grammar, ROLE } from "./grammar.ts";
import type { CursorFunctions, NodeTypes, SyntaxTree } from "./syntax-tree.ts";

/** How many characters the parser's input buffer takes at a time. */
const CHUNK = 5119;
/** Every number a node type can have. */
const TYPE_NUMBERS = 0x1_0000;
/** Memory in pages of 64 KiB: 32 MiB at first, 256 MiB at most. It never shrinks. */
const FIRST_PAGES = 512;
const MOST_PAGES = 4096;
const PAGE = 65_536;
/** Hundreds of parser steps for a character. Ordinary text takes 0.01 to 0.02, the densest of 3,200 real files 0.03. */
const CHECKS_PER_CHARACTER = 0.1;
const FEWEST_CHECKS = 2_000;
/** Of processor time, should steps take longer than all we have seen: a last resort. Ordinary text takes 0.0003 for a character. */
const FEWEST_MS = 5_000;
const MS_PER_CHARACTER = 0.02;

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** The part of the global `WebAssembly` that is used here; Node's types do not describe it. */
interface WebAssemblyInterface {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly RuntimeError: new () => Error;
}

const webAssembly = webAssemblyOf(Reflect.get(globalThis, "WebAssembly"));

const TOO_LONG = "parsing takes too long";
const OUT_OF_MEMORY = "parsing takes too much memory";

/** A text that is not parsed to the end; the message says why. */
export class ParseLimitError extends Error {}

interface LoadedGrammar {
  readonly language: TreeSitter.Language;
  readonly types: NodeTypes;
}

export class Parser {
  readonly #library: typeof TreeSitter;
  readonly #parser: TreeSitter.Parser;
  readonly #cursor: CursorFunctions;
  readonly #memory: WasmMemory;
  #isBroken = false;
  readonly #grammars = new Map<Grammar, LoadedGrammar>();

  static async create(): Promise<Parser> {
    const library = freshLibrary();
    const wasmMemory = new webAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES });
    // Running out of memory is told as an error; it need not be printed as well.
    const module = { locateFile: () => fileOf("tree-sitter.wasm"), wasmMemory, printErr: () => undefined };
    await library.Parser.init(module);
    return new Parser(library, cursorFunctionsOf(module), wasmMemory);
  }

  private constructor(library: typeof TreeSitter, cursor: CursorFunctions, memory: WasmMemory) {
    this.#library = library;
    this.#parser = new library.Parser();
    this.#cursor = cursor;
    this.#memory = memory;
  }

  /** Whether it is time for another one: this one broke, or its memory is so full of holes that a large text might not find room. */
  get isWorn(): boolean {
    return this.#isBroken || this.#memory.buffer.byteLength > (MOST_PAGES * PAGE) / 2;
  }

  get grammars(): Iterable<Grammar> {
    return this.#grammars.keys();
  }

  async load(grammar: Grammar): Promise<void> {
    if (this.#grammars.has(grammar)) return;
    const bytes = await readFile(fileOf(grammar.file));
    if (this.#grammars.has(grammar)) return;
    const language = await this.#library.Language.load(bytes);
    this.#grammars.set(grammar, { language, types: nodeTypesOf(language, grammar) });
  }

  /** Parses a text into `into`, or throws a `ParseLimitError`. */
  parse(grammar: Grammar, text: string, into: SyntaxTree): void {
    const loaded = this.#grammars.get(grammar);
    if (loaded === undefined) throw new Error(`the grammar ${grammar.file} was not loaded`);
    if (this.#isBroken) throw new ParseLimitError(OUT_OF_MEMORY);
    try {
      this.#parseWith(loaded, text, into);
    } catch (error) {
      if (!(error instanceof webAssembly.RuntimeError)) throw error;
      this.#isBroken = true;
      throw new ParseLimitError(OUT_OF_MEMORY);
    }
  }

  #parseWith({ language, types }: LoadedGrammar, text: string, into: SyntaxTree): void {
    this.#parser.setLanguage(language);
    const limits = new Limits(text.length);
    const tree = this.#parser.parse((index) => text.slice(index, index + CHUNK), null, {
      progressCallback: () => limits.areExceeded(),
    });
    if (tree === null) {
      this.#parser.reset();
      throw new ParseLimitError(TOO_LONG);
    }
    try {
      into.read(this.#cursor, addressOf(tree), types, text);
    } finally {
      tree.delete();
    }
  }

  delete(): void {
    try {
      this.#parser.delete();
    } catch (error) {
      // The runtime of a broken parser may break again over what it left behind. All of it goes with its memory.
      if (!this.#isBroken) throw error;
    }
  }
}

/** What one text may cost. The parser asks after every hundred of its steps. */
class Limits {
  readonly #maxMs: number;
  readonly #maxChecks: number;
  readonly #startedAt = performance.now();
  readonly #before = process.threadCpuUsage();
  #checks = 0;

  constructor(length: number) {
    this.#maxMs = FEWEST_MS + length * MS_PER_CHARACTER;
    this.#maxChecks = FEWEST_CHECKS + length * CHECKS_PER_CHARACTER;
  }

  areExceeded(): boolean {
    return ++this.#checks > this.#maxChecks || this.#isLate();
  }

  /** By the processor's time, so that a busy machine sees no less; the clock only spares asking for it. */
  #isLate(): boolean {
    if (performance.now() - this.#startedAt < this.#maxMs) return false;
    const { user, system } = process.threadCpuUsage(this.#before);
    return (user + system) / 1000 > this.#maxMs;
  }
}

/**
 * The library keeps its runtime in a variable of its module, so a second runtime would pull the first one away from under its
 * parsers. Each parser therefore has a copy of the module to itself, which goes when the parser goes.
 */
function freshLibrary(): typeof TreeSitter {
  const require = createRequire(import.meta.url);
  const file = require.resolve("@vscode/tree-sitter-wasm");
  Reflect.deleteProperty(require.cache, file);
  const library: unknown = require(file);
  Reflect.deleteProperty(require.cache, file);
  if (!isTreeSitter(library)) throw new Error("web-tree-sitter has no Parser and Language");
  return library;
}

function isTreeSitter(value: unknown): value is typeof TreeSitter {
  return typeof value === "object" && value !== null && "Parser" in value && "Language" in value;
}

/** Found through its package, so that it is the same file for the sources and for a bundle of them. */
function fileOf(name: string): string {
  return createRequire(import.meta.url).resolve(`@vscode/tree-sitter-wasm/wasm/${name}`);
}

function nodeTypesOf(language: TreeSitter.Language, grammar: Grammar): NodeTypes {
  const roles = new Uint16Array(TYPE_NUMBERS);
  const known = new Set<string>();
  for (const [number, name] of language.types.entries()) {
    if (!language.nodeTypeIsNamed(number)) {
      // Punctuation and keywords.
      roles[number] = ROLE.leaf;
      continue;
    }
    known.add(name);
    if (Object.hasOwn(grammar.roles, name)) roles[number] = grammar.roles[name] ?? 0;
  }
  for (const name of Object.keys(grammar.roles)) {
    if (!known.has(name)) throw new Error(`${grammar.file} has no node type "${name}"`);
  }
  return { names: language.types, fields: language.fields, roles };
}

/** The library passes its options on to its module, which puts its functions into them. */
function cursorFunctionsOf(module: object): CursorFunctions {
  const named = (name: keyof CursorFunctions): ((tree: number) => number) => {
    const found: unknown = Reflect.get(module, name);
    if (!isTreeFunction(found)) throw new Error(`the tree-sitter runtime has no function ${name}`);
    return found;
  };
  return {
    _ts_tree_root_node_wasm: named("_ts_tree_root_node_wasm"),
    _ts_node_has_error_wasm: named("_ts_node_has_error_wasm"),
    _ts_tree_cursor_new_wasm: named("_ts_tree_cursor_new_wasm"),
    _ts_tree_cursor_delete_wasm: named("_ts_tree_cursor_delete_wasm"),
    _ts_tree_cursor_goto_first_child_wasm: named("_ts_tree_cursor_goto_first_child_wasm"),
    _ts_tree_cursor_goto_next_sibling_wasm: named("_ts_tree_cursor_goto_next_sibling_wasm"),
    _ts_tree_cursor_goto_parent_wasm: named("_ts_tree_cursor_goto_parent_wasm"),
    _ts_tree_cursor_current_node_type_id_wasm: named("_ts_tree_cursor_current_node_type_id_wasm"),
    _ts_tree_cursor_current_field_id_wasm: named("_ts_tree_cursor_current_field_id_wasm"),
    _ts_tree_cursor_start_index_wasm: named("_ts_tree_cursor_start_index_wasm"),
    _ts_tree_cursor_end_index_wasm: named("_ts_tree_cursor_end_index_wasm"),
  };
}

function webAssemblyOf(value: unknown): WebAssemblyInterface {
  if (!isWebAssembly(value)) throw new Error("this Node.js has no WebAssembly");
  return value;
}

function isWebAssembly(value: unknown): value is WebAssemblyInterface {
  return typeof value === "object" && value !== null && "Memory" in value && "RuntimeError" in value;
}

function isTreeFunction(value: unknown): value is (tree: number) => number {
  return typeof value === "function";
}

/** Where a tree lies in the parser's memory; the library keeps it under the index 0. */
function addressOf(tree: object): number {
  const address: unknown = Reflect.get(tree, 0);
  if (typeof address !== "number") throw new Error("the tree-sitter runtime keeps trees in another way");
  return address;
}
