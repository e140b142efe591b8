/**
 * What an index keeps of a content, as bytes. Texts are compressed. Definitions and references are read much more often, by the hundred
 * for one question, so they are lists of plain values that take a third of the time of objects to read, and lie there uncompressed:
 * to unpack a small text takes as long as to parse it. Damage is noticed by a checksum either way.
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Definition, DefinitionKind, Reference } from "./facts.ts";

const CHECKSUM_BYTES = 4;

/** 12 MB of sources: 81 ms for a quarter of the size, and 60 ms back. */
export function packText(text: string): Uint8Array {
  return zstdCompressSync(Buffer.from(text), { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

export function unpackText(packed: Uint8Array): string {
  return zstdDecompressSync(packed).toString("utf8");
}

type DefinitionRow = [
  name: string,
  kind: DefinitionKind,
  container: number,
  exported: number,
  startLine: number,
  endLine: number,
  signatureStart: number,
  signatureEnd: number,
  docStart: number,
  docEnd: number,
];

export function packDefinitions(definitions: readonly Definition[]): Uint8Array {
  const rows = definitions.map(
    ({ name, kind, container, exported, startLine, endLine, signature, doc }): DefinitionRow => {
      const { start, end } = signature;
      const lines = [startLine, endLine, start, end, doc?.start ?? -1, doc?.end ?? -1] as const;
      return [name, kind, container ?? -1, exported ? 1 : 0, ...lines];
    },
  );
  return checked(rows);
}

export function unpackDefinitions(packed: Uint8Array): readonly Definition[] {
  // Written by `packDefinitions`, and guarded by the checksum and the version of the schema.
  return (unchecked(packed) as readonly DefinitionRow[]).map((row) => {
    const [name, kind, container, exported, startLine, endLine, start, end, docStart, docEnd] = row;
    return {
      name,
      kind,
      container: container < 0 ? undefined : container,
      exported: exported === 1,
      startLine,
      endLine,
      signature: { start, end },
      doc: docStart < 0 ? undefined : { start: docStart, end: docEnd },
    };
  });
}

/** The different names, and for each reference four numbers: which name, within what, how often, on which line. */
type PackedReferences = readonly [names: readonly string[], numbers: readonly number[]];

export function packReferences(references: readonly Reference[]): Uint8Array {
  const names = new Map<string, number>();
  const numbers: number[] = [];
  for (const { name, within, count, line } of references) {
    let place = names.get(name);
    if (place === undefined) names.set(name, (place = names.size));
    numbers.push(place, within ?? -1, count, line);
  }
  return checked([[...names.keys()], numbers] satisfies PackedReferences);
}

export function unpackReferences(packed: Uint8Array): readonly Reference[] {
  // Written by `packReferences`, and guarded like definitions.
  const [names, numbers] = unchecked(packed) as PackedReferences;
  const references: Reference[] = [];
  for (let at = 0; at < numbers.length; at += 4) {
    const [place = 0, within = -1, count = 0, line = 0] = numbers.slice(at, at + 4);
    references.push({ name: names[place] ?? "", within: within < 0 ? undefined : within, count, line });
  }
  return references;
}

function checked(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  const bytes = Buffer.allocUnsafeSlow(CHECKSUM_BYTES + Buffer.byteLength(text));
  bytes.write(text, CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKSUM_BYTES)));
  return bytes;
}

function unchecked(packed: Uint8Array): unknown {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  if (bytes.length < CHECKSUM_BYTES || crc32(bytes.subarray(CHECKSUM_BYTES)) !== bytes.readUInt32LE())
    throw new Error("the checksum does not fit");
  return JSON.parse(bytes.toString("utf8", CHECKSUM_BYTES));
}
