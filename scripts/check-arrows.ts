/**
 * The import arrows between the rooms of `src` (docs/architecture.md has the picture). An arrow means "may import". Any
 * other import between rooms fails, and so do an arrow that no import uses and a cycle between folders. Tests may
 * import anything; production code never imports a testing folder. The doors of the package import every room.
 */
import { arrowCounts, folderCycles, importsOf } from "./house/imports.ts";
import { programFiles, roomOf } from "./house/source-files.ts";

const ARROWS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  platform: ["domain"],
  confinement: ["domain", "platform"],
  store: ["domain", "platform"],
  ledger: ["domain", "platform", "store"],
  git: ["domain", "platform", "confinement", "ledger"],
  changes: ["domain", "store", "ledger", "git"],
  execution: ["domain", "platform", "confinement", "store", "ledger", "git", "changes"],
  "code-index": ["domain", "platform", "git"],
  context: ["domain", "platform", "store", "ledger", "execution", "code-index"],
  actors: ["domain", "platform", "ledger", "context"],
  plans: ["domain", "platform", "store", "ledger", "changes"],
  apply: ["domain", "platform", "store", "ledger", "git", "changes", "execution", "plans"],
  catalog: ["domain", "store", "git", "execution", "context", "actors", "plans"],
  runs: [
    "domain",
    "platform",
    "confinement",
    "store",
    "ledger",
    "git",
    "changes",
    "execution",
    "code-index",
    "context",
    "actors",
    "plans",
    "apply",
    "catalog",
  ],
  app: [
    "domain",
    "platform",
    "confinement",
    "store",
    "ledger",
    "git",
    "changes",
    "execution",
    "code-index",
    "context",
    "actors",
    "plans",
    "apply",
    "catalog",
    "runs",
  ],
  jobs: ["domain", "store", "ledger", "app"],
  acp: ["domain", "app"],
  mcp: ["domain", "app"],
  server: ["domain", "app"],
  cli: ["domain", "app"],
};

const problems: string[] = [];
const files = programFiles();
const imports = files.flatMap(importsOf);

for (const { path, room } of files)
  if (room !== "" && ARROWS[room] === undefined) problems.push(`${path}: "${room}" is not a room of the architecture`);
for (const { from, specifier, to } of imports) {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (to.includes("/testing/")) problems.push(`${from} imports test code: ${specifier}`);
  if (room === "" || target === room || to === "package.json" || ARROWS[room]?.includes(target) === true) continue;
  problems.push(`${from}: "${room}" may not import "${target || to}" (${specifier})`);
}
const used = arrowCounts(imports);
for (const [room, allowed] of Object.entries(ARROWS))
  for (const target of allowed)
    if (!used.has(`${room} → ${target}`))
      problems.push(`no import uses the arrow ${room} → ${target}: take it off the list`);
for (const cycle of folderCycles(imports)) problems.push(`cycle between folders: ${cycle.join(", ")}`);
if (files.length < 40) problems.push(`only ${files.length} files were found: is this the project's root?`);

for (const problem of problems) console.error(problem);
console.log(`import arrows: ${files.length} files, ${used.size} arrows, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
