/**
 * Holds the pages for people to the sources: links lead somewhere, files that a page names exist, the drawn state
 * machine has exactly the moves of the transition tables, and every table of the store has a row. Part of `npm run
 * check`.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MIGRATIONS } from "../src/store/schema/migrations.ts";
import { sources, target, type PlanOperation } from "../src/domain/plan/transitions.ts";

const PAGES = [
  ...globSync("*.md"),
  ...globSync("{docs,bench,examples}/**/*.md", {
    exclude: ["**/node_modules/**", "bench/corpus/**", "examples/skills/**"],
  }),
];
const [, scripts = ""] = /"scripts": \{(.*?)\}/s.exec(readFileSync("package.json", "utf8")) ?? [];
const SCRIPTS = new Set([...scripts.matchAll(/"([\w:-]+)": "/g)].map(([, name = ""]) => name));
const ARCHITECTURE = readFileSync("docs/architecture.md", "utf8");
/** Made by a command, not checked in. */
const GENERATED = new Set(["bench/corpus"]);

/**
 * Which operations the diagrams show; the others would add an arrow to almost every state and are explained in a
 * sentence.
 */
const DRAWN = {
  startStrategize: true,
  completeStrategize: true,
  failStrategize: true,
  executePlan: true,
  startExecute: true,
  completeExecute: true,
  failExecute: true,
  applyPlan: true,
  startApply: true,
  completeApply: true,
  constrainApply: true,
  failApply: true,
  reviseStrategy: true,
  resolvePlan: true,
  continuePlan: true,
  revertPlan: true,
  rollbackPlan: true,
  undoPlan: false,
  redoPlan: false,
  cancelPlan: false,
} satisfies Record<PlanOperation, boolean>;
const problems = [
  ...PAGES.flatMap(linkProblems),
  ...PAGES.flatMap(fileProblems),
  ...PAGES.flatMap(scriptProblems),
  ...diagramProblems(),
  ...tableProblems(),
  ...readmeProblems(),
  ...indexProblems(),
];

for (const problem of problems) console.error(problem);
console.log(`docs: ${PAGES.length} pages, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** A reader of the README gets to the end of it; the pages behind it may be long. */
function readmeProblems(): string[] {
  const lines = readFileSync("README.md", "utf8").trimEnd().split("\n").length;
  return lines < 200 ? [] : [`README.md: ${lines} lines, under 200 are wanted`];
}

/** A reader finds every page from the list of them. */
function indexProblems(): string[] {
  const list = readFileSync("docs/README.md", "utf8");
  return globSync(["*.md", "how-to/*.md"], { cwd: "docs", exclude: ["README.md"] })
    .filter((page) => !list.includes(`](${page})`))
    .map((page) => `docs/README.md does not name docs/${page}`);
}

function linkProblems(page: string): string[] {
  const text = readFileSync(page, "utf8");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^\w+:/.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(file)) return [`${page}: the link ${link} leads nowhere`];
    if (anchor !== undefined && !anchorsOf(file).has(anchor)) return [`${page}: ${file} has no heading #${anchor}`];
    return [];
  });
}

/** As GitHub makes them: lower case, without punctuation, spaces as hyphens. */
function anchorsOf(file: string): Set<string> {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** "`src/ledger/leases.ts`" must be there; "`src/x*.test.ts`" must match something. */
function fileProblems(page: string): string[] {
  const named = readFileSync(page, "utf8").matchAll(/`((?:src|scripts|features|test|bench|attack)\/[\w./*-]+)`/g);
  return [...named].flatMap(([, path = ""]) => {
    const there = path.includes("*") ? globSync(path).length > 0 : existsSync(path);
    return there || GENERATED.has(path) ? [] : [`${page}: there is no ${path}`];
  });
}

/** Each move is one line, "strategize_queued --> strategize_processing: startStrategize, …". */
function diagramProblems(): string[] {
  const drawn = new Set<string>();
  for (const [, from = "", to = "", names = ""] of ARCHITECTURE.matchAll(/^ *(\w+) --> (\w+): (.+)$/gm)) {
    for (const name of names.split(", ")) drawn.add(`${from} --> ${to}: ${name}`);
  }
  const real = new Set<string>();
  for (const operation of Object.keys(DRAWN).filter(isDrawn)) {
    for (const from of sources(operation)) {
      const to = target(from, operation) ?? "";
      real.add(`${from.replace("/", "_")} --> ${to.replace("/", "_")}: ${operation}`);
    }
  }
  return [
    ...without(real, drawn).map((move) => `docs/architecture.md does not draw ${move}`),
    ...without(drawn, real).map((move) => `docs/architecture.md draws a move that does not exist: ${move}`),
  ];
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...all].filter((one) => !others.has(one));
}

function isDrawn(name: string): name is PlanOperation {
  return Object.entries(DRAWN).some(([operation, drawn]) => operation === name && drawn);
}

/** A row "| `steps` | … | `src/ledger/steps.ts` |" for each table that the migrations leave, and no other. */
function tableProblems(): string[] {
  const tables = new Set(["schema_migrations"]);
  for (const statement of MIGRATIONS.flatMap(({ statements }) => statements)) {
    const [, created] = /^CREATE TABLE (\w+)/.exec(statement) ?? [];
    const [, dropped] = /^DROP TABLE (\w+)/.exec(statement) ?? [];
    const [, old, renamed] = /^ALTER TABLE (\w+) RENAME TO (\w+)/.exec(statement) ?? [];
    for (const gone of [dropped, old]) if (gone !== undefined) tables.delete(gone);
    for (const here of [created, renamed]) if (here !== undefined) tables.add(here);
  }
  const rows = new Set(
    [...ARCHITECTURE.matchAll(/^\| `(\w+)` \| .* \| `src\/[^`]+` \|$/gm)].map(([, name = ""]) => name),
  );
  return [
    ...without(tables, rows).map((table) => `docs/architecture.md does not describe the table ${table}`),
    ...without(rows, tables).map((table) => `docs/architecture.md describes a table that does not exist: ${table}`),
  ];
}

/** "npm run demo" must be a script of package.json. */
function scriptProblems(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/npm run ([a-z][\w:-]*)/g)].flatMap(([, name = ""]) =>
    SCRIPTS.has(name) ? [] : [`${page}: package.json has no script "${name}"`],
  );
}
