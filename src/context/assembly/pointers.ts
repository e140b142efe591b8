/**
 * A context for the first message of a model that has tools to look for itself: where to look, rather than everything
 * there is to see. A ranked list of files with one line of why each, the signatures of the best symbols, and then the
 * bodies of the best few pieces. The decisions of a plan are not in it: the caller tells those in its own words.
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
/** The parts of the budget that the list of files, and that and the signatures together, may take. */
const FOR_FILES = 0.25;
const FOR_SYMBOLS = 0.5;

export interface PointerParts {
  readonly question: ContextQuestion;
  /** All that was found, with its score. */
  readonly ranked: readonly ScoredFragment[];
  readonly index: ScopedIndex;
  readonly tokens: number;
  readonly count: (text: string) => number;
}

/** The list of files and the signatures: as many lines as fit into half of the budget. */
export function pointersText({ question, ranked, index, tokens, count }: PointerParts): string {
  const files = rankedFiles(ranked, index);
  if (files.length === 0) return "";
  const lines = new LimitedText(count);
  lines.section("# Files, the best first\n", Math.floor(tokens * FOR_FILES), files.map(fileLine));
  const symbols = bestSymbols(question, files, index);
  lines.section("# Signatures\n", Math.floor(tokens * FOR_SYMBOLS), symbols.map(symbolLine(index)));
  return lines.text;
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
  const why = maskedText(oneLine(reason)).slice(0, LONGEST_REASON).toWellFormed();
  return `- ${oneLine(`${file.resource}:${file.path}`)}: ${why}\n`;
}

/** Of the best files: definitions whose names have words of the question first, then exported ones; by place. */
function bestSymbols(
  question: ContextQuestion,
  files: readonly RankedFile[],
  index: ScopedIndex,
): readonly IndexedDefinition[] {
  const said = new Set(termsOf(question).words);
  const worth = ({ name, exported }: IndexedDefinition): number =>
    wordsIn(name).filter((word) => said.has(word)).length * 2 + (exported ? 1 : 0);
  return files
    .flatMap(({ file }) =>
      index
        .definitionsIn(file)
        .filter((definition) => definition.kind !== "heading" && worth(definition) > 0)
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

/** Lines as long as they fit. */
class LimitedText {
  text = "";
  readonly #count: (text: string) => number;

  constructor(count: (text: string) => number) {
    this.#count = count;
  }

  /** @param tokens of the whole text, with this section. */
  section(heading: string, tokens: number, lines: readonly string[]): void {
    let longer = this.text + heading;
    for (const line of lines) {
      if (this.#count(longer + line) > tokens) break;
      longer += line;
      this.text = longer;
    }
  }
}
