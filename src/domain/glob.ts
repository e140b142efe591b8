import { shown, textProblem } from "./text.ts";

/**
 * Patterns for paths, as people know them from `.gitignore`: `*` and `?` stay within a name, `**` crosses directories, `[a-z]` and
 * `{a,b}` choose; without a slash a pattern matches at any depth; one that matches a directory matches everything below it, names
 * that begin with a dot too.
 *
 * Node's own `path.matchesGlob` is not used: `secrets/**` lets `secrets/.env` through there, and a pattern of a few dozen
 * characters (`*a*a*a…`, `{1..1000000}`) keeps it busy for minutes. Here a name is matched in at most length × length steps.
 */

const LONGEST = 500;
/** How many patterns the braces of one may stand for. */
const MOST_ALTERNATIVES = 64;

/** Undefined when the pattern can be used, else what is wrong with it. */
export function globProblem(pattern: string): string | undefined {
  const problem = textProblem(pattern, LONGEST);
  if (problem !== undefined) return `the pattern ${shown(pattern)} ${problem}`;
  if (pattern.replaceAll("/", "") === "") return `the pattern ${shown(pattern)} names nothing`;
  if (pattern.split("/").some((part) => part === ".." || part === "."))
    return `the pattern ${shown(pattern)} must not contain "." or ".." as a directory`;
  if (pattern.includes("\\"))
    return `the pattern ${shown(pattern)} contains a backslash; directories are divided by "/"`;
  if (pattern.startsWith("!")) return `the pattern ${shown(pattern)} begins with "!"; use the opposite option instead`;
  const alternatives = expand(pattern);
  return typeof alternatives === "string" ? `the pattern ${shown(pattern)} ${alternatives}` : undefined;
}

/** Whether any of the patterns matches. All of them must be without a problem. */
export function globMatcher(patterns: readonly string[]): (path: string) => boolean {
  const compiled = patterns.flatMap((pattern) => {
    const alternatives = expand(pattern);
    return typeof alternatives === "string" ? [] : alternatives.map(compile);
  });
  return (path) => {
    const names = path.split("/").map((name) => Array.from(name));
    return compiled.some((segments) => matchesPath(segments, names));
  };
}

/** Any number of characters, or one that fits. */
type Token = "any" | ((character: string) => boolean);
/** `"**"` or the tokens of one name. */
type Segment = "**" | readonly Token[];

function compile(pattern: string): readonly Segment[] {
  const anchored = pattern.replace(/\/+$/, "").includes("/");
  const parts = pattern.split("/").filter((part) => part !== "");
  const segments = parts.map((part): Segment => (part === "**" ? "**" : tokens(part)));
  return anchored ? segments : ["**", ...segments];
}

function tokens(name: string): Token[] {
  const characters = Array.from(name);
  const found: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "*") found.push("any");
    else if (character === "?") found.push(() => true);
    else {
      const end = character === "[" ? characters.indexOf("]", at + (isNegation(characters[at + 1]) ? 3 : 2)) : -1;
      if (end === -1) found.push((other) => other === character);
      else {
        found.push(classOf(characters.slice(at + 1, end)));
        at = end;
      }
    }
  }
  return found;
}

function isNegation(character: string | undefined): boolean {
  return character === "!" || character === "^";
}

function classOf(given: readonly string[]): (character: string) => boolean {
  const negated = isNegation(given[0]);
  const members = negated ? given.slice(1) : given;
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? "";
    const to = members[at + 1] === "-" ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== negated;
}

/** A pattern that is used up matches whatever is below: it named a directory. Going back to the last `**` is enough: what an earlier one could take, it can. */
function matchesPath(segments: readonly Segment[], names: readonly (readonly string[])[]): boolean {
  let [segment, name] = [0, 0];
  let back: { segment: number; name: number } | undefined;
  for (;;) {
    const wanted = segments[segment];
    const given = names[name];
    // `**` at the end stands for something: the directory itself is not below itself.
    if (wanted === undefined) return true;
    if (given === undefined) return false;
    if (wanted === "**") {
      back = { segment, name };
      segment += 1;
      if (segment === segments.length) return true;
    } else if (matchesName(wanted, given)) {
      segment += 1;
      name += 1;
    } else if (back === undefined) return false;
    else {
      back.name += 1;
      segment = back.segment + 1;
      name = back.name;
    }
  }
}

function matchesName(wanted: readonly Token[], name: readonly string[]): boolean {
  let [token, character] = [0, 0];
  let back: { token: number; character: number } | undefined;
  while (character < name.length) {
    const next = wanted[token];
    if (next === "any") {
      token += 1;
      back = { token, character };
    } else if (next?.(name[character] ?? "") === true) {
      token += 1;
      character += 1;
    } else if (back === undefined) return false;
    else {
      back.character += 1;
      token = back.token;
      character = back.character;
    }
  }
  return wanted.slice(token).every((rest) => rest === "any");
}

/** The patterns without braces that a pattern stands for, or what is wrong with its braces. */
function expand(pattern: string): string[] | string {
  const open = pattern.indexOf("{");
  if (open === -1) return [pattern];
  const parts = bracedParts(pattern, open);
  if (parts === undefined) return "has a brace that is not closed";
  if (parts.alternatives.length === 1) return "has braces without a comma: write {a,b}";
  const expanded: string[] = [];
  for (const alternative of parts.alternatives) {
    const rest = expand(pattern.slice(0, open) + alternative + pattern.slice(parts.end));
    if (typeof rest === "string") return rest;
    expanded.push(...rest);
    if (expanded.length > MOST_ALTERNATIVES) return `stands for more than ${MOST_ALTERNATIVES} patterns`;
  }
  return expanded;
}

function bracedParts(pattern: string, open: number): { alternatives: string[]; end: number } | undefined {
  const alternatives = [""];
  let depth = 0;
  for (let at = open; at < pattern.length; at += 1) {
    const character = pattern[at] ?? "";
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (depth === 0) return { alternatives, end: at + 1 };
    if (character === "," && depth === 1) alternatives.push("");
    else if (at > open) alternatives.push((alternatives.pop() ?? "") + character);
  }
  return undefined;
}
