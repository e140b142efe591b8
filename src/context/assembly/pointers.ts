/**
 * A context for the first message of a model that has tools to look for itself: where to look, rather than everything
 * there is to see. A ranked list of files with one line of why each, the signatures of the best symbols that are not
 * shown whole, and then the bodies of the best few pieces. The decisions of a plan are not in it: the caller tells
 * those in its own words.
 */
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { maskedText } from "../../platform/masking.ts";
import { compareScore, placeOf } from "../model/compare.ts";
import type { ScoredFragment } from "../model/context-model.ts";
import { oneLine } from "../model/render-context.ts";
import { termsOf, wordsIn } from "../strategies/query.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";

const MOST_FILES = 15;
const MOST_SYMBOLS = 20;
const MOST_SYMBOLS_PER_FILE = 4;
const LONGEST_REASON = 100;
const LONGEST_SIGNATURE = 160;

export interface PointerParts {
  readonly question: ContextQuestion;
  /** All that was found, with its score. */
  readonly ranked: readonly ScoredFragment[];
  readonly index: ScopedIndex;
  readonly count: (text: string) => number;
}

export class Pointers {
  readonly #parts: PointerParts;
  readonly #files: readonly RankedFile[];

  constructor(parts: PointerParts) {
    this.#parts = parts;
    this.#files = rankedFiles(parts.ranked, parts.index);
  }

  /** As many lines as fit. */
  files(tokens: number): string {
    return this.#section("# Files, the best first\n", tokens, this.#files.map(fileLine));
  }

  /** Of the best symbols whose bodies are not shown; as many lines as fit. */
  signatures(tokens: number, shown: readonly ScoredFragment[]): string {
    const { question, index } = this.#parts;
    const isShown = ({ file, startLine }: IndexedDefinition): boolean =>
      shown.some(
        ({ level, provenance }) =>
          level === "full" &&
          provenance?.resource === file.resource &&
          provenance.path === file.path &&
          provenance.startLine <= startLine &&
          provenance.endLine >= startLine,
      );
    const symbols = bestSymbols(question, this.#files, index, (definition) => !isShown(definition));
    return this.#section("# Signatures\n", tokens, symbols.map(symbolLine(index)));
  }

  #section(heading: string, tokens: number, lines: readonly string[]): string {
    let text = "";
    for (const line of lines) {
      const longer = (text || heading) + line;
      if (this.#parts.count(longer) > tokens) break;
      text = longer;
    }
    return text;
  }
}

interface RankedFile {
  readonly file: IndexedFile;
  readonly reason: string;
}

/** By the best fragment of each. */
function rankedFiles(ranked: readonly ScoredFragment[], index: ScopedIndex): readonly RankedFile[] {
  const groups = Map.groupBy(
    ranked.filter(({ provenance }) => provenance !== undefined).toSorted(compareScore),
    placeOf,
  );
  return Array.from(groups.values())
    .slice(0, MOST_FILES)
    .flatMap(([best]) => {
      const { resource = "", path = "" } = best?.provenance ?? {};
      const file = index.file(resource, path);
      return file === undefined || best === undefined ? [] : [{ file, reason: best.reason }];
    });
}

function fileLine({ file, reason }: RankedFile): string {
  // The first part says why; the place in a rank, which may follow, is told by the order of the list.
  const [first = ""] = oneLine(reason).split("; ");
  const why = maskedText(first).slice(0, LONGEST_REASON).toWellFormed();
  return `- ${oneLine(`${file.resource}:${file.path}`)}: ${why}\n`;
}

/** Of the best files: definitions whose names have words of the question first, then exported ones; by place. */
function bestSymbols(
  question: ContextQuestion,
  files: readonly RankedFile[],
  index: ScopedIndex,
  isWanted: (definition: IndexedDefinition) => boolean,
): readonly IndexedDefinition[] {
  const said = new Set(termsOf(question).words);
  const worth = ({ name, exported }: IndexedDefinition): number =>
    wordsIn(name).filter((word) => said.has(word)).length * 2 + (exported ? 1 : 0);
  return files
    .flatMap(({ file }) =>
      index
        .definitionsIn(file)
        .filter((definition) => definition.kind !== "heading" && worth(definition) > 0 && isWanted(definition))
        .toSorted((a, b) => worth(b) - worth(a) || a.ordinal - b.ordinal)
        .slice(0, MOST_SYMBOLS_PER_FILE)
        .toSorted((a, b) => a.ordinal - b.ordinal),
    )
    .slice(0, MOST_SYMBOLS);
}

function symbolLine(index: ScopedIndex): (definition: IndexedDefinition) => string {
  return (definition) => {
    const { file, startLine } = definition;
    const { text } = index.excerptOfDefinition(definition, "signatures");
    const signature = oneLine(maskedText(text).replaceAll(/\s+/g, " ").trim());
    const place = oneLine(`${file.resource}:${file.path}`);
    return `- ${place}:${startLine}: ${signature.slice(0, LONGEST_SIGNATURE).toWellFormed()}\n`;
  };
}
