/**
 * Only the room `src/git` starts git: there it has one environment, one set of settings and one kind of error. This
 * check finds every other start of it in the sources, and every use of the room's own way to start a process. Tests may
 * do as they like.
 */
import { globSync, readFileSync } from "node:fs";

const ROOM = "src/git/";
/** A call that names the program git, by itself, by a path or at the beginning of a command line. */
const START =
  /\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|findProgram|requireProgram|program)\s*\(\s*["'`](?:[^"'`\s]*\/)?git(?:["'`]|\s)/g;
/** Names that only the room itself may import. */
const OWN = /\bimport\s[^;]*\b(?:spawnGit|launch)\b[^;]*\bfrom\s+"[^"]*\/git\/[^"]*"/g;

const files = globSync("src/**/*.ts").filter((file) => !/\.test\.ts$|\/testing\//.test(file) && !file.startsWith(ROOM));
const problems = files.flatMap((file) => {
  const text = readFileSync(file, "utf8");
  const found = [...text.matchAll(START), ...text.matchAll(OWN)];
  return found.map(({ 0: match, index }) => `${file}:${text.slice(0, index).split("\n").length}: ${match}`);
});

if (files.length < 40) problems.push(`only ${files.length} files were found: is this the project's root?`);
for (const problem of problems) console.error(`${problem}\n  only src/git starts git: use git() of src/git/git.ts`);
console.log(`starts of git outside src/git: ${problems.length}`);
process.exitCode = problems.length === 0 ? 0 : 1;
