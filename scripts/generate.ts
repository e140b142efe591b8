/**
 * Writes the pages that are made from the sources: `node scripts/generate.ts api` the reports of the package's doors,
 * `node scripts/generate.ts commands` the lists of commands, settings and errors. `npm run check` fails when one of
 * them is behind.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { apiReport } from "./generated/api-report.ts";
import { commandPages } from "./generated/commands-page.ts";

const pages = process.argv[2] === "api" ? apiReport().pages : await commandPages();
for (const { file, text } of pages) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(file);
}
