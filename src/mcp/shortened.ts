/**
 * A value that is small enough for an agent to read. Long texts are cut at the end of a line and long lists are ended
 * early, each with a note; every key stays, so that the value fits its schema as before.
 */

/** Characters of one text: about 10,000 tokens. */
const LONGEST_TEXT = 40_000;
/** Of all texts and of all that is around them. */
const LONGEST_ANSWER = 120_000;
/** Names, ids and states are never cut. */
const SHORT_TEXT = 500;

export interface Shortened {
  readonly value: unknown;
  /** The parts that are missing: "patch: 40000 of 90000 characters". */
  readonly cut: readonly string[];
}

export function shortened(value: unknown): Shortened {
  const cut: string[] = [];
  const room = { left: LONGEST_ANSWER };
  return { value: shorter(value, "", { room, cut }), cut };
}

interface Cutting {
  readonly room: { left: number };
  readonly cut: string[];
}

function shorter(value: unknown, path: string, cutting: Cutting): unknown {
  const { room, cut } = cutting;
  if (typeof value === "string") {
    const text = shortText(value, Math.max(SHORT_TEXT, Math.min(LONGEST_TEXT, room.left)));
    if (text.length < value.length) cut.push(`${path}: ${text.length} of ${value.length} characters`);
    room.left -= text.length;
    return text;
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const one of value) {
      if (room.left <= 0) break;
      kept.push(shorter(one, path, cutting));
    }
    if (kept.length < value.length) cut.push(`${path}: ${kept.length} of ${value.length} entries`);
    return kept;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      room.left -= key.length;
      return [key, shorter(one, path === "" ? key : `${path}.${key}`, cutting)];
    }),
  );
}

/** Cut behind the last whole line that fits, or where it must be. */
export function shortText(text: string, most: number): string {
  if (text.length <= most) return text;
  const line = text.lastIndexOf("\n", most - 1) + 1;
  return text.slice(0, line === 0 ? most : line);
}
