/**
 * The tree-sitter runtime of one thread with the grammars that were asked for.
 *
 * `@vscode/tree-sitter-wasm` also carries a runtime of its own next to the grammars. It parses the same trees in about a tenth more
 * processor time (1.35–1.45 s against 1.20–1.27 s for 5.4 M characters of TypeScript) and is CommonJS, so `web-tree-sitter` is used.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Language as TreeSitterLanguage, Parser as TreeSitterParser } from "web-tree-sitter";
import { type Grammar, ROLE } from "./grammar.ts";
import type { CursorFunctions, NodeTypes, SyntaxTree } from "./syntax-tree.ts";

/** How many characters the parser's input buffer takes at a time. */
const CHUNK = 5119;
/** Every number a node type can have. */
const TYPE_NUMBERS = 0x1_0000;

/** What a parser was given up on for. */
export class ParseLimitError extends Error {}

interface LoadedGrammar {
  readonly language: TreeSitterLanguage;
  readonly types: NodeTypes;
}

export class Parser {
  readonly #parser: TreeSitterParser;
  readonly #cursor: CursorFunctions;
  readonly #grammars = new Map<Grammar, LoadedGrammar>();

  static async create(): Promise<Parser> {
    // Found through its package, so that it is the same file for the sources and for a bundle of them.
    const wasmBinary = await readFile(resolve("web-tree-sitter/web-tree-sitter.wasm"));
    const module: Record<string, unknown> = { wasmBinary };
    await TreeSitterParser.init(module);
    return new Parser(cursorFunctionsOf(module));
  }

  private constructor(cursor: CursorFunctions) {
    this.#parser = new TreeSitterParser();
    this.#cursor = cursor;
  }

  async load(grammar: Grammar): Promise<void> {
    if (this.#grammars.has(grammar)) return;
    const bytes = await readFile(resolve(`@vscode/tree-sitter-wasm/wasm/${grammar.file}`));
    const language = await TreeSitterLanguage.load(bytes);
    this.#grammars.set(grammar, { language, types: nodeTypesOf(language, grammar) });
  }

  /**
   * Parses a text into `into`. `maxChecks` bounds the work: the parser asks after every hundred of its steps whether to go on. Steps
   * depend on the text alone, so that the same file is given up on everywhere or nowhere.
   */
  parse(grammar: Grammar, text: string, maxChecks: number, into: SyntaxTree): void {
    const loaded = this.#grammars.get(grammar);
    if (loaded === undefined) throw new Error(`the grammar ${grammar.file} was not loaded`);
    this.#parser.setLanguage(loaded.language);
    let checks = 0;
    const tree = this.#parser.parse((index) => text.slice(index, index + CHUNK), null, {
      progressCallback: () => ++checks > maxChecks,
    });
    if (tree === null) {
      this.#parser.reset();
      throw new ParseLimitError(`parsing took more than ${maxChecks * 100} steps`);
    }
    try {
      into.read(this.#cursor, addressOf(tree), loaded.types, text);
    } finally {
      tree.delete();
    }
  }

  delete(): void {
    this.#parser.delete();
  }
}

function resolve(specifier: string): string {
  return createRequire(import.meta.url).resolve(specifier);
}

function nodeTypesOf(language: TreeSitterLanguage, grammar: Grammar): NodeTypes {
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
function cursorFunctionsOf(module: Record<string, unknown>): CursorFunctions {
  const named = (name: keyof CursorFunctions): ((tree: number) => number) => {
    const found = module[name];
    if (!isTreeFunction(found)) throw new Error(`the tree-sitter runtime has no function ${name}`);
    return found;
  };
  return {
    _ts_tree_root_node_wasm: named("_ts_tree_root_node_wasm"),
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

function isTreeFunction(value: unknown): value is (tree: number) => number {
  return typeof value === "function";
}

/** Where a tree lies in the parser's memory; the library keeps it under the index 0. */
function addressOf(tree: object): number {
  const address: unknown = Reflect.get(tree, 0);
  if (typeof address !== "number") throw new Error("the tree-sitter runtime keeps trees in another way");
  return address;
}
