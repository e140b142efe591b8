/** What a child plan inherits of its parent's context. Plans have no children yet, so there is no parent and nothing is inherited. */
import type { ScoredFragment } from "../model.ts";
import type { SkeletonCompressor } from "../stages.ts";

export class DepthReductionCompressor implements SkeletonCompressor {
  readonly name = "DepthReductionCompressor";

  compress(): readonly ScoredFragment[] {
    return [];
  }
}
