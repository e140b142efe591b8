/**
 * Reads what a text says: definitions, names that are used, imports. Facts depend on language and text alone: no clock, no path, and
 * limits that are counted in characters and parser steps, so that two machines agree on what is incomplete.
 *
 * A thread that analyzes makes one analyzer, loads the grammars it needs, and then calls `analyze` as often as it likes.
 */
import type { FileFacts, Language } from "./facts.ts";
import { extractFacts } from "./languages/extract.ts";
import type { Grammar } from "./languages/grammar.ts";
import { analyzeMarkdown } from "./languages/markdown.ts";
import { CPP } from "./languages/cpp.ts";
import { JAVA } from "./languages/java.ts";
import { RUST } from "./languages/rust.ts";
import { GO } from "./languages/go.ts";
import { ParseLimitError, Parser } from "./languages/parser.ts";
import { PYTHON } from "./languages/python.ts";
import { SyntaxTree } from "./languages/syntax-tree.ts";
import { JAVASCRIPT, TSX, TYPESCRIPT } from "./languages/typescript.ts";

/** In UTF-16 units. Longer texts are not analyzed: they are generated, and their trees take about 40 bytes of memory for each character. */
export const MAX_ANALYZED_LENGTH = 4_194_304;
/** Hundreds of parser steps for each character, and for a text however short. Ordinary code needs less than a tenth of it. */
const CHECKS_PER_CHARACTER = 0.2;
const FEWEST_CHECKS = 10_000;

const GRAMMARS: Readonly<Partial<Record<Language, Grammar>>> = {
  typescript: TYPESCRIPT,
  tsx: TSX,
  javascript: JAVASCRIPT,
  python: PYTHON,
  go: GO,
  rust: RUST,
  java: JAVA,
  cpp: CPP,
};

export interface Analyzer extends Disposable {
  /** Makes languages known to `analyze`. Loading one again costs nothing. */
  load(languages: Iterable<Language>): Promise<void>;
  /** Never throws for any text; what it could not see to the end it says under `incomplete`. */
  analyze(language: Language, text: string): FileFacts;
}

/**
 * @example
 * using analyzer = await createAnalyzer();
 * await analyzer.load(["typescript"]);
 * analyzer.analyze("typescript", "export const answer = 42;").definitions[0].name; // "answer"
 */
export async function createAnalyzer(): Promise<Analyzer> {
  return new TreeSitterAnalyzer(await Parser.create());
}

class TreeSitterAnalyzer implements Analyzer {
  readonly #parser: Parser;
  readonly #tree = new SyntaxTree();

  constructor(parser: Parser) {
    this.#parser = parser;
  }

  async load(languages: Iterable<Language>): Promise<void> {
    for (const language of languages) {
      const grammar = GRAMMARS[language];
      if (grammar !== undefined) await this.#parser.load(grammar);
    }
  }

  analyze(language: Language, text: string): FileFacts {
    if (language === "text") return without(language, undefined);
    if (text.length > MAX_ANALYZED_LENGTH) {
      return without(language, `longer than ${MAX_ANALYZED_LENGTH} characters`);
    }
    if (language === "markdown") return analyzeMarkdown(text);
    const grammar = GRAMMARS[language];
    if (grammar === undefined) return without(language, `the grammar of ${language} is not there`);
    try {
      const maxChecks = Math.max(FEWEST_CHECKS, Math.ceil(text.length * CHECKS_PER_CHARACTER));
      this.#parser.parse(grammar, text, maxChecks, this.#tree);
    } catch (error) {
      if (!(error instanceof ParseLimitError)) throw error;
      return without(language, error.message);
    }
    return extractFacts(language, grammar, this.#tree);
  }

  [Symbol.dispose](): void {
    this.#parser.delete();
  }
}

function without(language: Language, incomplete: string | undefined): FileFacts {
  return { language, definitions: [], references: [], imports: [], incomplete };
}
