import type { SgNode } from "@ast-grep/napi";
import { AgentsError } from "../../domain/errors.ts";
import { shown } from "../../domain/text.ts";

/**
 * Search and replace by the structure of code instead of its letters: a pattern is code with holes, `$A` for one node and `$$$ARGS`
 * for several, and what stood in a hole goes where the rewrite names it. The parser is native code and large, so it is loaded when
 * the first rewrite asks for it, never before.
 */
export const LANGUAGES = {
  JavaScript: ["js", "mjs", "cjs", "jsx"],
  TypeScript: ["ts", "mts", "cts"],
  TSX: ["tsx"],
  HTML: ["html", "htm", "xhtml"],
  CSS: ["css"],
} as const satisfies Record<string, readonly string[]>;

export type Language = keyof typeof LANGUAGES;

export interface Rewritten {
  readonly text: string;
  readonly replacements: number;
}

const HOLE = /\${1,3}([A-Z_][A-Z0-9_]*)/g;

/** What rewrites one file's text; undefined where nothing matches. A pattern that is no code is refused before any file is read. */
export async function rewriter(
  language: Language,
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
  const known = holesOf(pattern);
  const unknown = [...holesOf(rewrite)].find((hole) => !known.has(hole));
  if (unknown !== undefined) throw refusedPattern(`The rewrite uses $${unknown}, which the pattern does not have.`);
  // A hole is no word in every language; to see whether the rest is code, each is filled with one.
  if (isBroken(parse(lang, pattern.replace(HOLE, "z$1")).root())) {
    throw refusedPattern(`The pattern ${shown(pattern)} does not parse as ${language}.`);
  }
  const search = (root: SgNode): SgNode[] => {
    try {
      return root.findAll(pattern);
    } catch (error) {
      throw refusedPattern(`The pattern ${shown(pattern)} does not parse as one piece of ${language}.`, error);
    }
  };
  search(parse(lang, "").root());
  return (text, file) => {
    const root = parse(lang, text).root();
    const result = replaceAll(text, search(root), { pattern, rewrite });
    if (result.replacements === 0) return undefined;
    if (!isBroken(root) && isBroken(parse(lang, result.text).root())) {
      throw new AgentsError(
        "tool_failed",
        `The rewrite would leave ${shown(file)} as something that is no ${language}.`,
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
 * Matches inside what a hole took are replaced too; those in what the rewrite drops go with it. The end of a statement stays unless
 * the pattern names it: `foo($A)` also finds `foo(1);`.
 */
function replaceAll(text: string, matches: readonly SgNode[], code: { pattern: string; rewrite: string }): Rewritten {
  const { pattern, rewrite } = code;
  const ended = [pattern, rewrite].some((one) => one.trimEnd().endsWith(";"));
  const places = matches.map((node) => {
    const { start, end } = node.range();
    return { node, start: start.index, end: end.index - (!ended && text[end.index - 1] === ";" ? 1 : 0) };
  });
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
      const single = node.getMatch(name);
      const taken = single === null ? node.getMultipleMatches(name) : [single];
      const [first, last] = [taken[0], taken.at(-1)];
      if (first === undefined || last === undefined) return "";
      return between(first.range().start.index, last.range().end.index, index + 1);
    });
  };
  return { text: between(0, text.length, 0), replacements: done.size };
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

function refusedPattern(message: string, cause?: unknown): AgentsError {
  return new AgentsError("tool_failed", message, { cause, kept: "Nothing was changed." });
}
