/**
 * Writes git objects into a pack, uncompressed, for git to read: for contents in memory no process is needed. Measured
 * for 2,000 contents of 2 KB: 35 ms of processor time, where `git fast-import` takes 130. The format is
 * gitformat-pack(5), with an index of version 2.
 */
import { createHash, hash, type Hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

export class GitPack implements Disposable {
  readonly #directory: string;
  readonly #descriptor: number;
  readonly #checksum: Hash = createHash("sha1");
  readonly #objects = new Map<string, { readonly crc: number; readonly offset: number }>();
  readonly #count: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #size = 0;

  /** `count`: the number of different objects to come; a pack begins with it. */
  constructor(objectDirectory: string, count: number) {
    this.#directory = join(objectDirectory, "pack");
    this.#count = count;
    mkdirSync(this.#directory, { recursive: true });
    this.#descriptor = openSync(join(this.#directory, UNFINISHED), "wx");
    this.#put(Buffer.concat([Buffer.from("PACK"), numbers([2, count])]));
  }

  /** Adds an object and returns its name. */
  add(type: ObjectType, content: Uint8Array): string {
    const name = objectName(type, content);
    if (this.#objects.has(name)) return name;
    // In one piece: each piece would be a separate call of every checksum.
    const packed = Buffer.concat([objectHeader(type, content.byteLength), ...stored(content)]);
    this.#objects.set(name, { crc: crc32(packed), offset: this.#size });
    this.#put(packed);
    return name;
  }

  finish(): void {
    if (this.#objects.size !== this.#count)
      throw new Error(`${this.#objects.size} of ${this.#count} objects were added`);
    this.#flush();
    const checksum = this.#checksum.digest();
    writeSync(this.#descriptor, checksum);
    const name = join(this.#directory, `pack-${checksum.toString("hex")}`);
    renameSync(join(this.#directory, UNFINISHED), `${name}.pack`);
    writeFileSync(`${name}.idx`, this.#index(checksum));
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #put(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.byteLength;
    this.#size += bytes.byteLength;
    if (this.#pendingBytes > 1024 * 1024) this.#flush();
  }

  #flush(): void {
    const all = Buffer.concat(this.#pending);
    this.#checksum.update(all);
    for (let written = 0; written < all.byteLength;) written += writeSync(this.#descriptor, all, written);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #index(checksum: Uint8Array): Uint8Array {
    const sorted = [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1));
    // For each first byte, the number of names that begin with it or a smaller one.
    const first = Map.groupBy(sorted, ([name]) => Number.parseInt(name.slice(0, 2), 16));
    let sum = 0;
    const fanout = Array.from({ length: 256 }, (_, byte) => (sum += first.get(byte)?.length ?? 0));
    const far: number[] = [];
    const offsets = sorted.map(([, { offset }]) => (offset < 2 ** 31 ? offset : 2 ** 31 + far.push(offset) - 1));
    const body = Buffer.concat([
      Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
      numbers(fanout),
      Buffer.from(sorted.map(([name]) => name).join(""), "hex"),
      numbers(sorted.map(([, { crc }]) => crc)),
      numbers(offsets),
      numbers(far.flatMap((offset) => [Math.trunc(offset / 2 ** 32), offset % 2 ** 32])),
      checksum,
    ]);
    return Buffer.concat([body, hash("sha1", body, "buffer")]);
  }
}

const UNFINISHED = "unfinished";

type ObjectType = "tree" | "blob";

export function objectName(type: ObjectType, content: Uint8Array): string {
  return hash("sha1", Buffer.concat([Buffer.from(`${type} ${content.byteLength}\0`), content]));
}

/** Four bits of type and the size, seven bits at a time. */
function objectHeader(type: ObjectType, size: number): Uint8Array {
  const bytes = [{ tree: 32, blob: 48 }[type] + (size % 16)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) bytes.push(rest % 128);
  return Uint8Array.from(bytes, (byte, index) => (index < bytes.length - 1 ? byte | 128 : byte));
}

const LARGEST_BLOCK = 65_535;

/** A zlib stream of blocks that are stored as they are. */
function stored(content: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [Buffer.from([0x78, 0x01])];
  let at = 0;
  do {
    const block = content.subarray(at, at + LARGEST_BLOCK);
    at += block.byteLength;
    const header = Buffer.alloc(5);
    header.writeUInt8(at === content.byteLength ? 1 : 0, 0);
    header.writeUInt16LE(block.byteLength, 1);
    header.writeUInt16LE(~block.byteLength & 0xffff, 3);
    pieces.push(header, block);
  } while (at < content.byteLength);
  pieces.push(numbers([adler32(content)]));
  return pieces;
}

function adler32(content: Uint8Array): number {
  let [low, high] = [1, 0];
  for (let at = 0; at < content.byteLength;) {
    // As many bytes as fit into 32 bits before the remainder must be taken.
    for (const end = Math.min(at + 3_800, content.byteLength); at < end; at += 1) {
      low += content[at] ?? 0;
      high += low;
    }
    low %= 65_521;
    high %= 65_521;
  }
  return high * 65_536 + low;
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
