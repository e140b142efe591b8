/** Pages that are made from the sources are as `npm run api` and `npm run commands` would write them now. */
import { existsSync, readFileSync } from "node:fs";
import { apiReport } from "./generated/api-report.ts";
import { commandPages } from "./generated/commands-page.ts";
import type { GeneratedPage } from "./generated/generated-page.ts";

const { pages, problems } = apiReport();
const all = [...problems, ...behind(pages, "npm run api"), ...behind(await commandPages(), "npm run commands")];
for (const problem of all) console.error(problem);
console.log(`generated pages: ${all.length} problems`);
process.exitCode = all.length === 0 ? 0 : 1;

function behind(wanted: readonly GeneratedPage[], command: string): string[] {
  return wanted
    .filter(({ file, text }) => !existsSync(file) || readFileSync(file, "utf8") !== text)
    .map(({ file }) => `${file} is behind the sources: run ${command}`);
}
