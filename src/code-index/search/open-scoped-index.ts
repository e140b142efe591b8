/** Opens a scope for reading, in any thread. It is the only way to read an index: without a scope there is no query. */
import { createHash } from "node:crypto";
import { NotIndexedError } from "../model/index-errors.ts";
import { type Rendering, renderDefinition, renderFile, type ShownFacts } from "./detail-rendering.ts";
import { searchDefinitions } from "./definition-search.ts";
import type { DetailLevel } from "../../domain/context/detail-level.ts";
import { ImportMap } from "../imports/import-map.ts";
import { type ReadableFile, TreeReader } from "../index/index-reader.ts";
import type { IndexScope } from "../model/index-scope.ts";
import { lineStartsOf } from "../languages/lines.ts";
import { referenceGraph } from "./reference-graph.ts";
import { searchPassages } from "./search-passages.ts";
import type {
  PassageHit,
  Excerpt,
  IndexedDefinition,
  IndexedFile,
  IndexGap,
  ReferenceFrom,
  ReferenceGraph,
  ScopedIndex,
  TextHit,
} from "../model/scoped-index.ts";
import { searchText } from "./text-search.ts";
import { SizedLru } from "../../platform/lru.ts";

/**
 * @throws IndexMovedError when a tree has changed since the scope was made; NotIndexedError when it was never indexed.
 */
export function openScopedIndex(scope: IndexScope): ScopedIndex {
  return new SqliteScopedIndex(scope);
}

class SqliteScopedIndex implements ScopedIndex {
  readonly #trees = new Map<string, TreeReader>();
  readonly #imports = new Map<string, ImportMap>();
  readonly #found = new Map<string, unknown>();

  constructor(scope: IndexScope) {
    try {
      for (const tree of scope.trees.toSorted((a, b) => (a.resource < b.resource ? -1 : 1))) {
        this.#trees.set(tree.resource, new TreeReader(tree));
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  files(): readonly IndexedFile[] {
    return this.#all().flatMap(({ files }) => files.map(({ file }) => file));
  }

  file(resource: string, path: string): IndexedFile | undefined {
    return this.#trees.get(resource)?.at(path)?.file;
  }

  searchText(words: readonly string[], limit: number): readonly TextHit[] {
    return this.#once(`text ${limit} ${words.join(" ")}`, () =>
      searchText(this.#all(), words, limit).map(({ file: { file }, score }) => ({ file, score })),
    );
  }

  searchPassages(words: readonly string[]): readonly PassageHit[] {
    return this.#once(`passages ${words.join(" ")}`, () =>
      searchPassages(this.#all(), words).map(({ file: { file }, passages }) => ({ file, passages })),
    );
  }

  searchPaths(part: string, limit: number): readonly IndexedFile[] {
    const wanted = part.toLowerCase();
    const found: IndexedFile[] = [];
    for (const { files } of this.#all()) {
      for (const { path, file } of files) {
        if (found.length >= limit) return found;
        if (path.toLowerCase().includes(wanted)) found.push(file);
      }
    }
    return found;
  }

  definitionsIn(file: IndexedFile): readonly IndexedDefinition[] {
    const { tree, own } = this.#own(file);
    return definitionsOf(tree, own);
  }

  definitionsNamed(name: string): readonly IndexedDefinition[] {
    return this.#all().flatMap((tree) =>
      tree
        .mayMention("names", name)
        .filter(({ content }) => tree.namesIn(content).includes(name))
        .flatMap((file) => definitionsOf(tree, file).filter((definition) => definition.name === name)),
    );
  }

  searchDefinitions(words: readonly string[], limit: number): readonly IndexedDefinition[] {
    return this.#once(`definitions ${limit} ${words.join(" ")}`, () =>
      searchDefinitions(this.#all(), words, limit, definitionsOf),
    );
  }

  referencesTo(name: string): readonly ReferenceFrom[] {
    return this.#all().flatMap((tree) =>
      tree
        .mayMention("anywhere", name)
        .flatMap((file) => referencesOf(tree, file).filter((reference) => reference.name === name)),
    );
  }

  referencesIn(file: IndexedFile): readonly ReferenceFrom[] {
    const { tree, own } = this.#own(file);
    return referencesOf(tree, own);
  }

  importsOf(file: IndexedFile): readonly IndexedFile[] {
    const { tree, own } = this.#own(file);
    return this.#importMap(tree)
      .importsOf(own)
      .map(({ file: found }) => found);
  }

  importersOf(file: IndexedFile): readonly IndexedFile[] {
    const { tree, own } = this.#own(file);
    return this.#importMap(tree)
      .importersOf(own)
      .map(({ file: found }) => found);
  }

  graph(): ReferenceGraph {
    return referenceGraph(this.#all(), (tree) => this.#importMap(tree));
  }

  linksDigest(): string {
    const hash = createHash("sha256");
    for (const { resource, files } of this.#all()) {
      hash.update(JSON.stringify([resource, files.length]));
      for (const { path, links } of files) hash.update(`${path}\0${links}\0`);
    }
    return hash.digest("hex");
  }

  text(file: IndexedFile): string {
    const { tree, own } = this.#own(file);
    return tree.textOf(own);
  }

  mayHoldLongSecret(file: IndexedFile): boolean {
    return this.#own(file).own.mayHoldLongSecret;
  }

  excerptOfFile(file: IndexedFile, level: DetailLevel): Excerpt {
    const { tree, own } = this.#own(file);
    const { hash, language } = own.file;
    const rendering = renderings.get(`${hash} ${language} ${level}`, () => {
      const value = renderFile(factsOf(tree, own), tree.textOf(own), level);
      return { value, size: value.text.length };
    });
    return { file: own.file, level, ...rendering };
  }

  excerptOfDefinition(definition: IndexedDefinition, level: DetailLevel): Excerpt {
    const { tree, own } = this.#own(definition.file);
    const part = renderDefinition(factsOf(tree, own), definition.ordinal, tree.textOf(own), level);
    return { file: own.file, level, ...part };
  }

  excerptOfLines(file: IndexedFile, startLine: number, endLine: number): Excerpt {
    const { tree, own } = this.#own(file);
    const whole = tree.textOf(own);
    const starts = lineStartsOf(whole);
    const first = Math.max(1, Math.min(startLine, own.file.lines));
    const last = Math.max(first, Math.min(endLine, own.file.lines));
    const next = starts[last];
    const text = whole.slice(starts[first - 1] ?? whole.length, next === undefined ? whole.length : next - 1);
    return { file: own.file, level: "full", startLine: first, endLine: last, text };
  }

  gaps(): readonly IndexGap[] {
    return this.#all().flatMap((tree) => tree.gaps());
  }

  [Symbol.dispose](): void {
    for (const tree of this.#trees.values()) tree[Symbol.dispose]();
  }

  #all(): readonly TreeReader[] {
    return [...this.#trees.values()];
  }

  /** Several strategies look for the same words. */
  #once<Found>(key: string, find: () => Found): Found {
    if (!this.#found.has(key)) this.#found.set(key, find());
    // Only ever set for this key, by this function.
    return this.#found.get(key) as Found;
  }

  #own(file: IndexedFile): { tree: TreeReader; own: ReadableFile } {
    const tree = this.#trees.get(file.resource);
    if (tree === undefined) throw new NotIndexedError(file.resource);
    return { tree, own: tree.own(file) };
  }

  #importMap(tree: TreeReader): ImportMap {
    const known = this.#imports.get(tree.resource) ?? new ImportMap(tree);
    this.#imports.set(tree.resource, known);
    return known;
  }
}

/** Of whole files: strategies read the same ones, and the vetting of their fragments reads them again. */
const renderings = new SizedLru<Rendering>();

function factsOf(tree: TreeReader, readable: ReadableFile): ShownFacts {
  return { language: readable.file.language, definitions: tree.definitionsOf(readable) };
}

/** Files are objects of the reader that found them, and so are these. */
const definitionsIn = new WeakMap<ReadableFile, readonly IndexedDefinition[]>();

function definitionsOf(tree: TreeReader, readable: ReadableFile): readonly IndexedDefinition[] {
  const known = definitionsIn.get(readable);
  if (known !== undefined) return known;
  const { file } = readable;
  const found = tree
    .definitionsOf(readable)
    .map(({ name, kind, container, exported, startLine, endLine }, ordinal) => ({
      file,
      ordinal,
      name,
      kind,
      container,
      exported,
      startLine,
      endLine,
    }));
  definitionsIn.set(readable, found);
  return found;
}

function referencesOf(tree: TreeReader, readable: ReadableFile): ReferenceFrom[] {
  const { file } = readable;
  return tree.referencesOf(readable).map(({ name, within, count, line }) => ({ file, within, name, count, line }));
}
