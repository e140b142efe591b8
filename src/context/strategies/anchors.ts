/**
 * The places in the code that a request points to: its focus, definitions it names, files it names, definitions whose
 * names are made of its words. From these a walk or a ranking begins; the more certain the place, the greater the
 * weight.
 */
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { stem } from "../../code-index/words/words.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import { type QueryTerms, wordsIn } from "./query.ts";

export interface Anchor {
  readonly file: IndexedFile;
  /** Undefined: the file as a whole. */
  readonly definition: IndexedDefinition | undefined;
  /** From 0 to 1. */
  readonly weight: number;
  readonly reason: string;
}

/** A name that more places define does not point to any of them. */
const MOST_DEFINERS = 8;
const MOST_FILES = 20;
/** Of the paths that contain a text; the exact one may be among the last. */
const MOST_CANDIDATES = 100_000;
const MOST_BY_WORDS = 12;
/** Definitions compared by their names. */
const MOST_SEARCHED = 80;
const NAMED = 1;
const IN_FOCUS = 1;
const NAMED_ROUGHLY = 0.7;
const BY_WORDS = 0.6;
const BY_ONE_WORD = 0.3;

/** The most certain first; each file and definition once. */
export function anchorsOf(index: ScopedIndex, request: ContextQuestion, terms: QueryTerms): readonly Anchor[] {
  const members = terms.members.flatMap((member) => memberNamed(index, member));
  // The member of an owner that exists is meant, and not everything else of that name.
  const resolved = new Set(members.map(({ definition }) => definition.name));
  const found: Anchor[] = [
    ...request.focus.flatMap((entry) => inFocus(index, entry)),
    ...terms.paths.flatMap((path) =>
      filesAt(index, path).map((file) => ({
        file,
        definition: undefined,
        weight: NAMED,
        reason: `the query names ${path}`,
      })),
    ),
    ...members,
    ...terms.identifiers.filter((name) => !resolved.has(name)).flatMap((name) => named(index, name)),
    ...byWords(index, terms),
  ];
  const anchors = new Map<string, Anchor>();
  for (const anchor of found) {
    const key = `${anchor.file.resource}:${anchor.file.path}#${anchor.definition?.ordinal ?? ""}`;
    if ((anchors.get(key)?.weight ?? 0) < anchor.weight) anchors.set(key, anchor);
  }
  return Array.from(anchors.values()).toSorted((a, b) => b.weight - a.weight);
}

/**
 * The places that an entry of `focus` means: "path", "alias:path" or "path#symbol"; a directory stands for the files in
 * it. Empty when the scope has no such place, which the caller should report.
 */
export function inFocus(index: ScopedIndex, entry: string): readonly Anchor[] {
  const whole = filesAt(index, entry);
  if (whole.length > 0) {
    return whole.map((file) => ({ file, definition: undefined, weight: IN_FOCUS, reason: `${entry} is in focus` }));
  }
  const hash = entry.lastIndexOf("#");
  if (hash < 0) return [];
  const name = entry.slice(hash + 1);
  return filesAt(index, entry.slice(0, hash)).flatMap((file) =>
    index
      .definitionsIn(file)
      .filter((definition) => definition.name === name)
      .map((definition) => ({ file, definition, weight: IN_FOCUS, reason: `${entry} is in focus` })),
  );
}

function filesAt(index: ScopedIndex, place: string): readonly IndexedFile[] {
  const colon = place.indexOf(":");
  const aliased = colon < 0 ? [] : filesWith(index, place.slice(colon + 1), place.slice(0, colon));
  return aliased.length > 0 ? aliased : filesWith(index, place);
}

/** A path is meant exactly if it exists; otherwise it may be the end of some, or a directory. */
function filesWith(index: ScopedIndex, written: string, alias?: string): readonly IndexedFile[] {
  const path = written.replace(/^\.?\//, "").replace(/\/$/, "");
  if (path === "") return [];
  const candidates = index
    .searchPaths(path, MOST_CANDIDATES)
    .filter(({ resource }) => alias === undefined || resource === alias);
  const exact = candidates.filter((file) => file.path === path);
  if (exact.length > 0) return exact;
  const ends = candidates.filter((file) => file.path.endsWith(`/${path}`));
  const below = candidates.filter((file) => file.path.startsWith(`${path}/`));
  return (ends.length > 0 ? ends : below).slice(0, MOST_FILES);
}

/** `Lease.renew`, `lease::renew`, `res.json`: the member of a definition of that name. */
function memberNamed(
  index: ScopedIndex,
  { owner, name }: QueryTerms["members"][number],
): readonly (Anchor & { readonly definition: IndexedDefinition })[] {
  const found = index.definitionsNamed(name).filter(({ file, container }) => {
    const outer = container === undefined ? undefined : index.definitionsIn(file)[container];
    return outer?.name.toLowerCase() === owner.toLowerCase();
  });
  return preferred(found).map((definition) => {
    return {
      file: definition.file,
      definition,
      weight: NAMED,
      reason: `defines ${owner}.${name}, which the query names`,
    };
  });
}

function named(index: ScopedIndex, name: string): readonly Anchor[] {
  const exact = index.definitionsNamed(name);
  if (exact.length > 0) {
    const weight = exact.length > MOST_DEFINERS ? BY_ONE_WORD : NAMED;
    return preferred(exact).map((definition) => {
      return { file: definition.file, definition, weight, reason: `defines ${name}, which the query names` };
    });
  }
  const words = wordsIn(name);
  if (words.length === 0) return [];
  const rough = index.searchDefinitions(words, MOST_SEARCHED).filter((definition) => {
    const own = new Set(wordsIn(definition.name));
    return words.every((word) => own.has(word));
  });
  return preferred(rough).map((definition) => {
    const reason = `defines ${definition.name}, whose name contains that of ${name}`;
    return { file: definition.file, definition, weight: NAMED_ROUGHLY, reason };
  });
}

/** Definitions whose names the query spells out: "the lease expiry" means `LeaseExpiry`. */
function byWords(index: ScopedIndex, terms: QueryTerms): readonly Anchor[] {
  if (terms.words.length === 0) return [];
  const said = new Set(terms.words.map((word) => stem(word)));
  return index
    .searchDefinitions(terms.words, MOST_SEARCHED)
    .map((definition) => ({ definition, words: new Set(wordsIn(definition.name).map((word) => stem(word))) }))
    .filter(({ definition, words }) => words.size > (isMinor(definition) ? 1 : 0))
    .filter(({ words }) => Array.from(words).every((word) => said.has(word)))
    .toSorted((a, b) => b.words.size - a.words.size || standing(b.definition) - standing(a.definition))
    .slice(0, MOST_BY_WORDS)
    .map(({ definition, words }) => {
      const reason = `defines ${definition.name}, which the query spells out`;
      return { file: definition.file, definition, weight: words.size > 1 ? BY_WORDS : BY_ONE_WORD, reason };
    });
}

/** Names of the definitions that are pointed to, with how certainly. */
export function namesOf(anchors: readonly Anchor[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const { definition, weight } of anchors) {
    if (definition !== undefined) names.set(definition.name, Math.max(names.get(definition.name) ?? 0, weight));
  }
  return names;
}

/** A single word is too common to identify a member or a variable. */
function isMinor({ kind, container }: IndexedDefinition): boolean {
  return kind === "field" || kind === "variable" || kind === "heading" || container !== undefined;
}

function preferred(definitions: readonly IndexedDefinition[]): readonly IndexedDefinition[] {
  return definitions.toSorted((a, b) => standing(b) - standing(a)).slice(0, MOST_DEFINERS);
}

/** How likely a name means this definition rather than another of the same name. */
function standing({ kind, exported, container }: IndexedDefinition): number {
  const own = kind === "field" || kind === "variable" || kind === "heading" ? 0 : kind === "method" ? 1 : 2;
  return own + (exported ? 2 : 0) + (container === undefined ? 1 : 0);
}
