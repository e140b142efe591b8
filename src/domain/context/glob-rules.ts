import { shown, textProblem } from "../text/text.ts";

/**
 * Patterns for paths as people write them, which is how they know them from `.gitignore`: `*` and `?` stay within a
 * name, `**` crosses directories, `[a-z]` and `{a,b}` choose; without a slash a pattern matches at any depth; one that
 * matches a directory matches everything below it.
 */

const LONGEST = 500;
/** How many patterns the braces of one may stand for. */
const MOST_ALTERNATIVES = 64;

/** Undefined when the pattern can be used, else what is wrong with it. */
export function globProblem(pattern: string): string | undefined {
  const wrong = (why: string): string => `the pattern ${shown(pattern)} ${why}`;
  const problem = textProblem(pattern, LONGEST);
  if (problem !== undefined) return wrong(problem);
  if (pattern.replaceAll("/", "") === "") return wrong("names nothing");
  if (pattern.split("/").some((part) => part === ".." || part === "."))
    return wrong('must not contain "." or ".." as a directory');
  if (pattern.includes("\\")) return wrong('contains a backslash; directories are divided by "/"');
  if (pattern.startsWith("!")) return wrong('begins with "!"; use the opposite option instead');
  const braces = braceProblem(pattern);
  return braces === undefined ? undefined : wrong(braces);
}

/** The same as patterns that are matched against a whole path from the root, as an index does. */
export function rootedGlobs(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const name = pattern.replace(/^\/+/, "").replace(/\/+$/, "");
    const rooted = pattern.replace(/\/+$/, "").includes("/") ? name : `**/${name}`;
    return pattern.endsWith("/") ? [`${rooted}/**`] : [rooted, `${rooted}/**`];
  });
}

/** A list in braces inside a list multiplies nothing, one beside another does; counting too many does no harm. */
function braceProblem(pattern: string): string | undefined {
  const open: number[] = [];
  let alternatives = 1;
  for (const character of pattern) {
    if (character === "{") open.push(1);
    if (character === "," && open.length > 0) open.push((open.pop() ?? 0) + 1);
    if (character !== "}") continue;
    const own = open.pop();
    if (own === undefined) return "has a brace that was never opened";
    if (own === 1) return "has braces without a comma: write {a,b}";
    alternatives *= own;
  }
  if (open.length > 0) return "has a brace that is not closed";
  return alternatives > MOST_ALTERNATIVES ? `stands for more than ${MOST_ALTERNATIVES} patterns` : undefined;
}
