/**
 * Everything an index keeps of one content, prepared where the file is read (in a worker thread), so that the writing
 * thread only writes.
 */
import { isUtf8 } from "node:buffer";
import { hash as hashOf } from "node:crypto";
import { SEVERAL_LINES } from "../../domain/secrets/secret-places.ts";
import type { Analyzer } from "../languages/analyze.ts";
import { languageOf } from "../model/language-of.ts";
import type { Language } from "../model/facts.ts";
import type { NameNumbers, SentNames } from "../index/name-numbers.ts";
import { packDefinitions, packReferences, packText } from "../model/packed-facts.ts";
import { type Reading, readFile } from "./read-file.ts";
import { countWords, wordsOf } from "../words/words.ts";

export interface PreparedContent {
  readonly lines: number;
  readonly words: number;
  /** Equal for contents that define, use and import the same names: then the graph they are part of is the same. */
  readonly links: string;
  readonly incomplete: string | null;
  readonly mayHoldLongSecret: boolean;
  /** All three as they are stored. */
  readonly text: Uint8Array;
  readonly definitions: Uint8Array;
  readonly references: Uint8Array;
  readonly names: SentNames;
  /** The different names that are defined, by number, and as a list of them in JSON. */
  readonly defines: Uint32Array;
  readonly defined: string;
  /** The different names that are used: each by number, then how often. */
  readonly uses: Uint32Array;
  readonly imports: string;
  readonly wordColumns: readonly [names: string, once: string, few: string, some: string, many: string];
}

export type FileResult =
  | {
      readonly is: "content";
      readonly size: number;
      readonly stamp: string;
      readonly racy: boolean;
      readonly bytes: number;
      readonly hash: string;
      readonly language: Language;
      /** Undefined when the index has it already. */
      readonly prepared: PreparedContent | undefined;
    }
  | Exclude<Reading, { is: "read" }>;

export interface Preparing {
  readonly root: string;
  readonly maxFileSize: number;
  readonly analyzer: Analyzer;
  readonly names: NameNumbers;
  readonly isKnown: (hash: string, language: Language) => boolean;
}

export async function prepareFile(path: string, preparing: Preparing): Promise<FileResult> {
  const reading = readFile(`${preparing.root}/${path}`, preparing.maxFileSize);
  if (reading.is !== "read") return reading;
  const { size, stamp, racy, hash, bytes } = reading;
  const language = languageOf(path, firstLineOf(bytes)) ?? "text";
  const result = { is: "content", size, stamp, racy, bytes: bytes.length, hash, language } as const;
  if (preparing.isKnown(hash, language)) return { ...result, prepared: undefined };
  await preparing.analyzer.load([language]);
  return { ...result, prepared: prepare(bytes, hash, language, preparing) };
}

/** Bytes that are not UTF-8 are replaced, character by character, and reported: old sources are still searched. */
function prepare(bytes: Uint8Array, hash: string, language: Language, preparing: Preparing): PreparedContent {
  const { analyzer, names } = preparing;
  const text = new TextDecoder("utf-8").decode(bytes);
  const facts = analyzer.analyze(language, text);
  const used = new Map<string, number>();
  for (const { name, count } of facts.references) used.set(name, (used.get(name) ?? 0) + count);
  // Headings are looked for by their words; code does not use them as a name.
  const defined = new Set(facts.definitions.map(({ name }) => name));
  const reasons = [facts.incomplete, isUtf8(bytes) ? undefined : "not valid UTF-8: some characters are replaced"];
  const definedNames = JSON.stringify([...defined]);
  const uses = usesOf(used, names);
  const imports = JSON.stringify([...new Set(facts.imports.map(({ specifier }) => specifier))]);
  const incomplete = reasons.filter((reason) => reason !== undefined).join("; ");
  return {
    lines: countLines(text),
    // Files that are not code may say where imports lead: manifests, settings.
    links: language === "text" ? hash : linksOf(language, definedNames, used, imports),
    incomplete: incomplete === "" ? null : incomplete,
    mayHoldLongSecret: text.includes(SEVERAL_LINES),
    text: packText(text),
    definitions: packDefinitions(facts.definitions),
    references: packReferences(facts.references),
    defines: Uint32Array.from(defined, (name) => names.of(name)),
    defined: definedNames,
    uses,
    names: names.send(),
    imports,
    ...wordColumns(bytes, defined),
  };
}

function usesOf(used: ReadonlyMap<string, number>, names: NameNumbers): Uint32Array {
  const uses = new Uint32Array(used.size * 2);
  let at = 0;
  for (const [name, count] of used) {
    uses[at++] = names.of(name);
    uses[at++] = count;
  }
  return uses;
}

function linksOf(language: Language, defined: string, used: ReadonlyMap<string, number>, imports: string): string {
  const links = JSON.stringify([language, defined, [...used.keys()], [...used.values()], imports]);
  return hashOf("sha256", links, "base64");
}

/** How often a word stands in the text, by the column it is found in; bm25 flattens larger counts anyway. */
export const COUNT_BY_COLUMN: Readonly<Record<string, number>> = { once: 1, few: 2, some: 5, many: 10 };

function wordColumns(text: Uint8Array, defined: Iterable<string>): Pick<PreparedContent, "words" | "wordColumns"> {
  const [once, few, some, many]: [string[], string[], string[], string[]] = [[], [], [], []];
  let words = 0;
  countWords(text, (word, count) => {
    words += count;
    (count === 1 ? once : count < 4 ? few : count < 8 ? some : many).push(word);
  });
  const names = wordsOf([...defined].join("\n"));
  return {
    words,
    wordColumns: [names.join(" "), once.join(" "), few.join(" "), some.join(" "), many.join(" ")],
  };
}

function firstLineOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 256)).toString("utf8").split("\n", 1)[0] ?? "";
}

/** A last line counts whether or not it is ended. */
function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text === "" || text.endsWith("\n") ? lines : lines + 1;
}
