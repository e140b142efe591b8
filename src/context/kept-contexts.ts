/**
 * Contexts that were put together before, kept for when the same is asked again of files that have not changed: who inspects a context, packs
 * it and looks at it in another format asks three times. A context depends on what `ContextQuestion` names and on nothing else. A
 * scope names the generation of each tree, which is never used twice, so a context fits or is not found.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import type { IndexedTree } from "../code-index/index-scope.ts";
import { secretsDigest } from "../store/masking.ts";
import { frozen } from "./frozen.ts";
import { KeptBlobs } from "./kept-blobs.ts";
import type { AssembledContext, ContextBudget, ContextRequest, TokenizerName } from "./model.ts";

const MOST = 16;
const LARGEST = 8 * 1024 * 1024;
const AS_BEFORE = "as before";

/** All that decides about a context outside of plans, with strategies and stages of ours. */
export interface ContextQuestion {
  readonly request: ContextRequest;
  readonly trees: readonly IndexedTree[];
  readonly budget: ContextBudget;
  readonly limits: { readonly maxFiles: number | undefined; readonly maxTotalSize: number | undefined };
  readonly tokenizer: TokenizerName;
  /** The names of those that may be selected. */
  readonly strategies: readonly string[];
}

export class KeptContexts {
  readonly #blobs: KeptBlobs;

  /** @param directory that of the indexes. */
  constructor(directory: string) {
    this.#blobs = new KeptBlobs(join(directory, "contexts"), MOST);
  }

  /** Whether the same was asked before, of whatever state of the files. */
  hasAnswered(request: ContextRequest): boolean {
    return this.#blobs.hasAny(digestOf(request));
  }

  /** As it was, but for the time it takes: none. */
  get(question: ContextQuestion): AssembledContext | undefined {
    const bytes = this.#blobs.get(keyOf(question));
    if (bytes === undefined) return undefined;
    // Written by `put`, and guarded by a checksum.
    const context = JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
    ) as AssembledContext;
    return frozen({
      ...context,
      outcomes: context.outcomes.map((outcome) => ("durationMs" in outcome ? { ...outcome, durationMs: 0 } : outcome)),
      trace: context.trace.map((stage) => ({ ...stage, durationMs: 0, note: stage.note ?? AS_BEFORE })),
    });
  }

  /** Only what nothing went wrong with: the next time it may go well. */
  put(question: ContextQuestion, context: AssembledContext): void {
    if (context.outcomes.some(({ status }) => status !== "ran")) return;
    const text = JSON.stringify(context);
    if (text.length <= LARGEST) this.#blobs.put(keyOf(question), Buffer.from(text));
  }
}

function keyOf({ request, ...others }: ContextQuestion): string {
  return `${digestOf(request)}.${digestOf([program(), secretsDigest(), others])}`;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

/** Another version, or another build of the same, may show something else. In a bundle, this file is all of the program. */
function program(): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.url));
  return `${manifest.version} ${size} ${mtimeMs}`;
}
