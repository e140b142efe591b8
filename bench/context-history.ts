/**
 * Whether a context that is asked for with the description of a real change shows the code that the change touched: the
 * share of its files of which anything is shown, the share of its hunks whose lines are all shown, and the share of its
 * files among the first ten. Beside BM25 over pieces of forty lines, BM25 over whole files, and a ranking like Aider's.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openScopedIndex } from "../src/code-index/search/open-scoped-index.ts";
import { POINTERS_BUDGET } from "../src/domain/context/context-question.ts";
import type { Source } from "../src/context/testing/answer-sets.ts";
import { ContextLab } from "../src/context/testing/recall.ts";
import { TokenCounter } from "../src/context/tokens/token-counter.ts";
import { aiderLike } from "./aider-like.ts";
import { bm25, type Piece, piecesOf } from "./bm25.ts";
import { type Change, changes, type Hunk } from "./history-changes.ts";
import { type BenchSize, met, scratchDirectory, table } from "./measure.ts";

const BUDGETS = [4_000, 8_000, 32_000] as const;
const FIRST = 10;
const OURS = "agents context";
const CONTESTANTS = [OURS, "BM25, 40-line pieces", "BM25, whole files", "like Aider's map"] as const;
type Contestant = (typeof CONTESTANTS)[number];

/** The part of the code that a contestant shows within a budget. */
interface Shown {
  /** Of each file of which anything is shown: the lines shown in full. */
  readonly lines: ReadonlyMap<string, readonly Hunk[]>;
  /** The files in the order of their rank. */
  readonly ranked: readonly string[];
}

interface Result {
  readonly change: Change;
  readonly contestant: Contestant;
  readonly tokens: number;
  readonly files: number;
  readonly hunks: number;
  readonly first: number;
}

export async function run(options: { readonly dir: string; readonly size: BenchSize }): Promise<void> {
  await using scratch = await scratchDirectory(options.dir);
  const results: Result[] = [];
  for (const [at, change] of changes(options.size).entries()) {
    const dir = join(scratch.path, String(at));
    await mkdir(dir);
    results.push(...(await judge(change, dir)));
    await rm(dir, { recursive: true, force: true });
  }
  const heldOut = results.filter(({ change }) => change.heldOut);
  report("histories that nothing was tuned on", heldOut);
  report(
    "histories that it was tuned on",
    results.filter(({ change }) => !change.heldOut),
  );
  console.log(`\nper history, within 32,000 tokens: files / hunks, first ${FIRST}`);
  console.log(perHistory(results));
  aims(heldOut.length > 0 ? heldOut : results);
}

async function judge(change: Change, dir: string): Promise<readonly Result[]> {
  const root = join(dir, "code");
  change.writeTree(root);
  await using lab = await ContextLab.of(root, join(dir, "data"));
  using index = openScopedIndex(lab.scope);
  const sources = index.files().map((file): Source => ({ path: file.path, text: index.text(file) }));
  const counter = new TokenCounter("o200k_base");
  const count = (text: string): number => counter.count(text);
  const byPieces = bm25(piecesOf(sources, 40), change.message);
  const byFiles = bm25(piecesOf(sources, Infinity), change.message);
  const question = { query: change.message, focus: [] };
  const results: Result[] = [];
  for (const tokens of BUDGETS) {
    const shown: Readonly<Record<Contestant, Shown>> = {
      [OURS]: await oursWithin(lab, question, tokens),
      "BM25, 40-line pieces": piecesWithin(byPieces, tokens, count),
      "BM25, whole files": piecesWithin(byFiles, tokens, count),
      "like Aider's map": mapped(aiderLike(index, question, tokens, count)),
    };
    for (const contestant of CONTESTANTS) {
      results.push({ change, contestant, tokens, ...sharesOf(change, shown[contestant]) });
    }
  }
  return results;
}

async function oursWithin(
  lab: ContextLab,
  question: { readonly query: string; readonly focus: readonly string[] },
  tokens: number,
): Promise<Shown> {
  const context = await lab.ask(question, tokens, tokens <= POINTERS_BUDGET ? { rendering: "pointers" } : {});
  const lines = new Map<string, Hunk[]>();
  for (const { provenance, level } of context.fragments) {
    if (provenance === undefined || level === "listing") continue;
    const own = lines.get(provenance.path) ?? [];
    if (level === "full") own.push([provenance.startLine, provenance.endLine]);
    lines.set(provenance.path, own);
  }
  const ranked = [...lines.keys()];
  for (const path of withSignature(context.preamble)) if (!lines.has(path)) lines.set(path, []);
  return { lines, ranked };
}

/** A context of pointers has signatures, as a map has. Its list of files is a mere mention, and does not count. */
function withSignature(preamble: string): readonly string[] {
  const [, lines = ""] = /^# Signatures\n((?:- .*\n)*)/m.exec(preamble) ?? [];
  return Array.from(lines.matchAll(/^- code:(.+?):\d+: /gm), ([, path = ""]) => path);
}

/** In the order of their rank until one does not fit. */
function piecesWithin(pieces: readonly Piece[], tokens: number, count: (text: string) => number): Shown {
  const lines = new Map<string, Hunk[]>();
  let left = tokens;
  for (const { path, first, last, text } of pieces) {
    left -= count(`# ${path} (lines ${first}-${last})\n\`\`\`\n${text}\n\`\`\`\n`);
    if (left < 0) break;
    lines.set(path, [...(lines.get(path) ?? []), [first, last]]);
  }
  return { lines, ranked: [...new Set(pieces.map(({ path }) => path))] };
}

/** A map shows signatures, never the lines of a body. */
function mapped(files: ReadonlySet<string>): Shown {
  return { lines: new Map(Array.from(files, (path) => [path, []])), ranked: [...files] };
}

function sharesOf({ touched }: Change, { lines, ranked }: Shown): Pick<Result, "files" | "hunks" | "first"> {
  const first = new Set(ranked.slice(0, FIRST));
  const paths = [...touched.keys()];
  const hunks = [...touched].flatMap(([path, own]) => own.map((hunk) => ({ path, hunk })));
  return {
    files: paths.filter((path) => lines.has(path)).length / paths.length,
    hunks: hunks.filter(({ path, hunk }) => isShown(hunk, lines.get(path) ?? [])).length / hunks.length,
    first: paths.filter((path) => first.has(path)).length / paths.length,
  };
}

function isShown([first, last]: Hunk, lines: readonly Hunk[]): boolean {
  let next = first;
  for (const [start, end] of lines.toSorted(([a], [b]) => a - b)) {
    if (start <= next && end >= next) next = end + 1;
  }
  return next > last;
}

function report(what: string, results: readonly Result[]): void {
  const count = new Set(results.map(({ change }) => change)).size;
  if (count === 0) return;
  console.log(`\n${what}: ${count} changes`);
  const budgets = BUDGETS.map((tokens) => tokens.toLocaleString("en-US"));
  console.log(
    table([
      ["", ...budgets.flatMap((tokens) => [`files ${tokens}`, `hunks ${tokens}`]), `first ${FIRST}`],
      ...CONTESTANTS.map((contestant) => {
        const own = results.filter((result) => result.contestant === contestant);
        const within = (tokens: number): readonly Result[] => own.filter((result) => result.tokens === tokens);
        return [
          contestant,
          ...BUDGETS.flatMap((tokens) => [percent(within(tokens), "files"), percent(within(tokens), "hunks")]),
          percent(within(32_000), "first"),
        ];
      }),
    ]),
  );
}

function perHistory(results: readonly Result[]): string {
  const last = results.filter(({ tokens }) => tokens === 32_000);
  const histories = Map.groupBy(last, ({ change }) => change.history);
  return table([
    ["", "changes", ...CONTESTANTS.slice(0, 2)],
    ...Array.from(histories, ([history, own]) => [
      `${history}${own[0]?.change.heldOut === true ? "" : " (tuned)"}`,
      String(own.length / CONTESTANTS.length),
      ...CONTESTANTS.slice(0, 2).map((contestant) => {
        const its = own.filter((result) => result.contestant === contestant);
        return `${percent(its, "files")} / ${percent(its, "hunks")}, ${percent(its, "first")}`;
      }),
    ]),
  ]);
}

function aims(results: readonly Result[]): void {
  const of = (contestant: Contestant, within: number, what: Share): number =>
    mean(
      results.filter(({ contestant: one, tokens }) => one === contestant && tokens === within),
      what,
    );
  const others = CONTESTANTS.filter((one) => one !== OURS);
  for (const tokens of BUDGETS) {
    for (const what of ["files", "hunks"] as const) {
      const best = Math.max(...others.map((one) => of(one, tokens, what)));
      const budget = tokens.toLocaleString("en-US");
      console.log(`${what} within ${budget} tokens ahead of the best of them: ${met(of(OURS, tokens, what) > best)}`);
    }
  }
  console.log(`hunks ≥ 50 % within 32,000 tokens: ${met(of(OURS, 32_000, "hunks") >= 0.5)}`);
  console.log(`first ${FIRST} ≥ 55 %: ${met(of(OURS, 32_000, "first") >= 0.55)}`);
}

type Share = "files" | "hunks" | "first";

function mean(results: readonly Result[], what: Share): number {
  return results.reduce((sum, result) => sum + result[what], 0) / results.length;
}

function percent(results: readonly Result[], what: Share): string {
  return `${(mean(results, what) * 100).toFixed(0)} %`;
}
