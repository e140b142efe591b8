/**
 * Plain English in everything that people read: comments, messages, test titles, docs, and the names of functions that
 * make errors. It looks for words that hide who acts, "is no" instead of "is not a", sentences that begin with "What",
 * British spellings, comment lines over 120 columns, and error factories whose name does not say so. Part of `npm run
 * check`; `node scripts/check-english.ts src/store` prints the findings of one area.
 */
import { globSync, readFileSync } from "node:fs";

/** "The lease holder", "another process", "the user" say who acts; these words do not. */
const HIDDEN_ACTOR = /\b(?:who(?:so)?ever|whomever|somebody|anybody|nobody|whatever|wherever|anew|an own)\b/gi;

/** "X is no Y" is "X is not a Y"; "there is no Y" and "is no longer" are good English. */
const IS_NO =
  /(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b|newer\b|older\b|one\b)[a-z]+/gi;

/** "What is kept of an answer" is "the part of an answer that is stored". A question may begin with "What". */
const WHAT = /(?<=^|[.:;!?)] |["`])What (?:(?![.?](?:["`\\]|\s|$)).)*(?<end>[.?]?)/g;

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

const FACTORIES = [
  // Declared to return an error. Parameters may hold one level of parentheses.
  /\bfunction (?<name>\w+)(?:<[^>]*>)?\((?:[^()]|\([^()]*\))*\): \w*Error \{/g,
  /\bconst (?<name>\w+) = \((?:[^()]|\([^()]*\))*\): \w*Error =>/g,
  /\bthrow (?<name>[a-z]\w*)\(/g,
];

const COMMENT_MARK = /^\s*(?:\/\*\*?|\*\/?|\/\/) ?/;
const LONGEST_COMMENT = 120;
const AREAS = [
  "src/**/*.ts",
  "{scripts,bench,attack,features,test}/**/*.{ts,feature}",
  "*.md",
  "{docs,bench,examples}/**/*.{md,yaml}",
  "src/cli/book/*.md",
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
  if (wanted !== undefined && area !== wanted) continue;
  for (const finding of found) console.error(finding);
  problems += found.length;
}
console.log(`plain English: ${findings.size} areas, ${problems} findings`);
process.exitCode = problems === 0 ? 0 : 1;

/** A room of `src`, or the folder at the top; the pages at the root belong to docs. */
function areaOf(file: string): string {
  const parts = file.split("/");
  if (parts.length === 1) return "docs";
  return parts[0] === "src" ? parts.slice(0, parts.length > 2 ? 2 : 1).join("/") : (parts[0] ?? "");
}

function findingsIn(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n");
  const found = file.endsWith(".md")
    ? lines.flatMap((line, at) => wordsIn(line.replaceAll(/`[^`]*`/g, ""), at))
    : [...lines.flatMap((line, at) => [...wordsIn(line, at), ...longComment(line, at)]), ...whatSentences(lines)];
  if (file.endsWith(".ts")) found.push(...misnamedFactories(text));
  return found.toSorted((a, b) => a.at - b.at).map(({ at, what }) => `${file}:${at + 1}: ${what}`);
}

interface Finding {
  /** The index of the line. */
  readonly at: number;
  readonly what: string;
}

function wordsIn(line: string, at: number): Finding[] {
  return [HIDDEN_ACTOR, IS_NO, BRITISH].flatMap((words) =>
    [...line.matchAll(words)].map(([word]) => ({ at, what: `"${word}"` })),
  );
}

function longComment(line: string, at: number): Finding[] {
  if (line.length <= LONGEST_COMMENT || !/^\s*(?:\/\/|\/?\*|#)|\s\/\/ /.test(line)) return [];
  return [{ at, what: `a comment of ${line.length} columns` }];
}

/** A sentence of a comment may end lines later: only then is it known whether it is a question. */
function whatSentences(lines: readonly string[]): Finding[] {
  return lines.flatMap((line, at) => {
    const following = isComment(line) ? lines.slice(at + 1).find((next) => /[.?]/.test(next)) : undefined;
    const laterEnd = /[.?]/.exec(following ?? "")?.[0];
    return [...line.replace(COMMENT_MARK, "").matchAll(WHAT)]
      .filter(({ groups }) => (groups?.["end"] || laterEnd) !== "?")
      .map(([sentence]) => ({ at, what: `a sentence that begins with "${sentence.slice(0, 30)}"` }));
  });
}

function isComment(line: string): boolean {
  return COMMENT_MARK.test(line);
}

function misnamedFactories(text: string): Finding[] {
  return FACTORIES.flatMap((factory) =>
    [...text.matchAll(factory)].flatMap(({ index, groups }) => {
      const name = groups?.["name"] ?? "";
      if (/error$/i.test(name)) return [];
      return [{ at: text.slice(0, index).split("\n").length - 1, what: `${name}() makes an error: call it …Error` }];
    }),
  );
}
