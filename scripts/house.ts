/**
 * `npm run house`: rooms with files and lines, arrows with their number of imports, cycles between folders, the longest
 * files and functions, and names that two rooms use. It fails, here and in `npm run check`, where a limit is exceeded.
 */
import { functionsOf, type MeasuredFunction } from "./house/functions.ts";
import { arrowCounts, folderCycles, importsOf } from "./house/imports.ts";
import { filesNamedTwice, typesNamedTwice, type NamedTwice } from "./house/names.ts";
import { kindOf, programFiles, roomOf, sourceFiles, type SourceFile } from "./house/source-files.ts";

const FILE_LINES = { source: 400, test: 600 } as const;
const FUNCTION_LINES = { source: 60, test: 90 } as const;
/** Rooms that only spell and show what the application does. */
const SURFACES = ["acp", "cli"];
const SURFACE_IMPORTS = new Set(["app", "domain"]);
/** Longer on purpose: the reason, with its figure, stands above the function. */
const LONG_FUNCTIONS = new Map([["src/code-index/languages/syntax-tree.ts", 71]]);
const SHOWN = 8;

const problems: string[] = [];
const all = sourceFiles();
const program = programFiles();
const imports = program.flatMap(importsOf);

showRooms();
showArrows();
showCycles();
showFiles();
showFunctions();
showNames("files", filesNamedTwice(program));
showNames("types", typesNamedTwice(program));
for (const problem of problems) console.error(problem);
console.log(`\nhouse: ${all.length} files, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function showRooms(): void {
  title("Rooms (files and lines of the program; of tests and what they use)");
  const own = new Set(program.map(({ path }) => path));
  for (const [room, files] of Map.groupBy(all, (file) => file.room)) {
    const [ours, others] = [files.filter(({ path }) => own.has(path)), files.filter(({ path }) => !own.has(path))];
    const counted = [ours, others].map((part) => `${cell(part.length, 5)}${cell(linesOf(part), 8)}`);
    console.log(`  ${(room || "(doors)").padEnd(14)}${counted.join("  ")}`);
  }
}

function showArrows(): void {
  title("Arrows (imports)");
  const counts = [...arrowCounts(imports)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [room, arrows] of Map.groupBy(counts, ([arrow]) => arrow.split(" → ")[0] ?? "")) {
    const targets = arrows.map(([arrow, count]) => `${arrow.split(" → ")[1]} ${count}`);
    console.log(`  ${(room || "(doors)").padEnd(14)}${targets.join(", ")}`);
  }
  for (const { from, specifier, to } of imports) {
    const [room, target] = [roomOf(from), roomOf(to)];
    if (SURFACES.includes(room) && target !== room && !SURFACE_IMPORTS.has(target))
      problems.push(`${from}: a surface imports only app and domain (${specifier})`);
  }
}

function showCycles(): void {
  title("Cycles between folders");
  const cycles = folderCycles(imports).map((cycle) => cycle.join(", "));
  for (const cycle of cycles) problems.push(`cycle between folders: ${cycle}`);
  console.log(cycles.length === 0 ? "  none" : cycles.map((cycle) => `  ${cycle}`).join("\n"));
}

function showFiles(): void {
  title("Longest files");
  for (const { path, lines } of all.toSorted((a, b) => b.lines - a.lines).slice(0, SHOWN))
    console.log(`  ${cell(lines, 5)}  ${path}`);
  for (const { path, kind, lines } of all)
    if (lines > FILE_LINES[kind])
      problems.push(`${path} has ${lines} lines; ${kind} files have at most ${FILE_LINES[kind]}`);
}

function showFunctions(): void {
  title("Longest functions");
  const functions = all.flatMap(functionsOf).toSorted((a, b) => b.lines - a.lines);
  for (const one of functions.slice(0, SHOWN)) console.log(`  ${cell(one.lines, 5)}  ${one.path}:${one.line}`);
  for (const one of functions)
    if (isTooLong(one)) problems.push(`${one.path}:${one.line} is a function of ${one.lines} lines`);
  for (const [path, lines] of LONG_FUNCTIONS)
    if (!functions.some((one) => one.path === path && one.lines === lines))
      problems.push(`${path} has no function of ${lines} lines: correct the list LONG_FUNCTIONS`);
}

function isTooLong({ path, lines }: MeasuredFunction): boolean {
  return lines > FUNCTION_LINES[kindOf(path)] && LONG_FUNCTIONS.get(path) !== lines;
}

function showNames(what: "files" | "types", shared: readonly NamedTwice[]): void {
  title(`Names of ${what} in two rooms`);
  if (shared.length === 0) console.log("  none");
  for (const [name, places] of shared) problems.push(`two rooms have ${what} named ${name}: ${places.join(", ")}`);
}

function title(text: string): void {
  console.log(`\n${text}`);
}

function cell(value: number, width: number): string {
  return value.toLocaleString("en-US").padStart(width);
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}
