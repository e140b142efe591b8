/**
 * The parts of a relevant file to show: the definitions the request names, those that use such a name, or the lines in
 * which most of the request's words come together; and only if there is none of these, the file in outline. All
 * strategies use this, so that the same place found by several of them is the same fragment and is shown once.
 */
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { stem } from "../../code-index/words/words.ts";
import { definitionCandidate, fileCandidate, type Candidate, linesCandidate, type Worth } from "./fit-fragments.ts";

export interface Wanted {
  /** Definitions with these names, and their uses; how much each is wanted. */
  readonly names: ReadonlyMap<string, number>;
  /** In any form. */
  readonly words: readonly string[];
  readonly depth: DetailLevel;
}

/** A definition up to this long is shown whole around a place in it; of a longer one the lines nearby. */
const LONGEST_WHOLE = 60;
/** A definition this short is shown together with the definition around it, if that is not too long. */
const SHORT = 3;
const LINES_AROUND = 6;
const MOST_USES = 3;
const MOST_NAMED = 6;
/** Larger files are mostly data. */
const LARGEST_SEARCHED = 1_000_000;
/** Later parts of a file are worth less. */
const FALL = 0.8;

/** The best first. `worth` is that of the file. */
export function* excerptsOf(index: ScopedIndex, file: IndexedFile, wanted: Wanted, worth: Worth): Generator<Candidate> {
  const definitions = index.definitionsIn(file);
  const told = new Set<string>();
  for (const { line, within, reason } of places(index, file, definitions, wanted)) {
    const candidate = around(index, file, definitions, within, line, wanted.depth, {
      relevance: worth.relevance * FALL ** told.size,
      reason: `${reason}; ${worth.reason}`,
    });
    if (told.has(candidate.entity)) continue;
    told.add(candidate.entity);
    yield candidate;
  }
  if (told.size > 0) return;
  yield bestLines(index, file, definitions, wanted, worth) ?? fileCandidate(index, file, "signatures", worth);
}

interface NamedPlace {
  readonly line: number;
  /** The definition there, or the one that uses the name. */
  readonly within: IndexedDefinition | undefined;
  readonly reason: string;
}

function* places(
  index: ScopedIndex,
  file: IndexedFile,
  definitions: readonly IndexedDefinition[],
  { names }: Wanted,
): Generator<NamedPlace> {
  if (names.size === 0) return;
  const weightOf = (name: string): number => names.get(name) ?? 0;
  const named = definitions
    .filter((definition) => names.has(definition.name) && !liesInNamed(definitions, definition, names))
    .toSorted((a, b) => weightOf(b.name) - weightOf(a.name) || Number(isMember(a)) - Number(isMember(b)))
    .slice(0, MOST_NAMED);
  for (const definition of named) {
    yield { line: definition.startLine, within: definition, reason: `defines ${definition.name}` };
  }
  const uses = index
    .referencesIn(file)
    .filter(({ name, within }) => {
      const user = within === undefined ? undefined : definitions[within];
      return names.has(name) && (user === undefined || !names.has(user.name));
    })
    .toSorted((a, b) => score(b) - score(a) || b.count - a.count)
    .slice(0, MOST_USES);
  for (const { name, line, within } of uses) {
    yield { line, within: within === undefined ? undefined : definitions[within], reason: `uses ${name}` };
  }

  // At the top of a file a name is mostly imported; that says less than a use.
  function score({ name, within }: { name: string; within: number | undefined }): number {
    return weightOf(name) * (within === undefined ? 0.5 : 1);
  }
}

/** A place in a file with its surroundings. */
function around(
  index: ScopedIndex,
  file: IndexedFile,
  definitions: readonly IndexedDefinition[],
  within: IndexedDefinition | undefined,
  line: number,
  depth: DetailLevel,
  worth: Worth,
): Candidate {
  const outer = within?.container === undefined ? undefined : definitions[within.container];
  if (within !== undefined && outer !== undefined && lengthOf(within) <= SHORT) {
    if (lengthOf(outer) <= LONGEST_WHOLE) return definitionCandidate(index, outer, depth, worth);
  } else if (within !== undefined && (lengthOf(within) <= LONGEST_WHOLE || within.startLine === line)) {
    return definitionCandidate(index, within, depth, worth);
  }
  const bounds = within !== undefined && lengthOf(within) <= SHORT ? outer : within;
  const start = Math.max(bounds?.startLine ?? 1, line - LINES_AROUND);
  const end = Math.min(bounds?.endLine ?? file.lines, line + LINES_AROUND);
  return linesCandidate(index, file, start, end, worth);
}

/** The lines where most of the words come together. A word counts at every place of its stem. */
function bestLines(
  index: ScopedIndex,
  file: IndexedFile,
  definitions: readonly IndexedDefinition[],
  { words, depth }: Wanted,
  worth: Worth,
): Candidate | undefined {
  if (words.length === 0 || file.size > LARGEST_SEARCHED) return undefined;
  const text = index.text(file).toLowerCase();
  const hits = Array.from(new Set(words.map((word) => stem(word))))
    .flatMap((word) => placesIn(text, word).map((at) => ({ at, word })))
    .toSorted((a, b) => a.at - b.at);
  const lines = lineNumbers(
    text,
    hits.map(({ at }) => at),
  );
  let best = { line: 0, words: new Set<string>() };
  for (const [position, first] of lines.entries()) {
    const here = new Set<string>();
    for (let next = position; next < hits.length && (lines[next] ?? 0) <= first + 2 * LINES_AROUND; next += 1) {
      here.add(hits[next]?.word ?? "");
    }
    if (here.size > best.words.size) best = { line: first, words: here };
  }
  if (best.line === 0) return undefined;
  const line = Math.min(best.line + (best.words.size > 1 ? LINES_AROUND : 0), file.lines);
  const within = definitions.findLast(({ startLine, endLine }) => startLine <= best.line && best.line <= endLine);
  const reason = `mentions ${Array.from(best.words).toSorted().slice(0, 5).join(", ")}; ${worth.reason}`;
  return around(index, file, definitions, within, line, depth, { ...worth, reason });
}

/** At most a few hundred: a word that occurs everywhere is found anyway. */
function placesIn(text: string, word: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at !== -1 && places.length < 300; at = text.indexOf(word, at + word.length)) {
    places.push(at);
  }
  return places;
}

/** Lines, counted from 1, of offsets that rise. */
function lineNumbers(text: string, offsets: readonly number[]): readonly number[] {
  let line = 1;
  let end = text.indexOf("\n");
  return offsets.map((offset) => {
    while (end !== -1 && end < offset) {
      line += 1;
      end = text.indexOf("\n", end + 1);
    }
    return line;
  });
}

/**
 * An inner definition is shown with the outer one of a wanted name. `res.json = function …` belongs to `res` but does
 * not lie in it.
 */
function liesInNamed(
  definitions: readonly IndexedDefinition[],
  { container, startLine, endLine }: IndexedDefinition,
  names: ReadonlyMap<string, number>,
): boolean {
  const outer = container === undefined ? undefined : definitions[container];
  if (outer === undefined || startLine < outer.startLine || endLine > outer.endLine) return false;
  return names.has(outer.name) || liesInNamed(definitions, outer, names);
}

function isMember({ kind }: IndexedDefinition): boolean {
  return kind === "field" || kind === "variable" || kind === "method";
}

function lengthOf({ startLine, endLine }: IndexedDefinition): number {
  return endLine - startLine + 1;
}
