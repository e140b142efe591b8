/**
 * Prompt caches as the providers keep them. Anthropic's keeps what a request marks and finds it again up to twenty
 * blocks before a mark; those of OpenAI and Google keep every prompt and find its longest common beginning, in steps of
 * 128 tokens. All of them leave prompts below 1,024 tokens alone.
 */
import { createHash } from "node:crypto";

const LEAST = 1_024;
const STEP = 128;
const LOOK_BACK = 20;

export type Count = (text: string) => number;

/** A piece of a prompt in the order in which the provider reads it. */
export interface PromptBlock {
  readonly text: string;
  readonly marked: boolean;
}

export class PromptCache {
  readonly #count: Count;
  readonly #marked = new Set<string>();
  readonly #prompts = new Map<string, string[]>();

  constructor(count: Count) {
    this.#count = count;
  }

  tokens(text: string): number {
    return text === "" ? 0 : this.#count(text);
  }

  /** By marks. */
  marked(blocks: readonly PromptBlock[]): { input: number; cacheRead: number; cacheWrite: number } {
    const ends: { tokens: number; hash: string }[] = [];
    const hash = createHash("sha256");
    let tokens = 0;
    for (const { text } of blocks) {
      tokens += this.tokens(text);
      hash.update(text).update("\0");
      ends.push({ tokens, hash: hash.copy().digest("hex") });
    }
    const marks = blocks.flatMap(({ marked }, index) => (marked ? [index] : []));
    const known = (index: number): boolean => this.#marked.has(ends[index]?.hash ?? "");
    let found = -1;
    for (const mark of marks) {
      for (let at = mark; at >= Math.max(0, mark - LOOK_BACK); at -= 1) if (at > found && known(at)) found = at;
    }
    const cacheRead = ends[found]?.tokens ?? 0;
    const last = ends[marks.at(-1) ?? -1]?.tokens ?? 0;
    const cacheWrite = last < LEAST ? 0 : Math.max(0, last - cacheRead);
    for (const mark of marks) {
      const end = ends[mark];
      if (end !== undefined && end.tokens >= LEAST) this.#marked.add(end.hash);
    }
    return { input: tokens, cacheRead, cacheWrite };
  }

  /** By the longest common beginning with an earlier prompt under the same key. */
  prefixed(prompt: string, key: string): { input: number; cacheRead: number; cacheWrite: number } {
    const before = this.#prompts.get(key) ?? [];
    const common = Math.max(0, ...before.map((one) => commonLength(one, prompt)));
    const tokens = this.tokens(prompt.slice(0, common));
    this.#prompts.set(key, [...before, prompt]);
    const cacheRead = tokens < LEAST ? 0 : Math.floor(tokens / STEP) * STEP;
    return { input: this.tokens(prompt), cacheRead, cacheWrite: 0 };
  }
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}
