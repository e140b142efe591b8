/**
 * Nothing is sorted by a time. Ids hold the time of the process that made them and clocks step back, so "the newest" is
 * asked of a number that the database counts up. This reads the sources and finds each place that sorts or compares by
 * an id or an instant.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));

/** The places that may stay, and why the clock does not matter there. */
const ALLOWED: Readonly<Record<string, string>> = {
  "ledger/decisions.ts: ORDER BY id": "ids that begin with what a person typed; sorted only to be the same each time",
  "store/tables/plans.ts: ORDER BY id": "ids that begin with what a person typed; sorted only to be the same each time",
  "store/tables/validations.ts: ORDER BY validation_attachments.id": "ids that begin with what a person typed",
  "ledger/validation-runs.ts: ORDER BY attachment_id": "after the position, for results that share it",
  "ledger/sandbox-records.ts: ORDER BY plan_id": "grouped by plan; sorted only to be the same each time",
  "code-index/search/reference-graph.ts: MAX(id)": "a number that the index counts up, not an id with a time in it",
  "context/strategies/vector-store.ts: MAX(id)": "a number that the table counts up",
  "context/tokens/token-cache.ts: MAX(id)": "a number that the table counts up",
  "store/schema/migrations.ts: ORDER BY id": "the order that rows had before they were numbered",
  "ledger/candidate-records.ts: ORDER BY id": "ids that begin with what a person typed",
  "store/tables/server-tokens.ts: ORDER BY created_at": "tokens are only listed so; nothing is decided by it",
  "store/tables/server-tokens.ts: ORDER BY id": "tokens are only listed so; nothing is decided by it",
  "store/tables/sessions.ts: ORDER BY id": "ids that begin with what a person typed",
  "ledger/changed-files.ts: ORDER BY calls.plan_id": "grouped by plan; the order within is a number",
  "store/tables/plan-summaries.ts: ORDER BY plan_id": "grouped by plan; the order within is a number",
  "store/tables/plan-summaries.ts: MAX(id)": "the neighbor in spelling, to shorten an id",
  "store/tables/plan-summaries.ts: MIN(id)": "the neighbor in spelling, to shorten an id",
  "acp/session-history.ts: sort by at":
    "words and decisions are only shown beside each other; nothing is decided by it",
  "context/strategies/excerpts.ts: sort by at": "a position in a text",
  "ledger/sandbox-records.ts: ORDER BY made_at":
    "any commit of the place would do; the newest is the likeliest to be there",
  "store/tables/audit.ts: MAX(at)": "the instant itself is asked for, to compare it with the clock",
};

const TIMELIKE = /^(?:\w+\.)?(?:id|at|\w+_id|\w+_at)$/;

/** Each place that sorts by an id or an instant: the file and what it sorts by. */
function places(file: string, text: string): string[] {
  const found: string[] = [];
  for (const [, list = ""] of text.matchAll(/ORDER BY\s+([\w.,\s()]+)/g)) {
    for (const term of list.split(",")) {
      const [column = ""] = term.trim().split(/\s+/);
      if (TIMELIKE.test(column)) found.push(`${file}: ORDER BY ${column}`);
    }
  }
  for (const [, most = "", column = ""] of text.matchAll(/\b(MAX|MIN)\(\s*([\w.]+)\s*\)/g)) {
    if (TIMELIKE.test(column)) found.push(`${file}: ${most}(${column})`);
  }
  for (const [, key = ""] of text.matchAll(
    /(?:sort|toSorted)\(\s*\((?:\{[^}]*\}|\w+),[^)]*\)\s*=>[^;]*?\.(id|at|\w+At)\b(?!\()/g,
  )) {
    found.push(`${file}: sort by ${key}`);
  }
  return found;
}

function sourceFiles(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/(^|\/)testing\//.test(file),
  );
}

test("no source sorts by an id or an instant but those that may", () => {
  const found = new Set(sourceFiles().flatMap((file) => places(file, readFileSync(join(SOURCES, file), "utf8"))));
  expect([...found].filter((place) => ALLOWED[place] === undefined)).toEqual([]);
  // A place that is allowed but gone would hide the next one.
  expect(Object.keys(ALLOWED).filter((place) => !found.has(place))).toEqual([]);
});

test.each([
  ["SELECT * FROM journals WHERE plan_id = ? ORDER BY id DESC LIMIT 1", ["x.ts: ORDER BY id"]],
  ["SELECT * FROM a\n ORDER BY kind,\n   created_at DESC", ["x.ts: ORDER BY created_at"]],
  ["(SELECT MAX(a.updated_at) FROM a)", ["x.ts: MAX(a.updated_at)"]],
  ["rows.sort((a, b) => a.startedAt - b.startedAt)", ["x.ts: sort by startedAt"]],
  ["rows.toSorted((a, b) =>\n  b.id < a.id ? -1 : 1)", ["x.ts: sort by id"]],
  ["SELECT * FROM journals ORDER BY sequence DESC", []],
])("this test would see %j", (text, expected) => {
  expect(places("x.ts", text)).toEqual(expected);
});
