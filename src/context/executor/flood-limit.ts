/**
 * How much a strategy may return. The limit is checked in the strategy's own thread, before any fragment is copied, and
 * exceeding it counts as a failure of the strategy: half of a flood would be an arbitrary half.
 */
const MAX_FRAGMENTS = 10_000;
/** Characters and bytes of everything it returned, at any depth. */
const MAX_SIZE = 8 * 1024 * 1024;
const MAX_VALUES = 20 * MAX_FRAGMENTS;

/** As the end of a sentence that begins with the strategy; undefined when it is within the limits. */
export function floodProblem(fragments: readonly unknown[]): string | undefined {
  if (fragments.length > MAX_FRAGMENTS)
    return `returned ${fragments.length} fragments; at most ${MAX_FRAGMENTS} are taken`;
  let size = 0;
  let values = 0;
  const seen = new Set<object>();
  const waiting: unknown[] = [...fragments];
  while (waiting.length > 0) {
    const value = waiting.pop();
    values++;
    if (typeof value === "string") size += value.length;
    else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      if (ArrayBuffer.isView(value)) size += value.byteLength;
      else if (value instanceof ArrayBuffer) size += value.byteLength;
      else {
        const parts = partsOf(value);
        if (parts.length > MAX_VALUES) return TOO_MUCH;
        waiting.push(...parts);
      }
    }
    if (size > MAX_SIZE || values + waiting.length > MAX_VALUES) return TOO_MUCH;
  }
  return undefined;
}

const TOO_MUCH = `returned more than ${MAX_SIZE / 1024 / 1024} MB; nothing of it was taken`;

function partsOf(value: object): readonly unknown[] {
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  if (value instanceof Set) return [...value];
  if (Array.isArray(value)) return value as readonly unknown[];
  return Object.entries(value).flat();
}
