/**
 * Search and replace by the structure of code instead of its letters: a pattern is code with holes, `$A` for one node
 * and `$$$ARGS` for several, and what stood in a hole goes where the rewrite names it. The parser is native code and
 * large, so it is loaded when the first rewrite asks for it, never before.
 */
import type { SgNode } from "@ast-grep/napi";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";

export const LANGUAGES = {
  JavaScript: ["js", "mjs", "cjs", "jsx"],
  TypeScript: ["ts", "mts", "cts"],
  TSX: ["tsx"],
  HTML: ["html", "htm", "xhtml"],
  CSS: ["css"],
} as const satisfies Record<string, readonly string[]>;

export type RewriteLanguage = keyof typeof LANGUAGES;

export interface Rewritten {
  readonly text: string;
  readonly replacements: number;
  /** The lines at which a node fits the pattern only in part; such a node stays as it is. */
  readonly partial: readonly number[];
}

const HOLE = /\${1,3}([A-Z_][A-Z0-9_]*)/g;

/** Holes of a pattern that the parser fills without telling with what: `$_`, `$_NAME` and `$$$`. */
const UNNAMED_HOLE = /(\${1,3})_[A-Z0-9_]*|(\$\$\$)(?![A-Z_])/g;

/**
 * Rewrites one file's text; undefined where nothing fits. A pattern that does not parse is refused before any file is
 * read.
 */
export async function rewriter(
  language: RewriteLanguage,
  pattern: string,
  rewrite: string,
): Promise<(text: string, file: string) => Rewritten | undefined> {
  const { Lang, parse } = await import("@ast-grep/napi");
  const lang = {
    JavaScript: Lang.JavaScript,
    TypeScript: Lang.TypeScript,
    TSX: Lang.Tsx,
    HTML: Lang.Html,
    CSS: Lang.Css,
  }[language];
  const known = holesOf(pattern.replace(UNNAMED_HOLE, ""));
  const unknown = [...holesOf(rewrite)].find((hole) => !known.has(hole));
  if (unknown !== undefined)
    throw refusedPatternError(`The rewrite uses $${unknown}, which the pattern does not have.`);
  // A hole is not a word in every language; to see whether the rest is code, each hole is filled with one.
  if (isBroken(parse(lang, pattern.replace(HOLE, "z$1")).root())) {
    throw refusedPatternError(`The pattern ${shown(pattern)} does not parse as ${language}.`);
  }
  let unnamed = 0;
  // With names of their own, what they take can be told from what the pattern leaves out.
  const named = pattern.replace(UNNAMED_HOLE, (_, one?: string, all?: string) => `${one ?? all}UNNAMED_${unnamed++}`);
  const search = (root: SgNode): SgNode[] => {
    try {
      return root.findAll(named);
    } catch (error) {
      throw refusedPatternError(`The pattern ${shown(pattern)} does not parse as one piece of ${language}.`, error);
    }
  };
  search(parse(lang, "").root());
  return (text, file) => {
    const root = parse(lang, text).root();
    const result = replaceAll(text, search(root), { pattern: named, rewrite });
    if (result.replacements === 0) return result.partial.length === 0 ? undefined : result;
    if (!isBroken(root) && isBroken(parse(lang, result.text).root())) {
      throw new AgentsError(
        "tool_failed",
        `The rewrite would leave ${shown(file)} as something that is not ${language}.`,
        {
          kept: "Nothing was changed.",
          detail: { path: file },
        },
      );
    }
    return result;
  };
}

function holesOf(code: string): Set<string> {
  return new Set(Array.from(code.matchAll(HOLE), ([, name = ""]) => name));
}

/**
 * Matches inside what a hole took are replaced too; those in what the rewrite drops go with it. The end of a
 * statement stays unless the pattern names it: `foo($A)` also finds `foo(1);`.
 *
 * The parser's own match is not enough: it passes over trailing siblings, keywords and comments, so that `var $A =
 * $B` finds `var a = 1, b = 2` and `if ($A) $B` finds an `if` with its `else`. Its stricter modes do not help: they
 * lose trailing commas that count, and find `a - b` for `$A + $B`. So a match is replaced only if every letter of it
 * is in a hole or in the pattern.
 */
function replaceAll(text: string, matches: readonly SgNode[], code: { pattern: string; rewrite: string }): Rewritten {
  const { pattern, rewrite } = code;
  const ended = [pattern, rewrite].some((one) => one.trimEnd().endsWith(";"));
  const found = matches.map((node) => {
    const start = node.range().start.index;
    const end = endOf(node, ended);
    return { node, start, end, whole: isAll(text.slice(start, end), filledPattern(pattern, node, text)) };
  });
  const places = found.filter(({ whole }) => whole);
  const done = new Set<number>();
  // They come in the order of the text, so those inside one follow it.
  const between = (start: number, end: number, from: number): string => {
    let [result, at] = ["", start];
    for (let index = from; index < places.length; index += 1) {
      const place = places[index];
      if (place === undefined || place.start >= end) break;
      if (place.start < at || place.end > end) continue;
      result += text.slice(at, place.start) + filled(place.node, index);
      at = place.end;
    }
    return result + text.slice(at, end);
  };
  const filled = (node: SgNode, index: number): string => {
    done.add(index);
    return rewrite.replace(HOLE, (_, name: string) => {
      const taken = takenBy(node, name);
      return taken === undefined ? "" : between(taken.start, taken.end, index + 1);
    });
  };
  const partial = found.filter(({ whole }) => !whole).map(({ node }) => node.range().start.line + 1);
  return { text: between(0, text.length, 0), replacements: done.size, partial };
}

/** Where the part ends that the pattern speaks of: comments and the semicolon behind it belong to the surroundings. */
function endOf(node: SgNode, ended: boolean): number {
  const children = node.children();
  const isBehind = (child: SgNode): boolean => child.kind() === "comment" || (!ended && child.kind() === ";");
  let last = children.at(-1);
  while (children.length > 1 && last !== undefined && isBehind(last)) {
    children.pop();
    last = children.at(-1);
  }
  return (last ?? node).range().end.index;
}

function takenBy(node: SgNode, hole: string): { start: number; end: number } | undefined {
  const single = node.getMatch(hole);
  const taken = single === null ? node.getMultipleMatches(hole) : [single];
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { start: first.range().start.index, end: last.range().end.index };
}

function filledPattern(pattern: string, node: SgNode, text: string): string {
  return pattern.replace(HOLE, (_, name: string) => {
    const taken = takenBy(node, name);
    return taken === undefined ? "" : text.slice(taken.start, taken.end);
  });
}

/**
 * Whether the code has nothing that the filled pattern lacks, but for white space, semicolons and a comma before a
 * closing bracket, which say nothing. A comma after another one, or after the opening bracket, says something:
 * `[a,,]` has two elements.
 */
function isAll(code: string, filled: string): boolean {
  const [given, wanted] = [code.replace(/\s+/g, ""), filled.replace(/\s+/g, "")];
  let at = 0;
  for (let index = 0; index < given.length; index += 1) {
    if (given[index] === wanted[at]) at += 1;
    else if (given[index] !== ";" && !/^[^,([{<],[)\]}>]/.test(given.slice(index - 1, index + 2))) return false;
  }
  return at === wanted.length;
}

/** Whether the parser had to skip something, or to make up something that is not there. */
function isBroken(root: SgNode): boolean {
  if (root.find({ rule: { kind: "ERROR" } }) !== null) return true;
  const open: SgNode[] = root.children();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.isLeaf() && node.text() === "") return true;
    open.push(...node.children());
  }
  return false;
}

function refusedPatternError(message: string, cause?: unknown): AgentsError {
  return new AgentsError("tool_failed", message, { cause, kept: "Nothing was changed." });
}
