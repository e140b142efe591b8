/**
 * Reading the indexes of a scope. Results are in a fixed order that depends on the contents only, never on the order in
 * which files were indexed, so that the same trees give the same answers in every process.
 */
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import type { DefinitionKind, Language } from "./facts.ts";

export interface IndexedFile {
  readonly resource: string;
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  readonly size: number;
  readonly lines: number;
  readonly language: Language;
}

export interface IndexedDefinition {
  readonly file: IndexedFile;
  /** Position in the file's facts; with the file it identifies the definition. */
  readonly ordinal: number;
  readonly name: string;
  readonly kind: DefinitionKind;
  readonly container: number | undefined;
  readonly exported: boolean;
  readonly startLine: number;
  readonly endLine: number;
}

export interface TextHit {
  readonly file: IndexedFile;
  /** Better is larger; comparable within one answer only. */
  readonly score: number;
}

/** A file with its pieces of about forty lines, each with its score for some words. */
export interface PassageHit {
  readonly file: IndexedFile;
  /** By line, all of the file. */
  readonly passages: readonly TextPassage[];
}

interface TextPassage {
  /** Counted from 1, both included. */
  readonly startLine: number;
  readonly endLine: number;
  /** Better is larger; comparable within one answer only. */
  readonly score: number;
}

export interface ReferenceFrom {
  readonly file: IndexedFile;
  readonly within: number | undefined;
  readonly name: string;
  readonly count: number;
  readonly line: number;
}

/** A part of a file as it is shown, with the lines it stands for. */
export interface Excerpt {
  readonly file: IndexedFile;
  readonly level: DetailLevel;
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/**
 * Files that use names which other files define: the graph that ranking walks. There is an edge for each file, name and
 * defining file: `from` uses `name` `count` times, `to` defines it. Large trees have millions of edges, so they are
 * columns of numbers, with one place for each edge.
 */
export interface ReferenceGraph {
  readonly files: readonly IndexedFile[];
  readonly names: readonly string[];
  /** Positions among the files. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Positions among the names. */
  readonly name: Int32Array;
  readonly count: Int32Array;
  /** How many files of the scope define the name. */
  readonly definers: Int32Array;
  /** 1 where the user imports the file that defines the name. */
  readonly imported: Int32Array;
  /** By import: the importing file and the imported one. */
  readonly importer: Int32Array;
  readonly importee: Int32Array;
  /** The edges as objects, made when they are asked for. */
  readonly edges: readonly CodeGraphEdge[];
}

export interface CodeGraphEdge {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly count: number;
  /** How many files of the scope define the name. */
  readonly definers: number;
}

export interface ScopedIndex extends Disposable {
  /** All files, by resource and path. */
  files(): readonly IndexedFile[];
  file(resource: string, path: string): IndexedFile | undefined;
  /**
   * Full text: files that hold some of the words, the best first. Words are split like code (camelCase, snake_case).
   */
  searchText(words: readonly string[], limit: number): readonly TextHit[];
  /** The pieces of the files that `searchText` finds, up to a few hundred files. */
  searchPassages(words: readonly string[]): readonly PassageHit[];
  /** Files whose path contains the text, regardless of case. */
  searchPaths(part: string, limit: number): readonly IndexedFile[];
  definitionsIn(file: IndexedFile): readonly IndexedDefinition[];
  /** By exact name, at any depth. */
  definitionsNamed(name: string): readonly IndexedDefinition[];
  /** By any word of the name, regardless of case. */
  searchDefinitions(words: readonly string[], limit: number): readonly IndexedDefinition[];
  /** The places that use a name. */
  referencesTo(name: string): readonly ReferenceFrom[];
  referencesIn(file: IndexedFile): readonly ReferenceFrom[];
  /** Files of the scope that its imports lead to, and files whose imports lead to it. */
  importsOf(file: IndexedFile): readonly IndexedFile[];
  importersOf(file: IndexedFile): readonly IndexedFile[];
  graph(): ReferenceGraph;
  /** Equal for two scopes exactly when their files define, use and import the same names in the same places. */
  linksDigest(): string;
  text(file: IndexedFile): string;
  /** Whether it may hold a secret that cannot be recognized from a few of its lines. */
  mayHoldLongSecret(file: IndexedFile): boolean;
  excerptOfFile(file: IndexedFile, level: DetailLevel): Excerpt;
  excerptOfDefinition(definition: IndexedDefinition, level: DetailLevel): Excerpt;
  excerptOfLines(file: IndexedFile, startLine: number, endLine: number): Excerpt;
  /** Files that are in the trees but not, or not completely, in the index, with the reason. */
  gaps(): readonly IndexGap[];
}

export interface IndexGap {
  readonly resource: string;
  readonly path: string;
  readonly reason: string;
}
