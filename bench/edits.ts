/** How many slightly wrong edits are applied as they were meant, beside exact match. */
import { join } from "node:path";
import { applyEdit } from "../src/execution/tools/edit-match.ts";
import { plainTypography } from "../src/execution/tools/typography.ts";
import { seededRandom } from "../src/testing/random.ts";
import type { BenchSize } from "./measure.ts";
import { hunks, MISTAKES, UNCLEAR, type CorpusEdit } from "./edit-corpus.ts";

type Matcher = (edit: CorpusEdit) => string | undefined;

interface EditScore {
  readonly kind: string;
  readonly edits: number;
  readonly rightly: number;
  readonly wrongly: number;
  readonly refused: number;
}

interface EditScores {
  readonly mistakes: readonly EditScore[];
  readonly unclear: readonly EditScore[];
  /** Mean over the kinds of mistakes of the share that was applied rightly. */
  readonly mean: number;
  /** Share of all edits that were applied wrongly. */
  readonly wrong: number;
}

const ours: Matcher = ({ file, old, new: now }) => {
  const result = applyEdit(file, { old, new: now });
  return result.ok ? result.text : undefined;
};

const exact: Matcher = ({ file, old, new: now }) => {
  const parts = file.split(old);
  return parts.length === 2 ? parts.join(now) : undefined;
};

export function scoreEdits(
  options: { root: string; count: number; seed: number },
  matcher: Matcher = ours,
): EditScores {
  const corpus = hunks(options.root, options.count, options.seed);
  const score = (kinds: typeof MISTAKES): EditScore[] =>
    Object.entries(kinds).map(([kind, mistake]) => {
      const random = seededRandom(options.seed);
      const draw = (below: number): number => Math.floor(random() * below);
      const verdicts = corpus.flatMap((hunk) => {
        const edit = mistake(hunk, draw);
        return edit === undefined ? [] : [verdictOf(edit, matcher(edit))];
      });
      const count = (wanted: Verdict): number => verdicts.filter((verdict) => verdict === wanted).length;
      return {
        kind,
        edits: verdicts.length,
        rightly: count("rightly"),
        wrongly: count("wrongly"),
        refused: count("refused"),
      };
    });
  const [mistakes, unclear] = [score(MISTAKES), score(UNCLEAR)];
  const all = [...mistakes, ...unclear];
  const total = (of: (one: EditScore) => number): number => all.reduce((sum, one) => sum + of(one), 0);
  return {
    mistakes,
    unclear,
    mean: mistakes.reduce((sum, { rightly, edits }) => sum + rightly / Math.max(1, edits), 0) / mistakes.length,
    wrong:
      total(({ wrongly }) => wrongly) /
      Math.max(
        1,
        total(({ edits }) => edits),
      ),
  };
}

type Verdict = "rightly" | "wrongly" | "refused";

function verdictOf({ wanted }: CorpusEdit, result: string | undefined): Verdict {
  if (result === undefined) return "refused";
  return wanted !== undefined && forgiven(result) === forgiven(wanted) ? "rightly" : "wrongly";
}

/** Trailing blanks do not make an edit wrong, nor does typography; line ends and indentation do. */
function forgiven(text: string): string {
  return plainTypography(text).replaceAll(/[ \t]+(?=\r?\n|$)/g, "");
}

export async function run({ size }: { readonly size: BenchSize }): Promise<void> {
  const options = { root: join(import.meta.dirname, ".."), count: size === "full" ? 600 : 60, seed: 1 };
  const [own, plain] = [scoreEdits(options), scoreEdits(options, exact)];
  console.log(`${options.count} hunks generated from real files (edit-corpus.ts); applied rightly / wrongly / refused`);
  const rows = [...own.mistakes, ...own.unclear].map((score) => {
    const other = [...plain.mistakes, ...plain.unclear].find(({ kind }) => kind === score.kind);
    return { kind: score.kind, edits: score.edits, ours: shown(score), exact: other === undefined ? "" : shown(other) };
  });
  console.table(rows);
  console.log(
    `mean of ${own.mistakes.length} kinds: ours ${percent(own.mean)}, exact match ${percent(plain.mean)} (aim: 90 %)`,
  );
  console.log(`applied wrongly: ours ${percent(own.wrong)}, exact match ${percent(plain.wrong)} (aim: at most 0.2 %)`);
}

function shown({ rightly, wrongly, refused }: EditScore): string {
  return `${rightly} / ${wrongly} / ${refused}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
