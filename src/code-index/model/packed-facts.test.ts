import { expect, test } from "vitest";
import type { Definition, Reference } from "./facts.ts";
import {
  packDefinitions,
  packReferences,
  packText,
  unpackDefinitions,
  unpackReferences,
  unpackText,
} from "./packed-facts.ts";

const OUTER: Definition = {
  name: "Lease",
  kind: "class",
  container: undefined,
  exported: true,
  startLine: 1,
  endLine: 9,
  signature: { start: 0, end: 12 },
  doc: { start: 0, end: 4 },
};
const DEFINITIONS: readonly Definition[] = [
  OUTER,
  { ...OUTER, name: "erneuern ü", kind: "method", container: 0, exported: false, doc: undefined },
];
const REFERENCES: readonly Reference[] = [
  { name: "clock", within: undefined, count: 3, line: 1 },
  { name: "Lease", within: 1, count: 1, line: 4 },
  { name: "clock", within: 0, count: 1, line: 2 },
];

test("packed facts are read as they were", () => {
  expect(unpackText(packText("öffnen\r\n"))).toBe("öffnen\r\n");
  for (const definitions of [DEFINITIONS, []])
    expect(unpackDefinitions(packDefinitions(definitions))).toEqual(definitions);
  for (const references of [REFERENCES, []]) expect(unpackReferences(packReferences(references))).toEqual(references);
});

test("a single changed byte is noticed, and so is a missing one", () => {
  const kinds = [
    { packed: packText("some text that says the same thing, the same thing"), unpack: unpackText },
    { packed: packDefinitions(DEFINITIONS), unpack: unpackDefinitions },
    { packed: packReferences(REFERENCES), unpack: unpackReferences },
  ];
  for (const { packed, unpack } of kinds) {
    for (const at of packed.keys()) {
      const damaged = Uint8Array.from(packed);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(() => unpack(damaged), `byte ${at}`).toThrow(Error);
    }
    expect(() => unpack(packed.subarray(0, -1))).toThrow(Error);
    expect(() => unpack(packed.subarray(0, 2))).toThrow(Error);
  }
});
