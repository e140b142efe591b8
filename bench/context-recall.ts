/**
 * Whether the right parts of real code are found: the share of a known answer's files that a context of 8,000 and of
 * 64,000 tokens shows, for each strategy alone, all together, a ranking like Aider's, and repomix's compressed pack cut
 * to the same budget.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openScopedIndex } from "../src/code-index/search/open-scoped-index.ts";
import { type Question, questionsAbout } from "../src/context/testing/answer-sets.ts";
import { ContextLab, JUDGED, recallOf, shownFiles } from "../src/context/testing/recall.ts";
import { TokenCounter } from "../src/context/tokens/token-counter.ts";
import { aiderLike } from "./aider-like.ts";
import type { ContextOptions } from "./context-options.ts";
import { type Corpus, writeSources } from "./corpus.ts";
import { met, table } from "./measure.ts";
import type { Repomix } from "./repomix.ts";

const BUDGETS = [8_000, 64_000] as const;
const TOGETHER = "all together";
const CONTESTANTS = [...JUDGED, TOGETHER, "like Aider's map", "repomix --compress, cut"] as const;
type Contestant = (typeof CONTESTANTS)[number];

interface Result {
  readonly corpus: string;
  readonly kind: Question["kind"];
  readonly contestant: Contestant;
  readonly tokens: number;
  readonly recall: number;
}

export async function recall(options: ContextOptions): Promise<void> {
  const names = { smoke: 1, quick: 6, full: 20 }[options.size];
  const results: Result[] = [];
  for (const corpus of options.code) {
    const dir = join(options.dir, corpus.name);
    await mkdir(dir, { recursive: true });
    results.push(...(await judge(corpus, dir, options.repomix, names)));
  }
  for (const tokens of BUDGETS) {
    const own = results.filter((result) => result.tokens === tokens);
    console.log(`\nshown of what an answer needs, within ${tokens.toLocaleString("en-US")} tokens`);
    console.log(tableOf(own, options.code));
    const best = Math.max(...JUDGED.map((contestant) => meanOf(own, contestant)));
    const together = meanOf(own, TOGETHER);
    console.log(
      `${TOGETHER} ${percent(together)}, the best alone ${percent(best)}; aim ≥ the best alone: ${met(together >= best)}`,
    );
  }
}

async function judge(
  corpus: Corpus,
  dir: string,
  repomix: Repomix | undefined,
  names: number,
): Promise<readonly Result[]> {
  const sources = corpus.sources();
  const root = join(dir, "code");
  writeSources(sources, root);
  const questions = [...questionsAbout(sources, names), ...corpus.questions];
  console.log(`${corpus.name} ${corpus.version}: ${sources.length} files, ${questions.length} questions`);
  const pack = repomix === undefined ? undefined : packed(root, join(dir, "pack.txt"), repomix);
  const counter = new TokenCounter("o200k_base");
  await using lab = await ContextLab.of(root, join(dir, "data"));
  using index = openScopedIndex(lab.scope);

  const results: Result[] = [];
  for (const question of questions) {
    for (const tokens of BUDGETS) {
      for (const contestant of CONTESTANTS) {
        const shown = await shownBy(contestant, question, tokens);
        if (shown === undefined) continue;
        const { kind } = question;
        results.push({ corpus: corpus.name, kind, contestant, tokens, recall: recallOf(question, shown) });
      }
    }
  }
  return results;

  /** Undefined for a peer that is not installed. */
  async function shownBy(
    contestant: Contestant,
    question: Question,
    tokens: number,
  ): Promise<ReadonlySet<string> | undefined> {
    if (contestant === "repomix --compress, cut") return pack?.within(tokens);
    if (contestant === "like Aider's map") return aiderLike(index, question, tokens, (text) => counter.count(text));
    const context = await lab.ask(question, tokens, contestant === TOGETHER ? {} : { strategy: contestant });
    if (counter.count(context.text) > tokens) throw new Error(`${contestant} went over ${tokens} tokens`);
    return shownFiles(context);
  }
}

/** The same pack for every question; the part over the budget is cut off. */
function packed(root: string, file: string, repomix: Repomix): { within: (tokens: number) => ReadonlySet<string> } {
  const argv = repomix.words(root, file, ["--style", "plain", "--no-security-check"]);
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  if (status !== 0) throw new Error(`repomix failed: ${stderr.slice(-500)}`);
  // Its summary and the tree of directories are left out, in its favor.
  const sections = readFileSync(file, "utf8")
    .split(/^={16}\nFile: (.*)\n={16}\n/m)
    .slice(1);
  const counter = new TokenCounter("o200k_base");
  const files = Array.from({ length: sections.length / 2 }, (_, at) => {
    const [path = "", text = ""] = sections.slice(2 * at, 2 * at + 2);
    return { path, tokens: counter.count(`File: ${path}\n${text}`) };
  });
  return {
    within(tokens) {
      const shown = new Set<string>();
      let left = tokens;
      for (const { path, tokens: own } of files) {
        left -= own;
        if (left < 0) break;
        shown.add(path);
      }
      return shown;
    },
  };
}

function tableOf(results: readonly Result[], code: readonly Corpus[]): string {
  const kinds = ["name", "words", "focus", "written"] as const;
  const corpora = code.map(({ name }) => name);
  const shareOf = (contestant: Contestant, belongs: (result: Result) => boolean): string =>
    percent(meanOf(results.filter(belongs), contestant));
  return table([
    ["", "all", ...corpora, ...kinds.map((kind) => `by ${kind}`)],
    ...CONTESTANTS.map((contestant) => [
      contestant,
      shareOf(contestant, () => true),
      ...corpora.map((name) => shareOf(contestant, ({ corpus }) => corpus === name)),
      ...kinds.map((kind) => shareOf(contestant, (result) => result.kind === kind)),
    ]),
  ]);
}

function meanOf(results: readonly Result[], contestant: Contestant): number {
  const own = results.filter((result) => result.contestant === contestant);
  return own.reduce((sum, result) => sum + result.recall, 0) / own.length;
}

function percent(share: number): string {
  return Number.isNaN(share) ? "–" : `${(share * 100).toFixed(1)} %`;
}
