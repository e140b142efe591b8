/** A rewrite takes nothing away that neither the pattern nor one of its holes names. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rewriter, type RewriteLanguage } from "./structural-rewrite.ts";

describe("a node that fits only in part stays, and its line is told", () => {
  test.each([
    ["JavaScript", "var $A = require($B)", "const $A = require($B)", "var a = require(x), b = require(y)"],
    ["JavaScript", "function $F($$$A) { $$$B }", "const $F = ($$$A) => { $$$B }", "async function f(a) { b; }"],
    ["JavaScript", "if ($A) $B", "$A && $B", "if (a) b; else c"],
    ["JavaScript", "try { $$$A } catch ($E) { $$$B }", "go(() => { $$$A })", "try { a } catch (e) { b } finally { c }"],
    ["JavaScript", "for (let $A of $B) { $$$C }", "$B.map(($A) => { $$$C })", "for await (let a of b) { c }"],
    ["JavaScript", "new $A", "$A.make()", "new A(1)"],
    ["JavaScript", "[$A]", "one($A)", "[a,,]"],
    ["JavaScript", "foo($A)", "bar($A)", "foo(/* why */ a)"],
    ["JavaScript", "foo($A)", "bar($A)", "foo(a /* why */)"],
    ["TypeScript", "const $A = $B", "let $A = $B", "export const a = 1, b = 2;"],
    ["TSX", "if ($A) { return $B }", "return $A ? $B : null", "if (a) { return b } else { return <p/> }"],
  ] as const)("%s: %s → %s in %s", async (language, pattern, into, text) => {
    const rewritten = (await rewriter(language, pattern, into))(`\n${text}`, "file");
    expect(rewritten).toEqual({ text: `\n${text}`, replacements: 0, partial: [2] });
  });

  test("while what is inside of it, and what fits as a whole, is rewritten", async () => {
    const rewrite = await rewriter("JavaScript", "var $A = f($B)", "const $A = g($B)");
    expect(rewrite("var a = f(function () { var c = f(1); }), b = f(2)\nvar d = f(3) // why\n", "file")).toEqual({
      text: "var a = f(function () { const c = g(1); }), b = f(2)\nconst d = g(3) // why\n",
      replacements: 2,
      partial: [1],
    });
  });

  test.each([
    ["foo($A)", "bar($A)", "foo(a,)", "bar(a)"],
    ["throw $A", "raise($A)", "throw a // why", "raise(a) // why"],
    ["return $A", "return [$A]", "() => { return a /* why */; }", "() => { return [a] /* why */; }"],
    ["{ f($A)\n g($B) }", "{ h($A, $B) }", "if (x) { f(1); g(2); }", "if (x) { h(1, 2) }"],
    ["foo($$$A)", "bar($$$A)", "foo(/* why */)", "bar(/* why */)"],
    ["foo($A, $$$)", "foo($A)", "foo(1, 2, 3)", "foo(1)"],
    ["foo($_X, $_X)", "foo()", "foo(1, 2)", "foo()"],
  ])("%s → %s: %s fits as a whole", async (pattern, into, text, expected) => {
    const rewrite = await rewriter("JavaScript", pattern, into);
    expect(rewrite(text, "file")).toEqual({ text: expected, replacements: 1, partial: [] });
  });

  test.each(["$_", "$_X", "$$$_"])("the rewrite cannot use %s, which is not kept", async (hole) => {
    await expect(rewriter("JavaScript", "foo($_, $_X, $$$_)", `bar(${hole})`)).rejects.toMatchObject({
      message: expect.stringContaining("which the pattern does not have"),
    });
  });
});

/**
 * Each rewrite uses every hole of its pattern once, so that every name of the source must be in the result as often
 * as before.
 */
const REWRITES: Record<RewriteLanguage, readonly (readonly [pattern: string, rewrite: string])[]> = {
  JavaScript: [
    ["var $A = $B", "const $A = $B"],
    ["var $A = f($B)", "const $A = g($B)"],
    ["f($A)", "g($A)"],
    ["f($A, $B)", "g($B, $A)"],
    ["f($$$A)", "g($$$A)"],
    ["function $F($$$A) { $$$B }", "const $F = function ($$$A) { $$$B }"],
    ["if ($A) { $$$B }", "while ($A) { $$$B }"],
    ["try { $$$A } catch ($E) { $$$B }", "go(function () { $$$A }, function ($E) { $$$B })"],
    ["class $N { $$$B }", "const $N = class { $$$B }"],
    ["new $A", "make($A)"],
    ["[$A]", "list($A)"],
    ["for (const $A of $B) $C", "each($B, function ($A) { $C })"],
    ["($A) => $B", "function_($A, $B)"],
  ],
  TypeScript: [
    ["const $A = $B", "let $A = $B"],
    ["type $A = $B", "type $A = Readonly<$B>"],
    ["interface $A { $$$B }", "type $A = { $$$B }"],
    ["class $N { $$$B }", "abstract class $N { $$$B }"],
    ["f($A)", "g($A)"],
    ["import { $A } from '$B'", "import { type $A } from '$B'"],
    ["export function $F($$$A) { $$$B }", "export const $F = ($$$A) => { $$$B }"],
    ["function $F($$$A) { $$$B }", "const $F = ($$$A) => { $$$B }"],
  ],
  TSX: [
    ["<P>$$$A</P>", "<Q>$$$A</Q>"],
    ["<P $$$A/>", "<Q $$$A/>"],
    ["<P>$A</P>", "<Q>$A</Q>"],
  ],
  HTML: [
    ["<b>$$$A</b>", "<i>$$$A</i>"],
    ["<b>$A</b>", "<i>$A</i>"],
  ],
  CSS: [
    ["a { color: $C }", "b { color: $C }"],
    [".$A { color: $C }", "#$A { color: $C }"],
  ],
};

/** Pieces of code; `%` stands for a name that occurs nowhere else. */
const PIECES: Record<RewriteLanguage, readonly string[]> = {
  JavaScript: [
    "var % = %",
    "var % = %, % = %;",
    "var % = f(%), % /* % */ = f(%)",
    "var % = f(%) // %",
    "var {%, ...%} = f(%, %)",
    "f(%)",
    "f(%, %);",
    "f(%, ...%)",
    "f(% /* % */)",
    "f(/* % */ %, %,)",
    "f?.(%)",
    "f(f(%), % = f(%))",
    "async function %(%) { await %; }",
    "function* %(%, % = %) { yield %; }",
    "function %({%}, [%]) { f(%); return % }",
    "function %() { /* % */ }",
    "if (%) { f(%) } else { % }",
    "if (%) { f(%); } else if (%) f(%)",
    "if (%) { % } // %",
    "try { f(%) } catch (%) { % } finally { f(%) }",
    "try { % } catch { % }",
    "try { % } catch (%) { % }",
    "class % extends % { static %() {} #% = % }",
    "class % { static { f(%) } get %() { return % } }",
    "new %(%, f(%))",
    "new %",
    "[%, , %]",
    "[%,]",
    "[%,,]",
    "label%: for (const % of %) f(%)",
    "async () => { for await (const % of %) f(%) }",
    "async (%) => %",
    "(%, %) => f(%)",
    "(% = %) => f(%)",
    "x = `a ${f(%)} %`",
  ],
  TypeScript: [
    "const %: % = %",
    "const % = %, %: % = f(%);",
    "declare const %: %",
    "export const % = f<%>(%) as %;",
    "f(%!)",
    "f<%>(%)",
    "type %<%> = % | %",
    "export type % = { readonly %?: % }",
    "declare interface % extends % { % : % }",
    "interface %<% = %> { %(%: %): % }",
    "@%(%) class % implements % { private readonly %: % = % }",
    "abstract class %<%> { abstract %(): %; constructor(private %: %) { f(%) } }",
    "import type { % } from './%'",
    "import { %, % as % } from './%'",
    "import %, { % } from './%' with { type: '%' }",
    "export default function %<%>(this: %, % = %): % { f(%) }",
    "export async function %(%: %) { f(%) }",
    "function %(%): asserts % is % { % }",
    "declare function %(%: %): %",
    "enum % { % = 1, % }",
  ],
  TSX: [
    "x = <P>{%}</P>;",
    "x = <P a={%}>{%} % <b>%</b></P>;",
    "x = <P %={%} {...%}/>;",
    "x = <P<%> a={%}/>;",
    "x = <P>{/* % */}<P>%</P></P>;",
    "x = <><P/>{f(<P %/>)}</>;",
  ],
  HTML: [
    "<b>%</b>",
    "<b class=%>%</b>",
    "<b>% <i>%</i></b>",
    "<b><!-- % -->%</b>",
    "<p>%<b>%<b id='%'>%</b></b></p>",
    "<b %>%",
  ],
  CSS: [
    "a { color: % }",
    "a { color: %; margin: % }",
    "a, .% { color: % %; }",
    "a { /* % */ color: % !important }",
    "a { color: var(--%, %); }",
    "@media % { a { color: % } }",
    "a { color: % /* % */ ; }",
    "a:not(.%) > a { color: % }",
  ],
};

const NAME = /\bname\d+/g;

describe("a name of the source that the rewrite does not drop is in the result", () => {
  test.each(["JavaScript", "TypeScript", "TSX", "HTML", "CSS"] as const)("%s", async (language) => {
    const rewriters = await Promise.all(
      REWRITES[language].map(async ([pattern, into]) => ({ pattern, run: await rewriter(language, pattern, into) })),
    );
    const seen = { replaced: 0, partial: 0 };
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES[language]), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(...rewriters),
        (pieces, { run }) => {
          let count = 0;
          const source = pieces.join("\n").replaceAll("%", () => `name${(count += 1)}`);
          const result = attempt(() => run(source, "file"));
          if (result === undefined) return;
          seen.replaced += result.replacements;
          seen.partial += result.partial.length;
          expect(namesIn(result.text), result.text).toEqual(namesIn(source));
        },
      ),
      { numRuns: 400 },
    );
    expect(seen.replaced).toBeGreaterThan(0);
    if (language === "JavaScript") expect(seen.partial).toBeGreaterThan(0);
  });
});

/** A rewrite that would leave something that does not parse is refused as a whole; that loses nothing either. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && error.message.includes("would leave")) return undefined;
    throw error;
  }
}

function namesIn(text: string): string[] {
  return (text.match(NAME) ?? []).sort();
}
