/**
 * The real tokenizers, loaded when something is counted for the first time (0.2 to 0.35 s, once in a thread). Loading is synchronous,
 * because it would block the thread just as long either way and whoever counts can then simply count.
 */
import { createRequire } from "node:module";
import type * as EncodingModule from "gpt-tokenizer/encoding/o200k_base";
import type * as SplitterModule from "gpt-tokenizer/encodingParams/constants";
import type { TokenizerName } from "../model.ts";
import { BytePairs, type RankedTokens } from "./byte-pairs.ts";

export type CountTokens = (text: string) => number;

type Encoding = typeof EncodingModule;
type Splitters = typeof SplitterModule;

const load = createRequire(import.meta.url);
const loaded = new Map<TokenizerName, CountTokens>();

/** Text that looks like a control token ("<|endoftext|>") is text here: what is counted is content, never a conversation. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Where the tokenizer would take more than a few hundred characters as one piece, its time grows with their square. These are all
 * the kinds of pieces there are: letters, blanks, signs, and ends of lines between slashes. (Digits come in threes.)
 */
const LONG_RUN = /[\p{L}\p{M}]{400}|\s{400}|[^\s\p{L}\p{N}]{400}|[\r\n/]{400}/u;
const LONG = 400;
const LONG_PIECE = 256;

/** Beyond this a run counts as one token for each byte: never too few, and nobody wants to see it. */
const MAX_RUN = 1_000_000;

export function tokenizerNamed(name: TokenizerName): CountTokens {
  let count = loaded.get(name);
  if (count === undefined) {
    count = loadTokenizer(name);
    loaded.set(name, count);
  }
  return count;
}

function loadTokenizer(name: TokenizerName): CountTokens {
  const { countTokens } = load(`gpt-tokenizer/encoding/${name}`) as Encoding;
  let pairs: BytePairs | undefined;
  return (text) => {
    if (!mayHaveLongRun(text) || !LONG_RUN.test(text)) return countTokens(text, AS_TEXT);
    const splitters = load("gpt-tokenizer/encodingParams/constants") as Splitters;
    const splitter = name === "o200k_base" ? splitters.O200K_TOKEN_SPLIT_REGEX : splitters.CL100K_TOKEN_SPLIT_REGEX;
    let tokens = 0;
    for (const [piece] of text.matchAll(splitter)) {
      if (piece.length <= LONG_PIECE) tokens += countTokens(piece, AS_TEXT);
      else if (piece.length > MAX_RUN) tokens += Buffer.byteLength(piece);
      else tokens += (pairs ??= new BytePairs(ranksOf(name))).count(piece);
    }
    return tokens;
  };
}

/** Whether a long run is possible at all: to look for one takes a third of the time of counting, and hardly a text has one. */
function mayHaveLongRun(text: string): boolean {
  let [blanks, others, breaks] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isBlank = code === 32 || (code >= 9 && code <= 13);
    // What is not ASCII may be either.
    blanks = isBlank || code > 127 ? blanks + 1 : 0;
    others = isBlank ? 0 : others + 1;
    breaks = code === 10 || code === 13 || code === 47 ? breaks + 1 : 0;
    if (blanks >= LONG || others >= LONG || breaks >= LONG) return true;
  }
  return false;
}

function ranksOf(name: TokenizerName): RankedTokens {
  const module = load(`gpt-tokenizer/bpeRanks/${name}`) as RankedTokens | { readonly default: RankedTokens };
  return "default" in module ? module.default : module;
}

/**
 * The tokenizer a model's text is counted with. OpenAI publishes theirs. For models of others, which have none to download, o200k_base is
 * the nearest we have: the count is exact for it and close for them, so a budget for such a model should leave some room.
 */
export function tokenizerOf(model: string): TokenizerName {
  const name = model
    .toLowerCase()
    .replace(/^ft:/, "")
    .replace(/^.*[/:](?=gpt-|text-embedding-)/, "");
  const isOlder = /^(gpt-4(?!o|\.|\d)|gpt-3\.5|gpt-35|text-embedding-(3|ada-002))/.test(name);
  return isOlder ? "cl100k_base" : "o200k_base";
}
