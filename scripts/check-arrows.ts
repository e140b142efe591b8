import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/**
 * The import arrows between the rooms of `src` (docs/architecture.md has the picture). Read top to bottom, an arrow means "may
 * import". Tests may import anything; production code never imports a testing folder.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  store: ["domain"],
  ledger: ["domain", "store"],
  "code-index": ["domain", "store"],
  context: ["domain", "store", "ledger", "code-index"],
  execution: ["domain", "store", "ledger"],
  actors: ["domain", "store", "ledger", "code-index", "context"],
  apply: ["domain", "store", "ledger", "execution"],
  plans: ["domain", "store", "ledger", "code-index", "context", "execution", "actors", "apply"],
  cli: ["domain", "store", "ledger", "code-index", "context", "execution", "actors", "apply", "plans"],
};

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const problems: string[] = [];
const files = globSync("src/**/*.ts").filter((file) => !/\.test\.ts$|\/testing\//.test(file));

for (const file of files) {
  const room = roomOf(file);
  if (room === "") continue;
  const allowed = ARROWS[room];
  if (allowed === undefined) problems.push(`${file}: "${room}" is no room of the architecture`);
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const imported = posix.join(posix.dirname(file), specifier);
    const target = roomOf(imported);
    if (imported.includes("/testing/")) problems.push(`${file} imports test code: ${specifier}`);
    if (imported === "package.json" || target === room || allowed?.includes(target) === true) continue;
    problems.push(`${file}: "${room}" may not import "${target || imported}" (${specifier})`);
  }
}

if (files.length < 40) problems.push(`only ${files.length} files were found: is this the project's root?`);
for (const problem of problems) console.error(problem);
console.log(`import arrows: ${files.length} files, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** "" for src/index.ts, which is the door and may import every room. */
function roomOf(file: string): string {
  const [top, room = "", ...rest] = file.split("/");
  return top === "src" && rest.length > 0 ? room : "";
}
