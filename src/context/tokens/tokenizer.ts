/**
 * The real tokenizers, loaded when something is counted for the first time. `gpt-tokenizer` knows their tokens and how
 * they split text; we count by ourselves. It takes 0.2 to 0.35 s to load, most of it for a table of 200,000 strings, a
 * fourteenth of all that a first context costs; our table is a file next to the bundle and takes 3 ms. And its time
 * grows with the square of a long run.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { createRequire } from "node:module";
import type { TokenizerName } from "../model/context-model.ts";
import { BytePairs } from "./byte-pairs.ts";
import { EMPTY_HASH, hashed, type PublishedTokenizer, Vocabulary } from "./vocabulary.ts";

export type CountTokens = (text: string) => number;

/**
 * In UTF-16 units. Beyond this a piece counts as one token for each byte: never too few, and no reader wants to see it.
 */
const MAX_PIECE = 1_000_000;
/** As much as a UTF-16 unit takes at most in UTF-8. */
const BYTES_PER_UNIT = 3;
/** In UTF-16 units, of parts that are remembered with their count; each counts as somewhat more. */
const MOST_REMEMBERED = 2_000_000;
const MORE_FOR_EACH = 32;
const SLASH = 47;

const loaded = new Map<TokenizerName, CountTokens>();

export function tokenizerNamed(name: TokenizerName): CountTokens {
  let count = loaded.get(name);
  if (count === undefined) {
    const tokenizer = new Tokenizer(vocabularyOf(name));
    count = (text) => tokenizer.count(text);
    loaded.set(name, count);
  }
  return count;
}

/**
 * Text that looks like a control token ("<|endoftext|>") is text here: only content is counted, never a conversation.
 */
class Tokenizer {
  readonly #vocabulary: Vocabulary;
  readonly #pairs: BytePairs;
  readonly #splitter: RegExp;
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(1_024);
  readonly #known = new Map<string, number>();
  #remembered = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#pairs = new BytePairs(vocabulary);
    // A copy, because it keeps a position in the text.
    this.#splitter = new RegExp(vocabulary.splitter);
  }

  /** Part by part: the same part is in a fragment, in the fragment with its heading, and in the whole context. */
  count(text: string): number {
    let tokens = 0;
    let from = 0;
    for (let at = text.indexOf("\n") + 1; at > 0; at = text.indexOf("\n", at) + 1) {
      if (!beginsPart(text.charCodeAt(at))) continue;
      tokens += this.#countPart(text.slice(from, at));
      from = at;
    }
    return tokens + this.#countPart(text.slice(from));
  }

  #countPart(part: string): number {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    this.#remembered += part.length + MORE_FOR_EACH;
    if (this.#remembered > MOST_REMEMBERED) {
      this.#known.clear();
      this.#remembered = part.length + MORE_FOR_EACH;
    }
    const tokens = this.#countPieces(part);
    this.#known.set(part, tokens);
    return tokens;
  }

  #countPieces(text: string): number {
    const splitter = this.#splitter;
    let tokens = 0;
    let from = 0;
    // Pieces follow each other without a gap: each begins where the one before it ended.
    splitter.lastIndex = 0;
    while (splitter.test(text)) {
      tokens += this.#countPiece(text, from, splitter.lastIndex);
      from = splitter.lastIndex;
    }
    return tokens;
  }

  #countPiece(text: string, from: number, to: number): number {
    if (to - from > MAX_PIECE) return Buffer.byteLength(text.slice(from, to));
    if ((to - from) * BYTES_PER_UNIT > this.#bytes.length) this.#bytes = new Uint8Array((to - from) * BYTES_PER_UNIT);
    const bytes = this.#bytes;
    let hash = EMPTY_HASH;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return this.#countBytes(this.#encoder.encodeInto(text.slice(from, to), bytes).written);
      bytes[at - from] = code;
      hash = hashed(hash, code);
    }
    return this.#countBytes(to - from, hash);
  }

  #countBytes(size: number, hash?: number): number {
    return this.#vocabulary.rank(this.#bytes, 0, size, hash) >= 0 ? 1 : this.#pairs.count(this.#bytes, size);
  }
}

/**
 * Whether no tokenizer has a piece across this place, after the end of a line: before a visible character, as in
 * `TokenCounter`.
 */
function beginsPart(code: number): boolean {
  return code > 32 && code < 127 && code !== SLASH;
}

function vocabularyOf(name: TokenizerName): Vocabulary {
  if (!import.meta.url.endsWith(".ts"))
    return Vocabulary.from(plainBytes(readFileSync(new URL(vocabularyFile(name), import.meta.url))));
  return Vocabulary.of(publishedTokenizer(name));
}

/** Of older models only: 0.6 MB less in the package, for 15 ms when it is loaded. */
export const PACKED_TOKENIZERS: readonly TokenizerName[] = ["cl100k_base"];

function plainBytes(bytes: Buffer): Buffer {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/** Beside the bundle; the build writes it. */
export function vocabularyFile(name: TokenizerName): string {
  return `${name}.vocabulary`;
}

export function publishedTokenizer(name: TokenizerName): PublishedTokenizer {
  const require = createRequire(import.meta.url);
  const { default: tokens } = require(`gpt-tokenizer/bpeRanks/${name}`) as {
    readonly default: PublishedTokenizer["tokens"];
  };
  const { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } = require("gpt-tokenizer/encodingParams/constants") as {
    readonly [splitter: string]: RegExp;
  };
  const splitter = name === "cl100k_base" ? CL100K_TOKEN_SPLIT_REGEX : O200K_TOKEN_SPLIT_REGEX;
  if (splitter === undefined) throw new Error(`gpt-tokenizer does not say how ${name} splits text`);
  return { tokens, splitter };
}

/**
 * The tokenizer that counts a model's text. OpenAI publishes theirs. For models of others, which have none to download,
 * o200k_base is the nearest we have: the count is exact for it and close for them, so a budget for such a model should
 * leave some space.
 */
export function tokenizerOf(model: string): TokenizerName {
  const name = model
    .toLowerCase()
    .replace(/^ft:/, "")
    .replace(/^.*[/:](?=gpt-|text-embedding-)/, "");
  const isOlder = /^(gpt-4(?!o|\.|\d)|gpt-3\.5|gpt-35|text-embedding-(3|ada-002))/.test(name);
  return isOlder ? "cl100k_base" : "o200k_base";
}
