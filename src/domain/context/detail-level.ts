/**
 * How much of an entity is shown. Levels are stored by name, never by number: a new level between two of them must not
 * change stored values. The order is the one in which a packer gives up detail.
 */
export const DETAIL_LEVELS = ["listing", "signatures", "signatures_with_docs", "full"] as const;
export type DetailLevel = (typeof DETAIL_LEVELS)[number];

/** Below zero when `a` shows less than `b`. */
export function compareDetail(a: DetailLevel, b: DetailLevel): number {
  return DETAIL_LEVELS.indexOf(a) - DETAIL_LEVELS.indexOf(b);
}

/** The levels that show less than this one, the nearest first. */
export function lessDetail(level: DetailLevel): readonly DetailLevel[] {
  return DETAIL_LEVELS.slice(0, DETAIL_LEVELS.indexOf(level)).toReversed();
}
