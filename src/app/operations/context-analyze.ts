import { join } from "node:path";
import * as z from "zod";
import { directorySource, projectSource, type ContextSource } from "../../catalog/project-context.ts";
import { summarize } from "../../context/front/index-summary.ts";
import { TokenCache } from "../../context/tokens/token-cache.ts";
import { TokenCounter } from "../../context/tokens/token-counter.ts";
import { tokenizerOf } from "../../context/tokens/tokenizer.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { bringUpToDate } from "../procedures/assemble-context.ts";
import { IndexGapFacts, LanguageFacts, unfiltered } from "../procedures/index-report.ts";
import { IndexFacts, indexFacts } from "../queries/context-facts.ts";

const LARGEST = 10;

const Input = z.strictObject({
  project: z.string().optional(),
  /** The directory that the caller is in. */
  directory: z.string(),
  path: z.string().optional(),
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    project: z.string().nullable(),
    roots: z.array(z.strictObject({ resource: z.string(), path: z.string() })),
    files: z.int(),
    bytes: z.int(),
    lines: z.int(),
    languages: z.array(LanguageFacts),
    definitions: z.record(z.string(), z.int()),
    largest: z.array(
      z.strictObject({
        resource: z.string(),
        path: z.string(),
        size: z.int(),
        lines: z.int(),
        language: z.string(),
        tokens: z.int(),
      }),
    ),
    tokenizer: z.string(),
    gaps: z.array(IndexGapFacts),
    indexBytes: z.int(),
    index: z.array(IndexFacts),
  }),
  run: async (app, input, call) => {
    const source = await sourceOf(app, input);
    const { scope, indexed } = await bringUpToDate(app, { places: source.places, rebuild: false }, call);
    const summary = summarize(unfiltered(scope), { largest: LARGEST });
    const { model, tokenizer = tokenizerOf(model ?? "") } = await app.contextConfiguration(source.project);
    using cache = TokenCache.in(join(app.paths.dataDir, "index"));
    const counter = new TokenCounter(tokenizer, cache);
    const largest = summary.largest.map(({ text, resource, path, size, lines, language }) => ({
      resource,
      path,
      size,
      lines,
      language,
      tokens: counter.count(text),
    }));
    cache.flush();
    return {
      project: source.project ?? null,
      roots: source.places.map(({ resource, root }) => ({ resource, path: root })),
      files: summary.files,
      bytes: summary.bytes,
      lines: summary.lines,
      languages: summary.languages.map(({ language, files, bytes, lines }) => ({ language, files, bytes, lines })),
      definitions: summary.definitions,
      largest,
      tokenizer,
      gaps: summary.gaps.map(({ resource, path, reason }) => ({ resource, path, reason })),
      indexBytes: summary.indexBytes,
      index: indexFacts(indexed),
    };
  },
});

async function sourceOf(app: App, { project, directory, path }: z.output<typeof Input>): Promise<ContextSource> {
  if (project === undefined) return directorySource(path ?? directory, path !== undefined);
  if (path === undefined) return projectSource(await app.store(), project, "default");
  throw new UsageError("Name a project or a --path, not both.", { kept: "Nothing was read." });
}
