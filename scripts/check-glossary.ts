/**
 * Holds the code to docs/GLOSSARY.md, which gives each word one meaning. A name that is declared in `src` (type,
 * function, constant, file) may not contain a word that the glossary avoids, and a word with "Only in" may be part of
 * names in those rooms alone. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** Names that still break the glossary. This list may only become shorter; the script names the entries that can go. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  "CHUNK",
  "Gate",
  "PoolJob",
  "STAGE",
  "SandboxStrategy",
  "SettlePermit",
  "Snapshot",
  "StrategyTask",
  "TaskOptions",
  "cameToGate",
  "closeGate",
  "gate",
  "gateOfSteps",
  "redaction",
  "stageChanges",
  "stageExact",
  "stageFiles",
  "strategy-task",
  "takeSnapshot",
]);

interface Word {
  readonly word: string;
  readonly meaning: string;
  readonly avoid: readonly string[];
  readonly rooms: readonly string[];
}

interface Declared {
  readonly name: string;
  readonly file: string;
}

const GLOSSARY = glossary(readFileSync("docs/GLOSSARY.md", "utf8"));
const DECLARATION =
  /^(?:export )?(?:default )?(?:abstract )?(?:async )?(?:interface|type|class|function\*?|const|let) ([A-Za-z_$][\w$]*)/gm;

const files = globSync("src/**/*.ts").filter((file) => !/\.test\.ts$|\/testing\//.test(file));
const declared = files.flatMap(namesIn);
const used = new Set<string>();
const problems = [...GLOSSARY.flatMap(entryProblems), ...twice(), ...declared.flatMap(nameProblems)];

for (const problem of problems) console.error(problem);
for (const note of unneeded()) console.log(note);
console.log(`glossary: ${GLOSSARY.length} words, ${declared.length} names, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** "### word", its meaning, then "Only in: …" and "Avoid: …". A note in parentheses takes a word out of the check. */
function glossary(page: string): Word[] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((entry) => {
      const [word = "", ...lines] = entry.split(/^## /m)[0]?.trim().split("\n") ?? [];
      const list = (label: string): string[] =>
        lines
          .filter((line) => line.startsWith(`${label}: `))
          .flatMap((line) => line.slice(label.length + 2).split(/, (?![^(]*\))/))
          .map((one) => one.trim());
      const meaning = lines.filter((line) => !/^(Avoid|Only in): /.test(line)).join(" ");
      return { word, meaning, avoid: list("Avoid").filter((one) => !one.includes("(")), rooms: list("Only in") };
    });
}

function entryProblems({ word, meaning, avoid }: Word): string[] {
  const defined = new Set(GLOSSARY.map((entry) => entry.word));
  return [
    ...(meaning.trim() === "" ? [`docs/GLOSSARY.md: "${word}" has no meaning`] : []),
    ...avoid.filter((one) => defined.has(one)).map((one) => `docs/GLOSSARY.md: "${one}" is avoided and defined`),
  ];
}

function twice(): string[] {
  const words = GLOSSARY.map(({ word }) => word);
  return words
    .filter((word, at) => words.indexOf(word) !== at)
    .map((word) => `docs/GLOSSARY.md defines "${word}" twice`);
}

function namesIn(file: string): Declared[] {
  const names = [...readFileSync(file, "utf8").matchAll(DECLARATION)].map(([, name = ""]) => name);
  return [basename(file, ".ts"), ...names].map((name) => ({ name, file }));
}

function nameProblems({ name, file }: Declared): string[] {
  const parts = wordsOf(name);
  const [, room = ""] = file.split("/");
  const found = GLOSSARY.flatMap(({ word, avoid, rooms }) => [
    ...avoid.filter((one) => contains(parts, one)).map((one) => `"${one}" is avoided, the word is "${word}"`),
    ...(rooms.length > 0 && !rooms.includes(room) && contains(parts, word)
      ? [`"${word}" belongs to ${rooms.join(", ")}`]
      : []),
  ]);
  if (found.length === 0) return [];
  if (EXCEPTIONS.has(name)) {
    used.add(name);
    return [];
  }
  return found.map((problem) => `${file}: ${name}: ${problem}`);
}

function unneeded(): string[] {
  return [...EXCEPTIONS].filter((key) => !used.has(key)).map((key) => `take off the list of exceptions: ${key}`);
}

/** "planTasks", "PLAN_TASKS" and "plan-tasks" are all plan, tasks. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase());
}

/** Whether the words of `term` follow one another in the name, in the singular or the plural. */
function contains(parts: readonly string[], term: string): boolean {
  const wanted = term.toLowerCase().split(/[ -]/);
  return parts.some((_, at) => wanted.every((word, offset) => [word, `${word}s`].includes(parts[at + offset] ?? "")));
}
