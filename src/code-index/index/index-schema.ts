import { createHash } from "node:crypto";
import manifest from "../../../package.json" with { type: "json" };

/**
 * The tables of an index. Facts belong to contents, which are identified by hash and language; a tree maps paths to
 * contents, completely: a sandbox is a tree of its own beside the one of its base, and as both refer to the same
 * contents it costs one row for each file.
 *
 * Names are interned, because ranking compares hundreds of thousands of them: `links` holds the names that a content
 * defines and uses as arrays of their numbers (1,700 of those are read in milliseconds, the 120,000 rows they stand for
 * would take a tenth of a second).
 *
 * The number of a content is never used again in the same file, so code that knows a content by its number need not
 * look it up again.
 *
 * The text index has each word of a content once, in the column for its number of occurrences, and the words of its
 * definitions in another column. So the engine reads a fifth of the text, and ranking gets its counts without
 * positions. It is also the way from a name to contents: contents that have all words of a name are asked for the name
 * itself. A text index of names alone took a third of all writing.
 */
const TABLES = `
CREATE TABLE trees (
  id INTEGER PRIMARY KEY,
  overlay TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,
  generation INTEGER NOT NULL,
  synced_at INTEGER NOT NULL
) STRICT;
CREATE TABLE contents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash TEXT NOT NULL,
  language TEXT NOT NULL,
  size INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  words INTEGER NOT NULL,
  links TEXT NOT NULL,
  long_secret INTEGER NOT NULL,
  incomplete TEXT,
  UNIQUE (hash, language)
) STRICT;
CREATE INDEX incomplete_contents ON contents (id) WHERE incomplete IS NOT NULL;
CREATE TABLE entries (
  tree INTEGER NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  stamp TEXT NOT NULL,
  racy INTEGER NOT NULL,
  content INTEGER,
  reason TEXT,
  PRIMARY KEY (tree, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_by_content ON entries (content);
CREATE INDEX entries_with_reason ON entries (tree, path) WHERE reason IS NOT NULL;
CREATE TABLE bodies (
  content INTEGER PRIMARY KEY,
  definitions BLOB NOT NULL,
  refs BLOB NOT NULL,
  text BLOB NOT NULL
) STRICT;
CREATE TABLE links (
  content INTEGER PRIMARY KEY,
  defines BLOB NOT NULL,
  defined TEXT NOT NULL,
  uses BLOB NOT NULL,
  imports TEXT NOT NULL
) STRICT;
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (
  names, once, few, some, many,
  content = '', contentless_delete = 1, detail = column, tokenize = 'ascii'
);
`;

/** To be raised when a release analyzes the same text to other facts, or splits it into other words. */
const FACTS = 2;

/** "Clix", so that no other program's database is taken for an index. */
export const APPLICATION_ID = 0x436c6978;
/**
 * Another release, other tables or other facts make another index: building one is cheaper than explaining a wrong one.
 */
export const SCHEMA_VERSION =
  createHash("sha256").update(`${manifest.version} ${FACTS} ${TABLES}`).digest().readUInt32BE() >>> 1;

export const SCHEMA = `${TABLES}
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;
