/** The contents of the indexes, including files that a view would leave out. */
import * as z from "zod";
import type { IndexScope } from "../../code-index/model/index-scope.ts";

export const LanguageFacts = z.strictObject({
  language: z.string(),
  files: z.int(),
  bytes: z.int(),
  lines: z.int(),
});

export const IndexGapFacts = z.strictObject({ resource: z.string(), path: z.string(), reason: z.string() });

export function unfiltered({ trees }: IndexScope): IndexScope {
  return { trees: trees.map((tree) => ({ ...tree, filter: { include: [], exclude: [], maxFileSize: undefined } })) };
}
