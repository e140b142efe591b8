/** Finds lines by a regular expression, and files by a glob. Lines that are shown are masked as part of their file. */
import { matchesGlob } from "node:path";
import * as z from "zod";
import { AgentsError } from "../../domain/errors/errors.ts";
import { matching, TOO_SLOW } from "../../domain/text/patient-match.ts";
import { shown } from "../../domain/text/text.ts";
import { LINK } from "../../platform/file-state.ts";
import { maskedText } from "../../platform/masking.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { keptOutputAt } from "./read-tool.ts";
import { matchingFiles, matchingLines, ripgrepProgram, type RipgrepLine } from "./ripgrep.ts";
import { ripgrepIn, searchedPlace, type SearchedPlace } from "./searched-place.ts";
import { tool, type BuiltInTool } from "./tool.ts";

const LINE_LENGTH = 500;
const DEFAULT_LIMIT = 200;

const searchParameters = z.strictObject({
  pattern: z.string().min(1).max(1000).describe("regular expression; (?i) ignores case"),
  path: z.string().optional().describe("file or directory to search; everything unless given"),
  glob: z.string().min(1).optional().describe('only files like this, such as "*.ts" or "src/**/*.py"'),
  ignore_case: z.boolean().default(false),
  context: z.int().min(0).max(20).default(0).describe("lines to show around each match"),
  mode: z.enum(["lines", "files", "count"]).default("lines"),
  limit: z.int().min(1).max(10_000).default(DEFAULT_LIMIT),
});
type Search = z.output<typeof searchParameters>;

type Found =
  | { readonly path: string; readonly line: number; readonly text: string; readonly beside?: true }
  | { readonly path: string; readonly count: number }
  | { readonly path: string };

export const SEARCH_TOOL: BuiltInTool = tool({
  name: "search_files",
  description: "Find lines that match a regular expression, in all files that git does not ignore",
  writes: false,
  parameters: searchParameters,
  paths: ["path"],
  text: (found: readonly Found[], params) => foundText(found, Number(params["limit"] ?? DEFAULT_LIMIT)),
  run: async (search, call) => {
    const { workspace, signal } = call;
    const kept = search.path === undefined ? undefined : await keptOutputAt(search.path, call);
    if (kept !== undefined && search.path !== undefined) return inText(search.path, kept, search);
    const place = await searchedPlace(workspace, search.path);
    const lines = await foundLines(workspace, place, search, signal, ripgrepProgram());
    return search.mode === "lines" ? withTexts(workspace, lines) : counted(lines, search);
  },
});

export const FIND_TOOL: BuiltInTool = tool({
  name: "find_files",
  description:
    'List the files whose path fits a glob, such as "*.ts" or "src/**/*.test.py"; git-ignored ones are left out',
  writes: false,
  parameters: z.strictObject({
    glob: z.string().min(1).max(1000),
    path: z.string().optional().describe("directory that the glob is relative to"),
    limit: z.int().min(1).max(10_000).default(DEFAULT_LIMIT),
  }),
  paths: ["path"],
  text: (found: readonly string[], params) => {
    const limit = Number(params["limit"] ?? DEFAULT_LIMIT);
    if (found.length === 0) return "No file fits.";
    return [...found, ...(found.length < limit ? [] : [`[the first ${limit}; narrow the glob or raise limit]`])].join(
      "\n",
    );
  },
  run: async ({ glob, path, limit }, { workspace, signal }) => {
    const place = await searchedPlace(workspace, path);
    const found: string[] = [];
    const take = (one: string): boolean => {
      const whole = `${place.prefix}${one}`;
      if (place.files === undefined || place.files.has(whole)) found.push(whole);
      return found.length < limit;
    };
    const ripgrep = ripgrepIn(place, workspace, [glob.replace(/^\.?\//, "")], signal, ripgrepProgram());
    if (ripgrep === undefined) for (const file of scanned(place, glob)) take(file);
    else await matchingFiles(ripgrep, take);
    return found.slice(0, limit);
  },
});

interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly beside: boolean;
}

export async function foundLines(
  workspace: Workspace,
  place: SearchedPlace,
  search: Search,
  signal: AbortSignal,
  program: string | undefined,
): Promise<FoundLine[]> {
  const { glob, context, limit, mode } = search;
  const found: FoundLine[] = [];
  const seen = new Set<string>();
  let matches = 0;
  const take = ({ path, line, beside }: RipgrepLine): boolean => {
    const whole = `${place.prefix}${path}`;
    if (place.files !== undefined && !place.files.has(whole)) return true;
    seen.add(whole);
    if (!beside) matches += 1;
    const size = mode === "lines" ? matches : seen.size;
    if (size > limit) return false;
    found.push({ path: whole, line, beside });
    return true;
  };
  const ripgrep = ripgrepIn(place, workspace, glob === undefined ? [] : [glob.replace(/^\.?\//, "")], signal, program);
  if (ripgrep === undefined) await scan(workspace, place, search, take, signal);
  else
    await workspace.reading(() =>
      matchingLines(
        ripgrep,
        {
          pattern: search.pattern,
          ignoreCase: search.ignore_case,
          context: mode === "lines" ? context : 0,
          filesOnly: mode === "files",
          file: place.file,
        },
        take,
      ),
    );
  return found;
}

/** Of a key that goes over several lines none looks like a secret by itself: they are masked as part of their file. */
async function withTexts(workspace: Workspace, found: readonly FoundLine[]): Promise<Found[]> {
  const files = new Map<string, readonly string[]>();
  for (const path of new Set(found.map((one) => one.path))) {
    const state = await workspace.read(path);
    const text = state === undefined ? "" : Buffer.from(state.content).toString("utf8");
    files.set(path, maskedText(text).split("\n"));
  }
  return found.map(({ path, line, beside }) => ({
    path,
    line,
    text: (files.get(path)?.[line - 1] ?? "").replace(/\r$/, "").slice(0, LINE_LENGTH).toWellFormed(),
    ...(beside ? { beside: true as const } : {}),
  }));
}

function counted(found: readonly FoundLine[], { mode }: Search): Found[] {
  return [...Map.groupBy(found, ({ path }) => path)].map(([path, lines]) =>
    mode === "files" ? { path } : { path, count: lines.length },
  );
}

/** Grouped by file, so that a path is written once. */
function foundText(found: readonly Found[], limit: number): string {
  if (found.length === 0) return "Nothing matches.";
  const parts: string[] = [];
  let last: { readonly path: string; readonly line: number } | undefined;
  for (const one of found) {
    if (!("line" in one)) {
      parts.push("count" in one ? `${one.path}: ${one.count}` : one.path);
      continue;
    }
    if (last?.path !== one.path) parts.push(`${last === undefined ? "" : "\n"}${one.path}`);
    else if (one.line > last.line + 1 && found.some((other) => "beside" in other)) parts.push("  --");
    parts.push(`  ${one.line}${one.beside === true ? "-" : ":"} ${one.text}`);
    last = one;
  }
  const size = found.filter((one) => !("beside" in one)).length;
  if (size >= limit) parts.push(`[the first ${limit}; narrow the search with path or glob, or raise limit]`);
  return parts.join("\n");
}

/** In the kept output of a command. */
function inText(path: string, text: string, search: Search): Found[] {
  const lines = text.split("\n");
  const hits = hitsIn(expressionOf(search), lines).slice(0, search.limit);
  if (search.mode !== "lines")
    return hits.length === 0 ? [] : [search.mode === "files" ? { path } : { path, count: hits.length }];
  return hits.map((hit) => ({ path, line: hit + 1, text: (lines[hit] ?? "").slice(0, LINE_LENGTH).toWellFormed() }));
}

/** Looks at several files at once: each look costs a third of a millisecond besides. */
const SEARCHED_AT_ONCE = 64;

/** Without ripgrep: slower, without context lines, and only in the files of the plan. */
async function scan(
  workspace: Workspace,
  place: SearchedPlace,
  search: Search,
  take: (line: RipgrepLine) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const expression = expressionOf(search);
  const files = place.file === undefined ? scanned(place, search.glob) : [place.file];
  for (let next = 0; next < files.length; next += SEARCHED_AT_ONCE) {
    signal.throwIfAborted();
    const lines: { readonly path: string; readonly line: number; readonly text: string }[] = [];
    for (const path of files.slice(next, next + SEARCHED_AT_ONCE)) {
      const state = await workspace.read(`${place.prefix}${path}`);
      if (state === undefined || state.mode === LINK || state.content.includes(0)) continue;
      const text = Buffer.from(state.content).toString("utf8");
      for (const [index, line] of text.split("\n").entries()) lines.push({ path, line: index + 1, text: line });
    }
    const hits = hitsIn(
      expression,
      lines.map(({ text }) => text),
    );
    for (const hit of hits) {
      const found = lines[hit];
      if (found !== undefined && !take({ path: found.path, line: found.line, beside: false })) return;
    }
  }
}

/** Relative to the place. A glob without a slash fits names at any depth. */
function scanned({ files = new Set(), prefix }: SearchedPlace, glob: string | undefined): string[] {
  const below = [...files].filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length));
  if (glob === undefined) return below;
  const whole = glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`;
  return below.filter((file) => matchesGlob(file, whole));
}

function hitsIn(expression: RegExp, lines: readonly string[]): readonly number[] {
  const hits = matching(expression, lines);
  if (hits === undefined) throw new AgentsError("tool_failed", `The pattern ${shown(expression.source)} ${TOO_SLOW}.`);
  return hits;
}

/** As ripgrep reads it: `(?i)` in front ignores case, and what only Unicode mode refuses is fine. */
function expressionOf({ pattern, ignore_case: ignoreCase }: Search): RegExp {
  const inline = pattern.startsWith("(?i)");
  const source = inline ? pattern.slice(4) : pattern;
  const flags = inline || ignoreCase ? "i" : "";
  for (const mode of ["u", ""]) {
    try {
      return new RegExp(source, `${flags}${mode}`);
    } catch (error) {
      if (mode === "")
        throw new AgentsError("tool_failed", `The pattern ${shown(pattern)} is not valid.`, { cause: error });
    }
  }
  throw new Error("a pattern is either compiled or refused");
}
