/**
 * One tree of a scope. Its filter is applied once, when it is opened: from then on a content is either one of the
 * tree's files that pass it, or there is no way from it to a file. Everything that leaves goes through `filesOf`, so
 * nothing else can get out.
 *
 * All reads are one transaction: the tree stays as it was at opening, regardless of syncs in the meantime.
 */
import type { SQLInputValue } from "node:sqlite";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { byCodeUnits } from "../../git/git-listing.ts";
import type { Definition, Language, Reference } from "../model/facts.ts";
import { globMatcher } from "../model/glob-matcher.ts";
import { IndexDamagedError, IndexMovedError, NotIndexedError } from "../model/index-errors.ts";
import { indexReadError, markDamaged } from "./index-database.ts";
import type { IndexedTree } from "../model/index-scope.ts";
import { returnConnection, type IndexConnection, takeConnection } from "./index-connections.ts";
import { unpackDefinitions, unpackReferences, unpackText } from "../model/packed-facts.ts";
import type { IndexedFile, IndexGap } from "../model/scoped-index.ts";
import { gapsOf } from "./tree-record.ts";
import { SizedLru } from "../../platform/lru.ts";
import { wordsOf } from "../words/words.ts";

export interface ReadableFile {
  readonly file: IndexedFile;
  readonly path: string;
  readonly content: number;
  /** How many words it has. */
  readonly words: number;
  /** Equal for contents that define, use and import the same names. */
  readonly links: string;
  readonly mayHoldLongSecret: boolean;
}

export class TreeReader implements Disposable {
  readonly resource: string;
  /** By path. */
  readonly files: readonly ReadableFile[];
  readonly #indexFile: string;
  readonly #id: number;
  readonly #passes: (path: string, size: number) => boolean;
  readonly #connection: IndexConnection;
  readonly #byContent: ReadonlyMap<number, readonly ReadableFile[]>;
  readonly #byPath: ReadonlyMap<string, ReadableFile>;
  #isBroken = false;
  #isClosed = false;

  constructor(tree: IndexedTree) {
    this.resource = tree.resource;
    this.#indexFile = tree.index;
    const connection = takeConnection(tree.index);
    if (connection === undefined) throw new NotIndexedError(tree.resource);
    this.#connection = connection;
    try {
      connection.database.exec("BEGIN");
      this.#id = this.#treeId(tree);
      this.#passes = filterOf(tree);
      const key = JSON.stringify({ ...tree, generation: connection.identity });
      const known = latest?.key === key && connection.identity !== "" ? latest : undefined;
      const arrangement =
        known?.generation === tree.generation
          ? known
          : { key, generation: tree.generation, ...arranged(this.#filesNow(known)) };
      latest = arrangement;
      this.files = arrangement.files;
      this.#byContent = arrangement.byContent;
      this.#byPath = arrangement.byPath;
    } catch (error) {
      connection.database.close();
      throw indexReadError(tree.index, error);
    }
  }

  #treeId({ resource, overlay, generation }: IndexedTree): number {
    const row = this.all("SELECT id, generation FROM trees WHERE overlay = ?", overlay)[0];
    if (row === undefined) throw new NotIndexedError(resource);
    const [id, found] = row;
    if (found !== generation) throw new IndexMovedError(resource, generation, Number(found));
    return Number(id);
  }

  /**
   * @param before the same tree as it was read last: after an edit, all but a few files are unchanged, and need not be
   *   read again.
   */
  #filesNow(before: ArrangedFiles | undefined): readonly ReadableFile[] {
    if (before === undefined) return this.#readFiles("", this.#id);
    const files: ReadableFile[] = [];
    const others: string[] = [];
    for (const [path, content] of this.all("SELECT path, content FROM entries WHERE tree = ?", this.#id) as PathRow[]) {
      const known = before.byPath.get(path);
      if (known !== undefined && known.content === content) files.push(known);
      else if (content !== null) others.push(path);
    }
    if (others.length > MOST_READ_ALONE) return this.#readFiles("", this.#id);
    for (const path of others) files.push(...this.#readFiles("AND path = ?", this.#id, path));
    return files.sort((a, b) => byCodeUnits(a.path, b.path));
  }

  /** By path. */
  #readFiles(condition: string, ...values: SQLInputValue[]): readonly ReadableFile[] {
    const rows = this.all(
      `SELECT path, content, hash, contents.size, lines, language, words, links, long_secret
         FROM entries JOIN contents ON contents.id = entries.content WHERE tree = ? ${condition}`,
      ...values,
    );
    const files: ReadableFile[] = [];
    for (const row of rows) {
      const [path, content, hash, size, lines, language, words, links, longSecret] = row as FileRow;
      if (!this.#passes(path, size)) continue;
      const file = { resource: this.resource, path, hash, size, lines, language };
      files.push({ file, path, content, words, links, mayHoldLongSecret: longSecret === 1 });
    }
    return files.sort((a, b) => byCodeUnits(a.path, b.path));
  }

  /** The files of the scope that have this content; none when it is outside. */
  filesOf(content: unknown): readonly ReadableFile[] {
    return this.#byContent.get(Number(content)) ?? [];
  }

  /** Contents whose definitions have this word in one of their names; a content is not yet a file of the scope. */
  namingBy(word: string): readonly unknown[] {
    return this.all("SELECT rowid FROM words WHERE words MATCH ?", `names : "${word}"`).map(([content]) => content);
  }

  /** The files of the scope in which a name may be defined or used, by path: those that have all its words. */
  mayMention(where: "names" | "anywhere", name: string): readonly ReadableFile[] {
    // Words are letters and digits only; the quotes keep words with a meaning to the engine (AND, NEAR) from having it.
    const words = wordsOf(name).map((word) => `"${word}"`);
    // A name may have no word, being a single letter or very long.
    if (words.length === 0) return this.files;
    const query = `${where === "names" ? "names : " : ""}(${words.join(" AND ")})`;
    return this.all("SELECT rowid FROM words WHERE words MATCH ?", query)
      .flatMap(([content]) => this.filesOf(content))
      .sort((a, b) => byCodeUnits(a.path, b.path));
  }

  /** The different names a content defines. */
  namesIn(content: unknown): readonly string[] {
    const [row] = this.all("SELECT defined FROM links WHERE content = ?", Number(content));
    // Written by `ContentWriter`: an array of strings.
    return JSON.parse(textOf(row?.[0]) || "[]") as string[];
  }

  /** Which contents have a word, and in which column; a content is not yet a file of the scope. */
  having(word: string): readonly unknown[][] {
    if (!this.#connection.hasInstances)
      this.all("CREATE VIRTUAL TABLE temp.instances USING fts5vocab(main, words, instance)");
    this.#connection.hasInstances = true;
    return this.all("SELECT doc, col FROM temp.instances WHERE term = ?", word);
  }

  gaps(): readonly IndexGap[] {
    return this.#guarded(() => gapsOf(this.#connection.database, this.#id))
      .filter(({ path }) => this.#passes(path, 0))
      .map((gap) => ({ resource: this.resource, ...gap }));
  }

  at(path: string): ReadableFile | undefined {
    return this.#byPath.get(path);
  }

  /** The file as this tree knows it; an error when it is outside this scope, or has other bytes. */
  own(file: IndexedFile): ReadableFile {
    const own = this.#byPath.get(file.path);
    if (own !== undefined && own.file.hash === file.hash) return own;
    throw new AgentsError("not_found", `${shown(file.path, 200)} is not in the scope.`, {
      kept: "Nothing was changed.",
    });
  }

  textOf(file: ReadableFile): string {
    return texts.get(file.file.hash, () => {
      const { value } = this.#unpack("text", file, unpackText);
      return { value, size: value.length };
    });
  }

  definitionsOf(file: ReadableFile): readonly Definition[] {
    return definitions.get(keyOf(file), () => this.#unpack("definitions", file, unpackDefinitions));
  }

  referencesOf(file: ReadableFile): readonly Reference[] {
    return references.get(keyOf(file), () => this.#unpack("refs", file, unpackReferences));
  }

  #unpack<T>(
    column: "text" | "definitions" | "refs",
    { content }: ReadableFile,
    unpack: (packed: Uint8Array) => T,
  ): { readonly value: T; readonly size: number } {
    const [packed] = this.all(`SELECT ${column} FROM bodies WHERE content = ?`, content)[0] ?? [];
    try {
      if (!(packed instanceof Uint8Array)) throw new Error(`content ${content} is missing`);
      return { value: unpack(packed), size: packed.length };
    } catch (error) {
      markDamaged(this.#indexFile);
      throw new IndexDamagedError(this.#indexFile, error);
    }
  }

  all(sql: string, ...values: SQLInputValue[]): readonly unknown[][] {
    return this.#guarded(() => {
      const { statements, database } = this.#connection;
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        statement.setReturnArrays(true);
        statements.set(sql, statement);
      }
      return statement.all(...values) as unknown as unknown[][];
    });
  }

  #guarded<T>(read: () => T): T {
    // Another reader may be using the connection by now.
    if (this.#isClosed) throw new Error(`the index of "${this.resource}" was closed`);
    try {
      return read();
    } catch (error) {
      this.#isBroken = true;
      throw indexReadError(this.#indexFile, error);
    }
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isBroken) this.#connection.database.close();
    else returnConnection(this.#connection);
  }
}

const texts = new SizedLru<string>();
const definitions = new SizedLru<readonly Definition[]>();
const references = new SizedLru<readonly Reference[]>();

/** The same bytes may be read as two languages. */
function keyOf({ file: { hash, language } }: ReadableFile): string {
  return `${language} ${hash}`;
}

/** A column of text; "" where there is none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

interface ArrangedFiles {
  readonly files: readonly ReadableFile[];
  readonly byContent: ReadonlyMap<number, readonly ReadableFile[]>;
  readonly byPath: ReadonlyMap<string, ReadableFile>;
}

/**
 * Of the tree that was read last in this thread: no generation is used for other files, and the code that shows a
 * context opens its tree again.
 */
let latest: (ArrangedFiles & { readonly key: string; readonly generation: number }) | undefined;

/** Of files that are new, or were not seen before by this filter: if there are more, all files are read together. */
const MOST_READ_ALONE = 50;

function arranged(files: readonly ReadableFile[]): ArrangedFiles {
  return {
    files,
    byContent: Map.groupBy(files, ({ content }) => content),
    byPath: new Map(files.map((file) => [file.path, file])),
  };
}

type PathRow = [path: string, content: number | null];

type FileRow = [
  path: string,
  content: number,
  hash: string,
  size: number,
  lines: number,
  language: Language,
  words: number,
  links: string,
  longSecret: number,
];

function filterOf({ filter }: IndexedTree): (path: string, size: number) => boolean {
  const { include, exclude, maxFileSize = Infinity } = filter;
  const included = include.length === 0 ? () => true : globMatcher(include);
  const excluded = globMatcher(exclude);
  return (path, size) => size <= maxFileSize && included(path) && !excluded(path);
}
