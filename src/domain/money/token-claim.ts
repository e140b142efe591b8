/**
 * An endpoint's claim of what it used may be any number. Two questions are asked of it before it is billed: is it a
 * number of tokens at all, and can it be true of a text that we counted ourselves.
 */

/** More than any call has, and small enough that its price is still an exact number. */
const MOST_TOKENS = 1_000_000_000;

/**
 * A tokenizer that is not ours may need fewer tokens for the same text. Measured of older published ones beside
 * o200k_base: 0.97 of its tokens for code, 0.99 for prose, 1.02 for JSON, and 0.51 for a run of one letter, the least
 * of all. Less than half is not a matter of tokenizers, except of a single word, which can be one token here and five
 * there.
 */
const LEAST_SHARE = 0.5;
const ONE_WORD = 4;

export function isTokenCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS;
}

/** Whether no tokenizer writes a text of so many tokens, by our count, with as few as were said. */
export function isTooFew(said: number, counted: number): boolean {
  return said < counted * LEAST_SHARE - ONE_WORD;
}
