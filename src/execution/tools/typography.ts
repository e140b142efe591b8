/** Typographic characters that models write for plain ones, and the other way around. One stands for one. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ...["\u2018", "\u2019", "\u201a", "\u201b", "\u2032"].map((quote) => [quote, "'"] as const),
  ...["\u201c", "\u201d", "\u201e", "\u201f", "\u2033"].map((quote) => [quote, '"'] as const),
  ...["\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"].map((dash) => [dash, "-"] as const),
  ...["\u00a0", "\u2002", "\u2003", "\u2009", "\u202f", "\u3000"].map((blank) => [blank, " "] as const),
]);

const TYPOGRAPHY = new RegExp(`[${[...PLAIN.keys()].join("")}]`, "gu");

/** Of the same length. */
export function plainTypography(text: string): string {
  return text.replaceAll(TYPOGRAPHY, (character) => PLAIN.get(character) ?? character);
}

export function hasTypography(text: string): boolean {
  return plainTypography(text) !== text;
}
