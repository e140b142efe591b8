import type { Corpus } from "./corpus.ts";
import type { BenchSize } from "./measure.ts";
import type { Repomix } from "./repomix.ts";

export interface ContextOptions {
  readonly dir: string;
  readonly size: BenchSize;
  readonly code: readonly Corpus[];
  /** Undefined where it is not installed. */
  readonly repomix: Repomix | undefined;
}
