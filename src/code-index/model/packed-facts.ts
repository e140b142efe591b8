/**
 * The packed facts of a content: bytes behind a checksum. Nothing is compressed: a text would take a quarter of the
 * space, but to begin compressing takes as long as to compress a small text, a tenth of all the time for a new
 * directory, and each reader would have to unpack it. Definitions and references are lists of plain values that take a
 * third of the time of objects to read.
 */
import { crc32 } from "node:zlib";
import type { Definition, DefinitionKind, Reference } from "./facts.ts";

const CHECKSUM_BYTES = 4;

export function packText(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(CHECKSUM_BYTES + Buffer.byteLength(text));
  bytes.write(text, CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKSUM_BYTES)));
  return bytes;
}

export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  if (bytes.length < CHECKSUM_BYTES || crc32(bytes.subarray(CHECKSUM_BYTES)) !== bytes.readUInt32LE())
    throw new Error("the checksum does not match");
  return bytes.toString("utf8", CHECKSUM_BYTES);
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
  return packText(JSON.stringify(rows));
}

export function unpackDefinitions(packed: Uint8Array): readonly Definition[] {
  // Written by `packDefinitions`, and guarded by the checksum and the version of the schema.
  return (JSON.parse(unpackText(packed)) as readonly DefinitionRow[]).map((row) => {
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
  return packText(JSON.stringify([[...names.keys()], numbers] satisfies PackedReferences));
}

export function unpackReferences(packed: Uint8Array): readonly Reference[] {
  // Written by `packReferences`, and guarded like definitions.
  const [names, numbers] = JSON.parse(unpackText(packed)) as PackedReferences;
  const references: Reference[] = [];
  for (let at = 0; at < numbers.length; at += 4) {
    const [place = 0, within = -1, count = 0, line = 0] = numbers.slice(at, at + 4);
    references.push({ name: names[place] ?? "", within: within < 0 ? undefined : within, count, line });
  }
  return references;
}
