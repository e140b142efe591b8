/** How values come back from PostgreSQL: as they do from SQLite. */
import type { types } from "pg";
import { StoreError } from "../../domain/errors/errors.ts";

type Parse = (text: string) => unknown;

/** The numbers by which PostgreSQL knows the types of columns. */
const BOOL = 16;
const BYTEA = 17;
const INT8 = 20;
const NUMERIC = 1700;

const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [BOOL, (text) => Number(text === "t")],
  [BYTEA, (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"))],
  [INT8, exactNumber],
  // The sum of integers.
  [NUMERIC, exactNumber],
]);

function exactNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new StoreError("store_failed", `The database answered with ${text}, which no number holds exactly.`);
}

/** `others` are the parsers of the client, for the types that need no care. */
export function valueTypes(others: typeof types): { getTypeParser(type: number): Parse } {
  return { getTypeParser: (type) => PARSERS.get(type) ?? others.getTypeParser(type, "text") };
}
