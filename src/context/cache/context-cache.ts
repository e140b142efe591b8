/**
 * Assembled contexts, stored for the case that the same question is asked again about unchanged files: a user who
 * inspects a context, packs it and shows it in another format asks three times. A context depends on the fields of
 * `ContextKey` and on nothing else. A scope names the generation of each tree, which is never used twice, so a stored
 * context fits or is not found.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../../package.json" with { type: "json" };
import type { IndexedTree } from "../../code-index/model/index-scope.ts";
import { secretsDigest } from "../../platform/masking.ts";
import { deepFreeze } from "../../platform/deep-freeze.ts";
import { BlobCache } from "./blob-cache.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { AssembledContext, ContextBudget, TokenizerName } from "../model/context-model.ts";

const MOST = 16;
const LARGEST = 8 * 1024 * 1024;
const AS_BEFORE = "as before";

/** Everything that determines a context outside of plans, with built-in strategies and stages. */
export interface ContextKey {
  readonly question: ContextQuestion;
  readonly trees: readonly IndexedTree[];
  readonly budget: ContextBudget;
  readonly limits: { readonly maxFiles: number | undefined; readonly maxTotalSize: number | undefined };
  readonly tokenizer: TokenizerName;
  /** The names of those that may be selected. */
  readonly strategies: readonly string[];
}

export class ContextCache {
  readonly #blobs: BlobCache;

  /** @param directory that of the indexes. */
  constructor(directory: string) {
    this.#blobs = new BlobCache(join(directory, "contexts"), MOST);
  }

  /** Whether the same was asked before, about any state of the files. */
  hasAnswered(question: ContextQuestion): boolean {
    return this.#blobs.hasAny(digestOf(question));
  }

  /** The stored context; only the durations are replaced, by 0. */
  get(key: ContextKey): AssembledContext | undefined {
    const bytes = this.#blobs.get(keyOf(key));
    if (bytes === undefined) return undefined;
    // Written by `put`, and guarded by a checksum.
    const context = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
    ) as AssembledContext;
    return deepFreeze({
      ...context,
      outcomes: context.outcomes.map((outcome) => ("durationMs" in outcome ? { ...outcome, durationMs: 0 } : outcome)),
      trace: context.trace.map((stage) => ({ ...stage, durationMs: 0, note: stage.note ?? AS_BEFORE })),
    });
  }

  /** Stores only contexts without failures: the next attempt may succeed. */
  put(key: ContextKey, context: AssembledContext): void {
    if (context.outcomes.some(({ status }) => status !== "ran")) return;
    const text = JSON.stringify(context);
    if (text.length <= LARGEST) this.#blobs.put(keyOf(key), Buffer.from(text));
  }
}

function keyOf({ question, ...others }: ContextKey): string {
  return `${digestOf(question)}.${digestOf([program(), secretsDigest(), others])}`;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

/**
 * Another version, or another build of the same, may show something else. In a bundle, this file is all of the program.
 */
function program(): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.url));
  return `${manifest.version} ${size} ${mtimeMs}`;
}
