/**
 * The import arrows between the rooms of `src` (docs/architecture.md has the picture) and the cycles between its
 * folders. An arrow means "may import". Cycles and arrows that no import uses are listed; any other import between
 * rooms fails. Tests may import anything; production code never imports a testing folder.
 */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

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
  actors: ["domain", "ledger", "context"],
  plans: ["domain", "platform", "store", "ledger", "changes", "execution"],
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
  cli: [
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
};

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const problems: string[] = [];
const files = globSync("src/**/*.ts").filter((file) => !/\.test\.ts$|\/testing\//.test(file));
const rooms = new Set(files.map(roomOf));
const usedArrows = new Set<string>();
/** Each folder with the folders it imports; a folder in another one is a folder of its own. */
const folders = new Map<string, Set<string>>();

for (const file of files) {
  const room = roomOf(file);
  if (room === "") continue;
  const allowed = ARROWS[room];
  if (allowed === undefined) problems.push(`${file}: "${room}" is not a room of the architecture`);
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const imported = posix.join(posix.dirname(file), specifier);
    const target = roomOf(imported);
    if (imported.includes("/testing/")) problems.push(`${file} imports test code: ${specifier}`);
    if (imported === "package.json") continue;
    noteFolders(posix.dirname(file), posix.dirname(imported));
    usedArrows.add(`${room} → ${target}`);
    if (target === room || allowed?.includes(target) === true) continue;
    problems.push(`${file}: "${room}" may not import "${target || imported}" (${specifier})`);
  }
}

if (files.length < 40) problems.push(`only ${files.length} files were found: is this the project's root?`);
for (const problem of problems) console.error(problem);
for (const [room, allowed] of Object.entries(ARROWS))
  for (const target of allowed)
    if (rooms.has(room) && !usedArrows.has(`${room} → ${target}`))
      console.log(`arrow without an import: ${room} → ${target}`);
const cycles = folderCycles();
for (const cycle of cycles) console.log(`cycle between folders: ${cycle.join(", ")}`);
console.log(
  `import arrows: ${files.length} files, ${folders.size} folders, ${problems.length} problems, ${cycles.length} cycles`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** "" for src/index.ts, which is the door and may import every room. */
function roomOf(file: string): string {
  const [top, room = "", ...rest] = file.split("/");
  return top === "src" && rest.length > 0 ? room : "";
}

function noteFolders(from: string, to: string): void {
  const imports = folders.get(from) ?? new Set();
  folders.set(from, imports);
  if (!folders.has(to)) folders.set(to, new Set());
  if (from !== to) imports.add(to);
}

/** Groups of folders that reach each other, each group once. */
function folderCycles(): string[][] {
  const reached = new Map([...folders.keys()].map((folder) => [folder, reachedFrom(folder)]));
  const groups = [...reached.keys()].map((folder) =>
    [...reached.keys()]
      .filter((other) => reached.get(folder)?.has(other) && reached.get(other)?.has(folder))
      .toSorted(),
  );
  return [...new Map(groups.filter(({ length }) => length > 1).map((group) => [group.join(), group])).values()];
}

function reachedFrom(folder: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const imported of folders.get(next) ?? [])
      if (!reached.has(imported)) {
        reached.add(imported);
        open.push(imported);
      }
  return reached;
}
