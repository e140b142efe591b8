/**
 * Checks the syntax of files for the tools that change them, with the parser of the code index. The parser is made at
 * the first question and serves all steps of a run, one text at a time.
 */
import { createAnalyzer, type Analyzer } from "../code-index/languages/analyze.ts";
import { languageOf } from "../code-index/model/language-of.ts";
import type { SyntaxCheck } from "../execution/tools/syntax-check.ts";

export class CodeSyntax implements Disposable {
  #analyzer: Promise<Analyzer> | undefined;
  #disposed = false;

  readonly check: SyntaxCheck = async (path, text) => {
    const language = languageOf(path, text.split("\n", 1)[0]);
    if (language === undefined || language === "text" || language === "markdown") return undefined;
    const analyzer = await (this.#analyzer ??= createAnalyzer());
    await analyzer.load([language]);
    return this.#disposed ? undefined : analyzer.problems(language, text);
  };

  [Symbol.dispose](): void {
    this.#disposed = true;
    void this.#analyzer?.then((analyzer) => analyzer[Symbol.dispose]());
  }
}
