/**
 * Every table of the store has one owner file: only that file writes INSERT, UPDATE or DELETE for it. Other files of
 * `store` and `ledger` may join it in their own queries; all other rooms call functions and have no SQL on the store's
 * tables at all. The databases of the code index and of tokens and vectors are not the store: they have tables of their
 * own.
 */
import { globSync, readFileSync } from "node:fs";

const SCHEMA = "src/store/schema/";

/** Rooms whose SQL is on databases of their own. */
const OTHER_DATABASES = ["src/code-index/", "src/context/strategies/", "src/context/tokens/"];

/** Statements that are in the wrong file, `file: table`. This list may only become shorter. */
const EXCEPTIONS: ReadonlySet<string> = new Set();

const tables = new Set(
  globSync(`${SCHEMA}*.ts`)
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) =>
      Array.from(readFileSync(file, "utf8").matchAll(/CREATE TABLE (\w+)/g), ([, table = ""]) => table),
    )
    .filter((table) => !/_(?:checked|by_kind)$/.test(table)),
);
const owners = new Map<string, Set<string>>();
const problems: string[] = [];
const met = new Set<string>();

const files = globSync("src/**/*.ts").filter(
  (file) =>
    !/\.test\.ts$|\/testing\//.test(file) &&
    ![SCHEMA, ...OTHER_DATABASES].some((directory) => file.startsWith(directory)),
);
for (const file of files) {
  const source = readFileSync(file, "utf8");
  for (const table of tablesAfter(source, /\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/g)) {
    owners.set(table, (owners.get(table) ?? new Set()).add(file));
  }
  if (/^src\/(?:store|ledger)\//.test(file)) continue;
  for (const table of tablesAfter(source, /\b(?:INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN)\s+(\w+)/g)) {
    report(file, table, `${file} has SQL on the table ${table}: call a function of store or ledger`);
  }
}
for (const [table, writers] of owners) {
  if (writers.size < 2) continue;
  for (const file of writers) report(file, table, `${table} is written by ${[...writers].join(" and ")}`);
}
for (const table of tables) if (!owners.has(table)) problems.push(`no file writes the table ${table}`);
for (const exception of EXCEPTIONS) if (!met.has(exception)) problems.push(`no longer an exception: ${exception}`);
if (tables.size < 30) problems.push(`only ${tables.size} tables were found: is this the project's root?`);

for (const problem of new Set(problems)) console.error(problem);
console.log(`tables: ${tables.size}, each written by one file; ${new Set(problems).size} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function tablesAfter(source: string, pattern: RegExp): Set<string> {
  return new Set(Array.from(source.matchAll(pattern), ([, table = ""]) => table).filter((table) => tables.has(table)));
}

function report(file: string, table: string, problem: string): void {
  const place = `${file}: ${table}`;
  met.add(place);
  if (!EXCEPTIONS.has(place)) problems.push(problem);
}
