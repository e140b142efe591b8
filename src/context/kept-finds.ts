/**
 * What strategies found, kept for when the same is asked again of files that have not changed: who inspects a context, packs it and looks at it in
 * another format asks three times. Only strategies whose answer is a function of their input are kept (`ContextStrategy.repeatable`), and only
 * outside of plans, whose knowledge is new at every step. A scope names the generation of each tree, which is never used twice, so an answer
 * fits or is not found. What is taken from here must still be of files of the scope, with the very hashes; but what is shown of them, by
 * strategies of ours, is not worked out a second time only to be compared.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { KeptBlobs } from "./kept-blobs.ts";
import type { ContextRequest, StrategyInput } from "./model.ts";
import { fragmentsProblem, type Fragment } from "./strategy-protocol.ts";

/** To be raised when a strategy finds something else for the same input between two releases. */
const VERSION = `${manifest.version} 2`;
const MOST = 30;
const LARGEST = 4 * 1024 * 1024;

const takenFromHere = new WeakSet<readonly unknown[]>();

/** Whether these were kept, rather than just returned by somebody. */
export function wereKept(fragments: readonly unknown[]): boolean {
  return takenFromHere.has(fragments);
}

export class KeptFinds {
  readonly #blobs: KeptBlobs;

  /** @param directory that of the indexes. */
  constructor(directory: string) {
    this.#blobs = new KeptBlobs(join(directory, "finds"), MOST);
  }

  /** Undefined when nothing of this input may be kept. */
  static for({ plan, scope }: StrategyInput): KeptFinds | undefined {
    const [tree] = scope.trees;
    return plan !== undefined || tree === undefined ? undefined : new KeptFinds(dirname(tree.index));
  }

  /** Whether the same was asked before, of whatever state of the files. */
  hasAnswered(request: ContextRequest): boolean {
    return this.#blobs.hasAny(digestOf(request));
  }

  get(asked: readonly AskedStrategy[], input: StrategyInput): readonly (readonly Fragment[] | undefined)[] {
    return asked.map((one) => {
      const bytes = this.#blobs.get(keyOf(one, input));
      if (bytes === undefined) return undefined;
      // Guarded by a checksum; looked at all the same, as whatever comes from a strategy's thread.
      const found: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
      if (fragmentsProblem(found) !== undefined) return undefined;
      const fragments = found as readonly Fragment[];
      takenFromHere.add(fragments);
      return fragments;
    });
  }

  /** Of all that this strategy finds for this request, whatever becomes of the files: who keeps several things need keep the last one only. */
  nameOf({ strategy, tokens }: AskedStrategy, { request, scope }: StrategyInput): string {
    return digestOf([request, strategy, tokens, scope.trees.map((tree) => ({ ...tree, generation: 0 }))]);
  }

  put(asked: AskedStrategy, fragments: readonly Fragment[], input: StrategyInput): void {
    const text = JSON.stringify(fragments);
    if (text.length <= LARGEST) this.#blobs.put(keyOf(asked, input), Buffer.from(text));
  }
}

export interface AskedStrategy {
  readonly strategy: string;
  readonly tokens: number;
}

function keyOf({ strategy, tokens }: AskedStrategy, { request, scope }: StrategyInput): string {
  return `${digestOf(request)}.${digestOf([VERSION, strategy, tokens, scope.trees])}`;
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}
