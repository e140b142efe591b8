/**
 * Parses texts by the loaded grammars, within limits.
 *
 * Parsing is linear for text that people write. But a text can make a grammar pile up what it has read, and then each
 * step copies the pile: 4,000 characters of `:-` took Java's grammar 22 s, 6,000 of `a=>` 3 s and 1.5 GB. A step counts
 * as one however much it copies, so besides steps, which are the same everywhere, processor time and memory are limited
 * too. Both limits lie so far above the needs of ordinary text of the same length (thirty times the time) that the
 * machine does not decide about it.
 *
 * A text that goes beyond a limit leaves the runtime in an undefined state; the parser must then be replaced.
 */
import { readFile } from "node:fs/promises";
import type * as TreeSitter from "web-tree-sitter";
import { type Grammar, ROLE } from "./grammar.ts";
import { createRuntime, fileOf, isBreakdown, type Runtime } from "./runtime.ts";
import type { NodeTypes, SyntaxTree } from "./syntax-tree.ts";

/** Every number a node type can have. */
const TYPE_NUMBERS = 0x1_0000;
/** Hundreds of parser steps for a character. Ordinary text takes 0.01 to 0.02, the densest of 3,200 real files 0.03. */
const CHECKS_PER_CHARACTER = 0.2;
const FEWEST_CHECKS = 2_000;
/** Of processor time. Ordinary text takes 0.0003 ms for a character. */
const MS_PER_CHARACTER = 0.01;
const FEWEST_MS = 2_000;

const READ_BY_RUNTIME = (): undefined => undefined;

const TOO_LONG = "parsing takes too long";
const TOO_DEEP = "nested too deeply to be parsed";
const OUT_OF_MEMORY = "parsing takes too much memory";

/** A text that is not parsed; the message says why. */
export class ParseLimitError extends Error {}

interface LoadedGrammar {
  readonly language: TreeSitter.Language;
  readonly types: NodeTypes;
}

export class Parser {
  readonly #runtime: Runtime;
  readonly #parser: TreeSitter.Parser;
  readonly #grammars = new Map<Grammar, LoadedGrammar>();
  /** Why nothing can be parsed any more. */
  #breakdown: string | undefined;

  static async create(): Promise<Parser> {
    return new Parser(await createRuntime());
  }

  private constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#parser = new runtime.library.Parser();
  }

  /** Whether it is time for another one. */
  get isWorn(): boolean {
    return this.#breakdown !== undefined || this.#runtime.isHalfFull();
  }

  get grammars(): Iterable<Grammar> {
    return this.#grammars.keys();
  }

  async load(grammar: Grammar): Promise<void> {
    if (this.#grammars.has(grammar)) return;
    const bytes = await readFile(fileOf(`@vscode/tree-sitter-wasm/wasm/${grammar.file}`));
    if (this.#grammars.has(grammar)) return;
    const language = await this.#runtime.library.Language.load(bytes);
    this.#grammars.set(grammar, { language, types: nodeTypesOf(language, grammar) });
  }

  /** Parses a text into `into`, or throws a `ParseLimitError`. */
  parse(grammar: Grammar, text: string, into: SyntaxTree): void {
    const loaded = this.#grammars.get(grammar);
    if (loaded === undefined) throw new Error(`the grammar ${grammar.file} was not loaded`);
    if (this.#breakdown === undefined) this.#attempt(loaded, text, into);
    if (this.#breakdown !== undefined) throw new ParseLimitError(this.#breakdown);
  }

  #attempt({ language, types }: LoadedGrammar, text: string, into: SyntaxTree): void {
    let tree: TreeSitter.Tree | null = null;
    try {
      this.#parser.setLanguage(language);
      const limits = new ParseLimits(text.length);
      this.#runtime.input = { text, isEnough: () => limits.areExceeded() };
      tree = this.#parser.parse(READ_BY_RUNTIME);
      if (this.#runtime.hasOverrunStack()) this.#breakdown = TOO_DEEP;
      else if (tree === null) this.#breakdown = TOO_LONG;
      else into.read(this.#runtime.memory(), addressOf(tree), types, text);
    } catch (error) {
      if (!isBreakdown(error)) throw error;
      const isDeep = error instanceof RangeError || this.#runtime.hasOverrunStack();
      this.#breakdown = isDeep ? TOO_DEEP : OUT_OF_MEMORY;
    }
    if (tree !== null) this.#release(tree);
  }

  delete(): void {
    this.#release(this.#parser);
  }

  /**
   * After a breakdown, releasing what it left behind may fail again; all of that is freed with the runtime's memory.
   */
  #release(resource: { delete(): void }): void {
    try {
      resource.delete();
    } catch (error) {
      if (!isBreakdown(error)) throw error;
      this.#breakdown ??= OUT_OF_MEMORY;
    }
  }
}

/** The cost that one text may have. The parser asks after every hundred of its steps. */
class ParseLimits {
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

  /** By the processor's time, so that a busy machine parses no less; the clock only spares asking for it. */
  #isLate(): boolean {
    if (performance.now() - this.#startedAt < this.#maxMs) return false;
    const { user, system } = process.threadCpuUsage(this.#before);
    return (user + system) / 1000 > this.#maxMs;
  }
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

/** Where a tree lies in the parser's memory; the library keeps it under the index 0. */
function addressOf(tree: object): number {
  const address: unknown = Reflect.get(tree, 0);
  if (typeof address !== "number") throw new Error("the tree-sitter runtime keeps trees in another way");
  return address;
}
