/**
 * Plain English in everything that people read: comments, messages, test titles, docs. It looks for words that hide who
 * acts, for British spellings, and for comment lines over 120 columns. Part of `npm run check`; `node
 * scripts/check-english.ts src/store` prints the findings of one area.
 */
import { globSync, readFileSync } from "node:fs";

/**
 * How many findings an area may still have. A number may only go down; an area that is not listed has none. When a
 * count is lower than its number, the script says so: lower the number then.
 */
const ALLOWED: Readonly<Record<string, number>> = {
  docs: 1,
  "src/actors": 148,
  "src/app": 30,
  "src/apply": 99,
  "src/catalog": 31,
  "src/cli": 216,
  "src/confinement": 84,
  "src/domain": 203,
  "src/git": 48,
  "src/ledger": 108,
  "src/plans": 93,
  "src/platform": 35,
  "src/runs": 47,
  "src/store": 0,
  "src/testing": 20,
};

/** "The lease holder", "another process", "the user" say who acts; these words do not. */
const HIDDEN_ACTOR = /\b(?:who(?:so)?ever|whomever|somebody|anybody|nobody|whatever|wherever|anew|an own)\b/gi;

/** `cancelled` and `initialised` are missing on purpose: machines read them, as a stored state and as a JSON key. */
const BRITISH = new RegExp(
  `\\b(?:${[
    "colour(?:s|ed|ing|ful)?",
    "behaviour(?:s|al)?",
    "neighbour(?:s|ing|hood)?",
    "favour(?:s|ed|ing|ite|ites|able)?",
    "honour(?:s|ed|ing)?",
    "labour(?:s|ed)?",
    "grey",
    "catalogues?",
    "judgement(?:s)?",
    "licence",
    "centre(?:s|d)?",
    "defence",
    "artefacts?",
    "whilst",
    "amongst",
    "programmes?",
    "fulfil",
    "cancelling",
    "label(?:led|ling)",
    "model(?:led|ling)",
    "signal(?:led|ling)",
    "travel(?:led|ling)",
    "journalled",
    "analyse[sd]?",
    "analysing",
    "initialis(?:e|es|ing|ation|ations|er|ers)",
    "(?:serial|recogn|organ|normal|optim|synchron|author|sanit|token|capital|summar|minim|maxim|real|util|final|material|parallel|categor|custom|emphas|general|prior|special|standard|visual|memor)is(?:e|es|ed|ing|ation|ations|er|ers)",
  ].join("|")})\\b`,
  "gi",
);

const LONGEST_COMMENT = 120;
const AREAS = [
  "src/**/*.ts",
  "{scripts,bench,attack,features,test}/**/*.{ts,feature}",
  "*.md",
  "{docs,bench,examples}/**/*.{md,yaml}",
];
const wanted = process.argv[2];
const findings = new Map<string, string[]>();
for (const file of globSync(AREAS, { exclude: (name) => /node_modules|peers|corpus/.test(name) })) {
  if (file === "scripts/check-english.ts") continue;
  const area = areaOf(file);
  findings.set(area, [...(findings.get(area) ?? []), ...findingsIn(file)]);
}

let problems = 0;
for (const [area, found] of [...findings].toSorted(([a], [b]) => a.localeCompare(b))) {
  const allowed = ALLOWED[area] ?? 0;
  if (found.length > allowed || area === wanted) for (const finding of found) console.error(finding);
  if (found.length > allowed) problems += found.length - allowed;
  if (found.length !== allowed)
    console.log(`plain English: ${area} has ${found.length} findings, allowed are ${allowed}`);
}
console.log(`plain English: ${findings.size} areas, ${problems} findings too many`);
process.exitCode = problems === 0 ? 0 : 1;

/** A room of `src`, or the folder at the top; the pages at the root belong to docs. */
function areaOf(file: string): string {
  const parts = file.split("/");
  if (parts.length === 1) return "docs";
  return parts[0] === "src" ? parts.slice(0, parts.length > 2 ? 2 : 1).join("/") : (parts[0] ?? "");
}

function findingsIn(file: string): string[] {
  const isPage = file.endsWith(".md");
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, at) => {
      // Pages quote bad examples and values in code spans.
      const text = isPage ? line.replaceAll(/`[^`]*`/g, "") : line;
      const words = [...text.matchAll(HIDDEN_ACTOR), ...text.matchAll(BRITISH)].map(([word]) => `"${word}"`);
      const long = !isPage && line.length > LONGEST_COMMENT && /^\s*(?:\/\/|\/?\*|#)|\s\/\/ /.test(line);
      return [...words, ...(long ? [`a comment of ${line.length} columns`] : [])].map(
        (what) => `${file}:${at + 1}: ${what}`,
      );
    });
}
