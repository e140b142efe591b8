/**
 * Git's index as a file (gitformat-index(5)), read and rewritten without a process: a landing reads it three times and
 * changes it once, and for 2,000 entries each of the five processes of git took 10 to 25 ms. Only an index that is
 * understood in every detail is touched; for everything else (other versions, a split or sparse index, caches of
 * untracked files) the functions answer undefined, and the caller asks git.
 */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { directoriesAbove, type IndexEntry } from "../ledger/landing.ts";

export interface IndexFile {
  readonly version: number;
  /**
   * The second in which it was written: for a file that changed then or later, only the bytes tell whether it matches
   * its entry.
   */
  readonly writtenAt: number;
  readonly algorithm: "sha1" | "sha256";
  /** In git's order: by the bytes of the name, then by stage. */
  readonly entries: readonly StoredEntry[];
  readonly extensions: readonly { readonly signature: string; readonly data: Buffer }[];
}

interface StoredEntry extends IndexEntry {
  readonly path: string;
  readonly stage: number;
  readonly skipped: boolean;
  readonly assumed: boolean;
  /** The whole entry as it is in the file, padding included. */
  readonly bytes: Buffer;
}

/** The new state of an entry; with `stat`, the file is known to hold its blob. */
export interface NewEntry extends IndexEntry {
  readonly stat: BigIntStats | undefined;
  readonly skipped: boolean;
  readonly assumed: boolean;
}

const [ASSUMED, EXTENDED, SKIPPED] = [0x8000, 0x4000, 0x4000];
/** Before the name of the object: ten numbers from the file system. */
const FACTS = 40;
const [MODIFIED_AT, MODE_AT, SIZE_AT] = [8, 24, 36];
/** The last two hold the positions of the others, for readers with several threads. They are not written again. */
const UNDERSTOOD = new Set(["TREE", "REUC", "EOIE", "IEOT"]);
const POSITIONS = new Set(["EOIE", "IEOT"]);

/** Undefined for a file that is not understood. */
export function parseIndex(file: Buffer, writtenAt: number): IndexFile | undefined {
  if (file.byteLength < 12 || file.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const algorithm = (["sha1", "sha256"] as const).find((one) => {
    const end = file.byteLength - lengthOf(one);
    return end > 12 && hash(one, file.subarray(0, end), "buffer").equals(file.subarray(end));
  });
  const version = file.readUInt32BE(4);
  if (algorithm === undefined || (version !== 2 && version !== 3)) return undefined;
  const entries: StoredEntry[] = [];
  let at = 12;
  for (let left = file.readUInt32BE(8); left > 0; left -= 1) {
    const entry = entryAt(file, at, lengthOf(algorithm));
    entries.push(entry);
    at += entry.bytes.byteLength;
  }
  const extensions: { signature: string; data: Buffer }[] = [];
  while (at < file.byteLength - lengthOf(algorithm)) {
    const signature = file.toString("latin1", at, at + 4);
    if (!UNDERSTOOD.has(signature)) return undefined;
    const size = file.readUInt32BE(at + 4);
    extensions.push({ signature, data: file.subarray(at + 8, at + 8 + size) });
    at += 8 + size;
  }
  return { version, writtenAt, algorithm, entries, extensions };
}

function lengthOf(algorithm: IndexFile["algorithm"]): number {
  return algorithm === "sha1" ? 20 : 32;
}

function entryAt(file: Buffer, start: number, nameLength: number): StoredEntry {
  const flagsAt = start + FACTS + nameLength;
  const flags = file.readUInt16BE(flagsAt);
  const extended = (flags & EXTENDED) !== 0;
  const pathAt = flagsAt + (extended ? 4 : 2);
  const pathEnd = file.indexOf(0, pathAt);
  return {
    path: file.toString("utf8", pathAt, pathEnd),
    mode: file
      .readUInt32BE(start + MODE_AT)
      .toString(8)
      .padStart(6, "0"),
    oid: file.toString("hex", start + FACTS, flagsAt),
    stage: (flags >> 12) & 3,
    skipped: extended && (file.readUInt16BE(flagsAt + 2) & SKIPPED) !== 0,
    assumed: (flags & ASSUMED) !== 0,
    bytes: file.subarray(start, start + padded(pathEnd - start)),
  };
}

/** One to eight zeros end a name, so that each entry begins at a multiple of eight. */
function padded(size: number): number {
  return (size + 8) & ~7;
}

/**
 * The index with these entries changed; a change to undefined removes an entry. Undefined where a file would be below
 * another file. If a file is not older than the index, git compares its bytes with the entry and does not trust its
 * times. The new index is younger, so `isHeld` is asked for each such entry that stays whether its file holds the blob;
 * where it does not, the size is set to zero, as git does: otherwise an edit in that second would never be noticed.
 */
export function changeIndex(
  index: IndexFile,
  changes: ReadonlyMap<string, NewEntry | undefined>,
  isHeld: (entry: IndexEntry & { readonly path: string }) => boolean,
): Buffer | undefined {
  const kept = index.entries.filter(({ path }) => !changes.has(path));
  const added = [...changes].flatMap(([path, entry]) =>
    entry === undefined ? [] : [{ name: Buffer.from(path), bytes: entryBytes(path, entry) }],
  );
  if (collides(index, kept, changes)) return undefined;
  const all = merged(
    kept.map((entry) => keptIn(index, entry, isHeld)),
    added.sort((a, b) => Buffer.compare(a.name, b.name)),
  );
  const header = Buffer.alloc(12, "DIRC");
  const extended = [...changes.values()].some((entry) => entry?.skipped === true);
  header.writeUInt32BE(extended ? 3 : index.version, 4);
  header.writeUInt32BE(all.length, 8);
  const extensions = index.extensions
    .filter(({ signature }) => !POSITIONS.has(signature))
    .flatMap(({ signature, data }) => {
      const now = signature === "TREE" ? forgetTrees(data, [...changes.keys()], lengthOf(index.algorithm)) : data;
      const size = Buffer.alloc(4);
      size.writeUInt32BE(now.byteLength);
      return [Buffer.from(signature, "latin1"), size, now];
    });
  const body = Buffer.concat([header, ...all.map(({ bytes }) => bytes), ...extensions]);
  return Buffer.concat([body, hash(index.algorithm, body, "buffer")]);
}

interface NamedBytes {
  readonly name: Buffer;
  readonly bytes: Buffer;
}

/** Both lists are sorted, and no name is in both. */
function merged(kept: readonly NamedBytes[], added: readonly NamedBytes[]): NamedBytes[] {
  const all: NamedBytes[] = [];
  let next = 0;
  for (const entry of kept) {
    for (let one = added[next]; one !== undefined && Buffer.compare(one.name, entry.name) < 0; one = added[next]) {
      all.push(one);
      next += 1;
    }
    all.push(entry);
  }
  return [...all, ...added.slice(next)];
}

/** A name need not be UTF-8; its bytes define the order. */
function keptIn(
  { algorithm, writtenAt }: IndexFile,
  entry: StoredEntry,
  isHeld: (entry: StoredEntry) => boolean,
): NamedBytes {
  const { stage, bytes } = entry;
  const flagsAt = FACTS + lengthOf(algorithm);
  const start = flagsAt + ((bytes.readUInt16BE(flagsAt) & EXTENDED) === 0 ? 2 : 4);
  const name = bytes.subarray(start, bytes.indexOf(0, start));
  const isFile = stage === 0 && entry.mode !== SUBMODULE;
  if (!isFile || bytes.readUInt32BE(MODIFIED_AT) < writtenAt || isHeld(entry)) return { name, bytes };
  const unsure = Buffer.from(bytes);
  unsure.writeUInt32BE(0, SIZE_AT);
  return { name, bytes: unsure };
}

const SUBMODULE = "160000";

/** Whether a new path is a directory of another path, or the other way round. Only new paths can collide. */
function collides(
  { entries }: IndexFile,
  kept: readonly StoredEntry[],
  changes: ReadonlyMap<string, NewEntry | undefined>,
): boolean {
  const known = new Set(entries.map(({ path }) => path));
  const wanted = [...changes].flatMap(([path, entry]) => (entry === undefined ? [] : [path]));
  const coming = new Set(wanted.filter((path) => !known.has(path)));
  if (coming.size === 0) return false;
  const aboveComing = new Set([...coming].flatMap(directoriesAbove));
  const staying = [...kept.map(({ path }) => path), ...wanted];
  return staying.some((path) => aboveComing.has(path) || directoriesAbove(path).some((above) => coming.has(above)));
}

function entryBytes(path: string, { mode, oid, stat, skipped, assumed }: NewEntry): Buffer {
  const name = Buffer.from(path);
  const object = Buffer.from(oid, "hex");
  const flagsAt = FACTS + object.byteLength;
  const nameAt = flagsAt + (skipped ? 4 : 2);
  const bytes = Buffer.alloc(padded(nameAt + name.byteLength));
  if (stat !== undefined) {
    const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = stat;
    const facts = [
      ctimeNs / SECOND,
      ctimeNs % SECOND,
      mtimeNs / SECOND,
      mtimeNs % SECOND,
      dev,
      ino,
      0n,
      uid,
      gid,
      size,
    ];
    for (const [position, fact] of facts.entries()) bytes.writeUInt32BE(Number(fact & 0xffff_ffffn), position * 4);
  }
  bytes.writeUInt32BE(Number.parseInt(mode, 8), MODE_AT);
  object.copy(bytes, FACTS);
  const flags = (assumed ? ASSUMED : 0) | (skipped ? EXTENDED : 0) | Math.min(name.byteLength, 0xfff);
  bytes.writeUInt16BE(flags, flagsAt);
  if (skipped) bytes.writeUInt16BE(SKIPPED, flagsAt + 2);
  name.copy(bytes, nameAt);
  return bytes;
}

const SECOND = 1_000_000_000n;

interface CachedTree {
  readonly name: Buffer;
  /** How many entries are in it; -1 when its object is not known. */
  count: number;
  object: Buffer;
  trees: CachedTree[];
}

/** Git caches the names of the trees it has written; those above a changed path are no longer right. */
function forgetTrees(data: Buffer, paths: readonly string[], objectLength: number): Buffer {
  if (data.byteLength === 0) return data;
  const top = readTree(data, { at: 0 }, objectLength);
  const places = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf("/") + 1));
  for (const [above, own] of places) {
    const names = new Set(own.map((path) => path.slice(above.length)));
    forget(top, above.split("/").slice(0, -1), names);
  }
  return Buffer.concat(treeBytes(top));
}

function readTree(data: Buffer, position: { at: number }, objectLength: number): CachedTree {
  const nameEnd = data.indexOf(0, position.at);
  const lineEnd = data.indexOf(10, nameEnd);
  const [count = 0, below = 0] = data
    .toString("latin1", nameEnd + 1, lineEnd)
    .split(" ")
    .map(Number);
  const objectEnd = lineEnd + 1 + (count < 0 ? 0 : objectLength);
  const name = data.subarray(position.at, nameEnd);
  position.at = objectEnd;
  const trees = Array.from({ length: below }, () => readTree(data, position, objectLength));
  return { name, count, object: data.subarray(lineEnd + 1, objectEnd), trees };
}

function forget(tree: CachedTree, [first, ...rest]: readonly string[], names: ReadonlySet<string>): void {
  tree.count = -1;
  tree.object = Buffer.alloc(0);
  if (first === undefined) {
    tree.trees = tree.trees.filter(({ name }) => !names.has(name.toString("utf8")));
    return;
  }
  const below = tree.trees.find(({ name }) => name.toString("utf8") === first);
  if (below !== undefined) forget(below, rest, names);
}

function treeBytes({ name, count, object, trees }: CachedTree): Buffer[] {
  return [name, Buffer.from(`\0${count} ${trees.length}\n`), object, ...trees.flatMap(treeBytes)];
}
