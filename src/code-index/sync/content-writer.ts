/**
 * Writes contents and removes those that no tree refers to any more. Contents are committed as they come, in batches:
 * no tree leads to them yet, so no reader sees them, and contents parsed before a sync was stopped need not be parsed
 * again.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ReceivedNames } from "../index/name-numbers.ts";
import type { PreparedContent } from "./prepare-content.ts";

/** The number of names that are remembered with their number; more would only cost memory. */
const REMEMBERED = 400_000;
/** The part of all contents whose removal may leave many names unused. */
const LARGE_PART = 0.2;

export class ContentWriter {
  readonly #database: DatabaseSync;
  readonly #names = new Map<string, number>();
  readonly #find: StatementSync;
  readonly #insert: Readonly<Record<"content" | "body" | "links" | "words", StatementSync>>;
  readonly #insertName: StatementSync;
  readonly #findName: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#find = prepare("SELECT id FROM contents WHERE hash = ? AND language = ?");
    this.#insert = {
      content: prepare(
        "INSERT INTO contents (hash, language, size, lines, words, links, long_secret, incomplete) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ),
      body: prepare("INSERT INTO bodies (content, definitions, refs, text) VALUES (?, ?, ?, ?)"),
      links: prepare("INSERT INTO links (content, defines, defined, uses, imports) VALUES (?, ?, ?, ?, ?)"),
      words: prepare("INSERT INTO words (rowid, names, once, few, some, many) VALUES (?, ?, ?, ?, ?, ?)"),
    };
    this.#insertName = prepare("INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING");
    this.#findName = prepare("SELECT id FROM names WHERE name = ?");
  }

  /** The number of a content, or undefined when the index does not have it. */
  find(hash: string, language: string): number | undefined {
    return numberOf(this.#find.get(hash, language)?.["id"]);
  }

  write(
    content: { hash: string; language: string; bytes: number },
    prepared: PreparedContent,
    names: ReceivedNames,
  ): number {
    const { hash, language, bytes } = content;
    // The same bytes may have come twice before the first were written.
    const known = this.find(hash, language);
    if (known !== undefined) return known;
    const { lines, words, links, incomplete, text, definitions, references, imports, wordColumns } = prepared;
    const longSecret = prepared.mayHoldLongSecret ? 1 : 0;
    const added = this.#insert.content.run(hash, language, bytes, lines, words, links, longSecret, incomplete);
    const id = Number(added.lastInsertRowid);
    this.#insert.body.run(id, definitions, references, text);
    this.#insert.words.run(id, ...wordColumns);
    const idOf = (name: string): number => this.#nameId(name);
    const defines = prepared.defines.map((name) => names.id(name, idOf));
    const uses = prepared.uses.map((number, at) => (at % 2 === 0 ? names.id(number, idOf) : number));
    this.#insert.links.run(id, bytesOf(defines), prepared.defined, bytesOf(uses), imports);
    return id;
  }

  #nameId(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const added = this.#insertName.run(name);
    const id = added.changes === 0 ? numberOf(this.#findName.get(name)?.["id"]) : Number(added.lastInsertRowid);
    if (id === undefined) throw new Error(`the name ${name} is neither new nor there`);
    if (this.#names.size >= REMEMBERED) this.#names.clear();
    this.#names.set(name, id);
    return id;
  }

  /** Removes contents that no tree leads to: of changed and removed files, and those read before a sync was stopped. */
  removeUnused(): void {
    const unused = this.#database
      .prepare("SELECT id FROM contents WHERE id NOT IN (SELECT content FROM entries WHERE content IS NOT NULL)")
      .all();
    const places = ["contents WHERE id", "bodies WHERE content", "links WHERE content", "words WHERE rowid"];
    const removals = places.map((place) => this.#database.prepare(`DELETE FROM ${place} = ?`));
    for (const { id = null } of unused) for (const removal of removals) removal.run(id);
    const left = Number(this.#database.prepare("SELECT COUNT(*) AS contents FROM contents").get()?.["contents"]);
    if (unused.length > left * LARGE_PART) this.#removeUnusedNames();
  }

  /** Names that no content has cost nothing but space, so they are searched for only when there may be many. */
  #removeUnusedNames(): void {
    const used = new Set<number>();
    for (const { defines, uses } of this.#database.prepare("SELECT defines, uses FROM links").iterate()) {
      for (const name of numbersIn(defines)) used.add(name);
      for (const [at, name] of numbersIn(uses).entries()) if (at % 2 === 0) used.add(name);
    }
    const remove = this.#database.prepare("DELETE FROM names WHERE id = ?");
    for (const { id = null } of this.#database.prepare("SELECT id FROM names").all()) {
      if (used.has(Number(id))) continue;
      remove.run(id);
    }
    this.#names.clear();
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function bytesOf(numbers: Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** The numbers in a column of bytes, as `bytesOf` put them there. */
export function numbersIn(value: unknown): Uint32Array {
  if (!(value instanceof Uint8Array)) return new Uint32Array();
  // A column's bytes may begin anywhere.
  const { buffer, byteOffset, byteLength } = value.byteOffset % 4 === 0 ? value : new Uint8Array(value);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}
