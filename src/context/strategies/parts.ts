/**
 * What to show of a file that matters: the definitions the request names, those that use such a name, or the lines in which most of the
 * request's words come together; and only if nothing of that is there, the file in outline. All strategies ask here, so what
 * several of them find is the same fragment and is shown once.
 */
import type { DetailLevel } from "../../code-index/detail-level.ts";
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/scoped-index.ts";
import { countWords, stem } from "../../code-index/words.ts";
import { definitionFind, fileFind, type Find, linesFind } from "./finds.ts";

export interface Wanted {
  /** Definitions with these names, and their uses. */
  readonly names: ReadonlySet<string>;
  /** In any form. */
  readonly words: readonly string[];
  readonly depth: DetailLevel;
}

/** A definition up to this long is shown whole around a use; of a longer one the lines nearby. */
const LONGEST_WHOLE = 60;
const LINES_AROUND = 6;
const MOST_USES = 3;
/** Larger files are mostly data; searching them line by line would cost more than it finds. */
const LARGEST_SEARCHED = 400_000;

/** The best first. `worth` is that of the file; what is shown later is worth less. */
export function* partsOf(index: ScopedIndex, file: IndexedFile, wanted: Wanted, worth: Worth): Generator<Find> {
  const definitions = index.definitionsIn(file);
  let shown = 0;
  for (const definition of definitions) {
    if (!wanted.names.has(definition.name) || liesInNamed(definitions, definition, wanted.names)) continue;
    shown += 1;
    yield definitionFind(index, definition, wanted.depth, less(worth, 0, `defines ${definition.name}`));
  }
  for (const find of usesIn(index, file, definitions, wanted, worth)) {
    shown += 1;
    yield find;
  }
  if (shown > 0) return;
  const lines = bestLines(index, file, definitions, wanted, worth);
  yield lines ?? fileFind(index, file, "signatures", less(worth, 0));
}

interface Worth {
  readonly relevance: number;
  readonly reason: string;
}

function* usesIn(
  index: ScopedIndex,
  file: IndexedFile,
  definitions: readonly IndexedDefinition[],
  { names }: Wanted,
  worth: Worth,
): Generator<Find> {
  if (names.size === 0) return;
  const uses = index
    .referencesIn(file)
    .filter((use) => names.has(use.name))
    .toSorted((a, b) => Number(b.within !== undefined) - Number(a.within !== undefined) || b.count - a.count);
  const told = new Set<string>();
  for (const [position, use] of uses.entries()) {
    if (position === MOST_USES) return;
    const within = use.within === undefined ? undefined : definitions[use.within];
    if (within !== undefined && names.has(within.name)) continue;
    const find = around(index, file, within, use.line, less(worth, position, `uses ${use.name}`));
    if (told.has(find.entity)) continue;
    told.add(find.entity);
    yield find;
  }
}

/** A place in a file with what surrounds it. */
function around(
  index: ScopedIndex,
  file: IndexedFile,
  within: IndexedDefinition | undefined,
  line: number,
  worth: Worth,
): Find {
  if (within !== undefined && within.endLine - within.startLine < LONGEST_WHOLE) {
    return definitionFind(index, within, "full", worth);
  }
  const start = Math.max(within?.startLine ?? 1, line - LINES_AROUND);
  return linesFind(index, file, start, Math.min(within?.endLine ?? file.lines, line + LINES_AROUND), worth);
}

/** Where most of the words come together within a few lines. */
function bestLines(
  index: ScopedIndex,
  file: IndexedFile,
  definitions: readonly IndexedDefinition[],
  { words }: Wanted,
  worth: Worth,
): Find | undefined {
  if (words.length === 0 || file.size > LARGEST_SEARCHED) return undefined;
  const wanted = new Set(words.map((word) => stem(word)));
  const lines = index.text(file).split("\n");
  const found = lines.map((line) =>
    Array.from(countWords(line.slice(0, 400)).keys()).filter((word) => wanted.has(word)),
  );
  let best = { line: 0, words: new Set<string>() };
  for (const [position, here] of found.entries()) {
    if (here.length === 0) continue;
    const near = new Set(found.slice(Math.max(0, position - LINES_AROUND), position + LINES_AROUND + 1).flat());
    if (near.size > best.words.size) best = { line: position + 1, words: near };
  }
  if (best.line === 0) return undefined;
  const within = definitions.findLast(({ startLine, endLine }) => startLine <= best.line && best.line <= endLine);
  return around(index, file, within, best.line, less(worth, 0, `speaks of ${list(best.words)}`));
}

/** An inner definition is shown with the outer one of a wanted name. */
function liesInNamed(
  definitions: readonly IndexedDefinition[],
  { container }: IndexedDefinition,
  names: ReadonlySet<string>,
): boolean {
  const outer = container === undefined ? undefined : definitions[container];
  return outer !== undefined && (names.has(outer.name) || liesInNamed(definitions, outer, names));
}

function less({ relevance, reason }: Worth, position: number, own?: string): Worth {
  return { relevance: relevance * 0.8 ** position, reason: own === undefined ? reason : `${own}; ${reason}` };
}

function list(words: ReadonlySet<string>): string {
  return Array.from(words).toSorted().slice(0, 5).join(", ");
}
