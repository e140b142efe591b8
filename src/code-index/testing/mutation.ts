import * as fc from "fast-check";

/** A place in a text where a part is removed and another one inserted. */
export interface Mutation {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const TOKENS = [
  ..."(){}[]<>#;:=*'".split(""),
  '"',
  "`",
  "\n",
  "\r",
  "\0",
  "\ud800",
  "é",
  "/*",
  "*/",
  "//",
  "=>",
  "class ",
  "\uFEFF",
];

export function mutation(length: number): fc.Arbitrary<Mutation> {
  return fc.record({
    at: fc.nat({ max: length }),
    remove: fc.nat({ max: 40 }),
    insert: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ unit: "binary", maxLength: 8 })),
  });
}

export function mutate(text: string, { at, remove, insert }: Mutation): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}
