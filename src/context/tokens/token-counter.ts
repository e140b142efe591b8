import type { TokenizerName } from "../model/context-model.ts";
import type { TokenCache } from "./token-cache.ts";
import { tokenizerNamed } from "./tokenizer.ts";

/**
 * Counts tokens exactly. A text whose parts begin with a visible character other than "/" and end with "\n" has as many
 * tokens as its parts together: both tokenizers split text before they encode it, and never across such a place. The
 * rendering of fragments relies on that (render-context.ts).
 *
 * ```ts
 * const counter = new TokenCounter("o200k_base");
 * counter.count("hello world"); // 2
 * ```
 */
export class TokenCounter {
  readonly tokenizer: TokenizerName;
  readonly #cache: TokenCache | undefined;

  constructor(tokenizer: TokenizerName, cache?: TokenCache) {
    this.tokenizer = tokenizer;
    this.#cache = cache;
  }

  count(text: string): number {
    if (text === "") return 0;
    const compute = (counted: string): number => tokenizerNamed(this.tokenizer)(counted);
    return this.#cache === undefined ? compute(text) : this.#cache.count(this.tokenizer, text, compute);
  }
}
