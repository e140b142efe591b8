import { join } from "node:path";
import { openScopedIndex } from "../../code-index/open-scoped-index.ts";
import type { IndexScope } from "../../code-index/index-scope.ts";
import type { IndexGap } from "../../code-index/scoped-index.ts";
import { TokenCache } from "../../context/tokens/token-cache.ts";
import { TokenCounter } from "../../context/tokens/token-counter.ts";
import { tokenizerOf } from "../../context/tokens/tokenizer.ts";
import type { EmbeddingEndpoint } from "../../context/model.ts";
import { AgentsError, UsageError } from "../../domain/errors.ts";
import type { ContextPlace } from "../../plans/context-places.ts";
import { indexPlaces, type IndexedPlace } from "../../plans/index-places.ts";
import { languagesOf, summarize, type LanguageSummary } from "../../plans/index-summary.ts";
import { directorySource, projectSource, type ContextSource } from "../../plans/project-context.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { indexData, indexMessages } from "../context-messages.ts";
import { indexProgress, uninterrupted } from "../context-run.ts";
import { number } from "../context-view.ts";
import { bytes, count } from "../format.ts";
import { progressOf } from "../file-progress.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { oneLine } from "../terminal-text.ts";
import { toned, type Element } from "../view.ts";

/** Making the indexes, and what there is in them. */
const NAMED_GAPS = 20;
const LARGEST = 10;

export async function contextIndex(context: CommandContext, input: Input): Promise<Outcome> {
  const source = await projectSource(await context.store(), input.argument(0), "default");
  const { scope, indexed } = await bringUpToDate(context, source, input.flag("rebuild"));
  const { embedding } = await context.contextConfiguration(source.project);
  const embedded = embedding === undefined ? undefined : await embedAll(context, scope, embedding);
  using index = openScopedIndex(unfiltered(scope));
  const languages = languagesOf(index.files());
  const gaps = index.gaps();
  const files = languages.reduce((sum, one) => sum + one.files, 0);
  const took = indexed.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return {
    data: {
      project: source.project ?? null,
      files,
      languages: languages.map(languageData),
      gaps: gaps.map((gap) => ({ ...gap })),
      duration_ms: Math.round(took),
      embedded: embedded ?? null,
      resources: indexData(indexed),
    },
    view: [languagesTable(languages), ...gapLines(gaps)],
    messages: [
      ...indexed.flatMap(indexMessages),
      ...(embedding === undefined ? [] : embeddedMessages(embedded ?? 0, embedding.model)),
      {
        level: "info",
        text: `${count(files, "file")} of ${source.project} ${files === 1 ? "is" : "are"} indexed; it took ${(took / 1_000).toFixed(1)} s.`,
      },
    ],
    next: [`agents project context inspect ${source.project} --query "<question>"`],
  };
}

export async function contextAnalyze(context: CommandContext, input: Input): Promise<Outcome> {
  const source = await analyzed(context, input);
  const { scope, indexed } = await bringUpToDate(context, source, false);
  const summary = summarize(unfiltered(scope), { largest: LARGEST });
  const { model, tokenizer = tokenizerOf(model ?? "") } = await context.contextConfiguration(source.project);
  using cache = TokenCache.in(join(context.paths.dataDir, "index"));
  const counter = new TokenCounter(tokenizer, cache);
  const largest = summary.largest.map(({ text, ...file }) => ({ ...file, tokens: counter.count(text) }));
  cache.flush();
  return {
    data: {
      project: source.project ?? null,
      roots: source.places.map(({ resource, root }) => ({ resource, path: root })),
      files: summary.files,
      bytes: summary.bytes,
      lines: summary.lines,
      languages: summary.languages.map(languageData),
      definitions: summary.definitions,
      largest: largest.map(({ resource, path, size, lines, language, tokens }) => ({
        resource,
        path,
        size,
        lines,
        language,
        tokens,
      })),
      tokenizer,
      gaps: summary.gaps.map((gap) => ({ ...gap })),
      index_bytes: summary.indexBytes,
      index: indexData(indexed),
    },
    view: [
      {
        kind: "fields",
        title: source.project ?? source.name,
        rows: [
          ["files", `${number(summary.files)}, ${number(summary.lines)} lines, ${bytes(summary.bytes)}`],
          ["definitions", definitionsText(summary.definitions)],
          ["index", bytes(summary.indexBytes)],
        ],
      },
      languagesTable(summary.languages),
      {
        kind: "table",
        title: "Largest files",
        columns: ["File", "Size", "Lines", { keep: "Tokens" }],
        rows: largest.map(({ path, size, lines, tokens }) => [path, bytes(size), number(lines), number(tokens)]),
        empty: "",
      },
      ...gapLines(summary.gaps),
    ],
    messages: indexed.flatMap(indexMessages),
  };
}

async function analyzed(context: CommandContext, input: Input): Promise<ContextSource> {
  const [project, path] = [input.optionalArgument(0), input.text("path")];
  if (project === undefined) return directorySource(path ?? process.cwd(), path !== undefined);
  if (path === undefined) return projectSource(await context.store(), project, "default");
  throw new UsageError("Name a project or a --path, not both.", { kept: "Nothing was read." });
}

async function bringUpToDate(
  context: CommandContext,
  { places }: { readonly places: readonly ContextPlace[] },
  rebuild: boolean,
): Promise<{ scope: IndexScope; indexed: readonly IndexedPlace[] }> {
  return uninterrupted(async (signal) => {
    const { onProgress, end } = await indexProgress(context);
    using _ = { [Symbol.dispose]: end };
    return await indexPlaces(places, { dataDir: context.paths.dataDir, signal, onProgress, rebuild });
  });
}

/** Only what the default view lets through goes to the endpoint. */
async function embedAll(context: CommandContext, scope: IndexScope, embedding: EmbeddingEndpoint): Promise<number> {
  const { embedScope } = await import("../../context/strategies/semantic-embedding.ts");
  const { EmbeddingBill } = await import("../../plans/embedding-bill.ts");
  const isForPeople = !["json", "yaml"].includes(await context.format());
  return uninterrupted(async (signal) => {
    const progress = progressOf(`embedding by ${embedding.model}`);
    using _ = { [Symbol.dispose]: progress.end };
    const onProgress = isForPeople ? progress.update : (): void => undefined;
    const bill = await EmbeddingBill.open(await context.budget(), embedding, scope, "");
    if (bill === undefined) return 0;
    try {
      return await embedScope({ scope, embedding: bill.endpoint, signal, onProgress });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new AgentsError("resource_failed", `Embedding failed: ${error instanceof Error ? error.message : ""}.`, {
        cause: error,
        kept: "The index is complete, and what was embedded so far is kept.",
        next: ["agents config get context.embedding.url", "repeat the command"],
      });
    } finally {
      await bill.settle();
    }
  });
}

function embeddedMessages(files: number, model: string): readonly Message[] {
  return info(
    files === 0 ? `Nothing had to be embedded by ${model}.` : `${count(files, "file")} embedded by ${model}.`,
  );
}

/** All that was indexed, whatever a view would leave out. */
function unfiltered({ trees }: IndexScope): IndexScope {
  return { trees: trees.map((tree) => ({ ...tree, filter: { include: [], exclude: [], maxFileSize: undefined } })) };
}

function languageData({ language, files, bytes: size, lines }: LanguageSummary): Record<string, unknown> {
  return { language, files, bytes: size, lines };
}

function languagesTable(languages: readonly LanguageSummary[]): Element {
  return {
    kind: "table",
    title: "Languages",
    columns: [{ keep: "Language" }, "Files", "Lines", "Size"],
    rows: languages.map(({ language, files, lines, bytes: size }) => [
      language,
      number(files),
      number(lines),
      bytes(size),
    ]),
    empty: "No file is indexed.",
  };
}

function definitionsText(definitions: Readonly<Partial<Record<string, number>>>): string {
  const parts = Object.entries(definitions)
    .toSorted(([, a = 0], [, b = 0]) => b - a)
    .map(([kind, quantity = 0]) => `${number(quantity)} ${kind}`);
  return parts.join(", ") || "none";
}

function gapLines(gaps: readonly IndexGap[]): Element[] {
  if (gaps.length === 0) return [];
  const rows = gaps
    .slice(0, NAMED_GAPS)
    .map(({ resource, path, reason }) => [oneLine(`${resource}:${path}`), toned(reason, "warn")] as const);
  const more = gaps.length - rows.length;
  return [
    {
      kind: "fields",
      title: "Not, or not completely, indexed",
      rows: [...rows, ...(more > 0 ? [["others", toned(`${more} more`, "dim")] as const] : [])],
    },
  ];
}
