/**
 * When all files fit, nothing has to be chosen: each file is shown whole, once, whichever parts the strategies found.
 * They still decide on the order, by their fragments of each file. Without this rule a repository of a few small files
 * was cut into signatures, or not shown at all because each of its pieces is too small to be worth a heading.
 */
import type { IndexedFile } from "../../code-index/model/scoped-index.ts";
import { compareUse, placeOf } from "../model/compare.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { FoundFragment } from "../model/context-model.ts";
import { renderFragment } from "../model/render-context.ts";
import { foundBy } from "../stages/content-hash-deduplicator.ts";
import type { Vetting } from "./fragment-vetting.ts";
import type { ViewLimits } from "./view-limits.ts";

/**
 * Code has 3 to 4 bytes for each token. A tree with more bytes than this is not read just to see that it does not fit.
 */
const MOST_BYTES_PER_TOKEN = 16;

export interface WholeFilesInput {
  readonly question: ContextQuestion;
  /** All files of the scope. */
  readonly files: readonly IndexedFile[];
  readonly found: readonly FoundFragment[];
  readonly tokens: number;
  readonly limits: ViewLimits;
  readonly vetting: Vetting;
  readonly count: (text: string) => number;
}

/** Undefined when not all files fit, or when the question asks for one strategy's view or for less detail. */
export function wholeFiles(input: WholeFilesInput): readonly FoundFragment[] | undefined {
  const { question, files, found, tokens, limits, vetting, count } = input;
  if (question.strategy !== undefined || question.depth !== "full" || question.requiredBackends.length > 0)
    return undefined;
  const { maxFiles = Infinity, maxTotalSize = Infinity } = limits;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > tokens * MOST_BYTES_PER_TOKEN || size > maxTotalSize || files.length > maxFiles) return undefined;
  const byFile = Map.groupBy(found, placeOf);
  const others = found.filter(({ provenance }) => provenance === undefined);
  let left = tokens - others.reduce((sum, fragment) => sum + count(renderFragment(fragment)), 0);
  const whole: FoundFragment[] = [];
  for (const file of files) {
    const parts = (byFile.get(`${file.resource}:${file.path}`) ?? []).toSorted(compareUse);
    const fragment = vetting.whole(file, {
      relevance: parts[0]?.relevance ?? 0,
      reason: parts[0]?.reason ?? "everything fits",
      ...(parts.length === 0 ? { strategies: [], ranks: {} } : foundBy(parts)),
    });
    if (fragment === undefined) continue;
    left -= count(renderFragment(fragment));
    if (left < 0) return undefined;
    whole.push(fragment);
  }
  return [...whole, ...others];
}
