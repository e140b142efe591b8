/**
 * Everything an index keeps of one content, made ready where the file is read (in a worker thread), so that the one who writes has
 * nothing left to do but to write.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Analyzer } from "./analyze.ts";
import { languageOf } from "./language-of.ts";
import type { Language } from "./facts.ts";
import { packDefinitions, packReferences, packText } from "./packed-facts.ts";
import { type Reading, readFile } from "./read-file.ts";
import { countWords, wordsOf } from "./words.ts";

export interface PreparedContent {
  readonly lines: number;
  readonly words: number;
  /** Equal for contents that define, use and import the same names: then the graph they are part of is the same. */
  readonly links: string;
  readonly incomplete: string | null;
  /** As all three are kept. */
  readonly text: Uint8Array;
  readonly definitions: Uint8Array;
  readonly references: Uint8Array;
  /** The different names that are defined, and those that are used with how often. */
  readonly defined: readonly string[];
  readonly used: readonly string[];
  readonly usedCounts: Uint32Array;
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
  return { ...result, prepared: prepare(bytes, hash, language, preparing.analyzer) };
}

/** What is no UTF-8 is replaced, character by character, and said: old sources are still searched. */
function prepare(bytes: Uint8Array, hash: string, language: Language, analyzer: Analyzer): PreparedContent {
  const text = new TextDecoder("utf-8").decode(bytes);
  const facts = analyzer.analyze(language, text);
  const counts = countWords(text);
  const used = new Map<string, number>();
  for (const { name, count } of facts.references) used.set(name, (used.get(name) ?? 0) + count);
  // Headings are looked for by their words; nobody uses them as a name.
  const defined = new Set(facts.definitions.map(({ name }) => name));
  const reasons = [facts.incomplete, isUtf8(bytes) ? undefined : "not valid UTF-8: some characters are replaced"];
  const imports = JSON.stringify([...new Set(facts.imports.map(({ specifier }) => specifier))]);
  const incomplete = reasons.filter((reason) => reason !== undefined).join("; ");
  return {
    lines: countLines(text),
    words: counts.values().reduce((sum, count) => sum + count, 0),
    // What is no code may say where imports lead: manifests, settings.
    links: language === "text" ? hash : linksOf(language, defined, used, imports),
    incomplete: incomplete === "" ? null : incomplete,
    text: packText(text),
    definitions: packDefinitions(facts.definitions),
    references: packReferences(facts.references),
    defined: [...defined],
    used: [...used.keys()],
    usedCounts: Uint32Array.from(used.values()),
    imports,
    wordColumns: wordColumns(counts, defined),
  };
}

function linksOf(
  language: Language,
  defined: ReadonlySet<string>,
  used: ReadonlyMap<string, number>,
  imports: string,
): string {
  const links = JSON.stringify([language, [...defined], [...used], imports]);
  return createHash("sha256").update(links).digest("base64");
}

/** How often a word stands in the text, by the column it is found in; bm25 flattens larger counts anyway. */
export const COUNT_BY_COLUMN: Readonly<Record<string, number>> = { once: 1, few: 2, some: 5, many: 10 };

function wordColumns(counts: ReadonlyMap<string, number>, defined: Iterable<string>): PreparedContent["wordColumns"] {
  const [once, few, some, many]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const [word, count] of counts) (count === 1 ? once : count < 4 ? few : count < 8 ? some : many).push(word);
  const names = new Set<string>();
  for (const name of defined) for (const word of wordsOf(name)) names.add(word);
  return [[...names].join(" "), once.join(" "), few.join(" "), some.join(" "), many.join(" ")];
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
