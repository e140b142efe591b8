/** Where an edit applies: the tiers, what stays byte for byte, and what is refused. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scoreEdits } from "../../../bench/edits.ts";
import { applyEdit, type Edit } from "./edit-match.ts";

const applied = (text: string, edit: Edit): readonly [tier: string, text: string] | string => {
  const result = applyEdit(text, edit);
  return result.ok ? [result.tier, result.text] : `${result.why} ${result.lines.join(",")}`.trim();
};

const CODE = "def f(a):\n    if a:\n        return 1\n\n    return 2\n";

describe("an edit is found", () => {
  test("exactly, once", () => {
    expect(applied("a b a", { old: "b", new: "$&" })).toEqual(["exact", "a $& a"]);
    expect(applied("a b a", { old: "a", new: "x" })).toBe("ambiguous 1,1");
    expect(applied("a\nb\na", { old: "a", new: "x" })).toBe("ambiguous 1,3");
    expect(applied("a b a", { old: "a", new: "x", replaceAll: true })).toEqual(["exact", "x b x"]);
    expect(applied("a b a", { old: "c", new: "x" })).toBe("missing");
  });

  test("with other line ends, which stay those of the file", () => {
    expect(applied("a\r\nb\r\nc\r\n", { old: "a\nb", new: "a\nx\nb" })).toEqual(["line ends", "a\r\nx\r\nb\r\nc\r\n"]);
    expect(applied("a\nb\n", { old: "a\r\nb", new: "a\r\nc" })).toEqual(["line ends", "a\nc\n"]);
  });

  test("without trailing blanks, which lines that stay keep", () => {
    expect(applied("a  \nb\t\nc\n", { old: "a\nb\nc\n", new: "a\nB\nc\n" })).toEqual([
      "trailing blanks",
      "a  \nB\nc\n",
    ]);
    expect(applied("a\n   \nb\n", { old: "a\n\nb", new: "a\n\nc" })).toEqual(["trailing blanks", "a\n   \nc\n"]);
  });

  test("with typographic characters, which do not get into the file", () => {
    expect(applied('say("it\'s")\n', { old: "say(“it’s”)", new: "say(“it’s”, 2)" })).toEqual([
      "typography",
      'say("it\'s", 2)\n',
    ]);
    expect(applied("a – b\n", { old: "a - b", new: "a - c" })).toEqual(["typography", "a - c\n"]);
  });

  test("with one shift of the indentation, also of tabs for spaces; new lines are shifted alike", () => {
    const shifted = { old: "if a:\n    return 1", new: "if a:\n    log()\n    return 1" };
    expect(
      applied(CODE.replaceAll("    ", "  "), { old: "    if a:\n      return 1", new: "    if b:\n      return 1" }),
    ).toEqual(["indentation", "def f(a):\n  if b:\n    return 1\n\n  return 2\n"]);
    expect(applied(CODE, shifted)).toEqual([
      "indentation",
      CODE.replace("        return 1", "        log()\n        return 1"),
    ]);
    expect(
      applied(CODE.replaceAll("    ", "\t"), {
        old: "    if a:\n        return 1",
        new: "    if a:\n        return 3",
      }),
    ).toEqual(["indentation", "def f(a):\n\tif a:\n\t\treturn 3\n\n\treturn 2\n"]);
    // Not one shift: the structure could be another.
    expect(applied(CODE, { old: "if a:\nreturn 1", new: "x" })).toBe("missing");
    // A new line that would have to begin left of the margin.
    expect(applied("a\n  b\n", { old: "    a\n      b", new: "    a\nb" })).toBe("missing");
  });

  test("without blank lines at its edges", () => {
    expect(applied("a\nb\nc", { old: "\nb\n\n", new: "\nx\n\n" })).toEqual(["blank edges", "a\nx\nc"]);
    expect(applied("a\nb", { old: "b\n", new: "c\n" })).toEqual(["trailing blanks", "a\nc"]);
  });

  test("with escapes that should have been resolved", () => {
    expect(applied('a("x")\nb\n', { old: 'a(\\"x\\")\\nb', new: 'a(\\"y\\")\\nb' })).toEqual([
      "escapes",
      'a("y")\nb\n',
    ]);
  });

  test("at the first tier that finds it, and never at two places of one tier", () => {
    expect(applied("  a\na\n", { old: "\na\n", new: "\nb\n" })).toEqual(["exact", "  a\nb\n"]);
    expect(applied("  a b\n    a b\n", { old: "a  b", new: "c" })).toBe("missing");
    expect(applied("  if x:\n    y\n      if x:\n        y\n", { old: "if x:\n  y", new: "z" })).toBe("ambiguous 1,3");
    expect(applied("foobar\nfoo\n", { old: "foo", new: "x", wholeLines: true })).toEqual(["exact", "foobar\nx\n"]);
  });
});

test("slightly wrong edits are applied as meant, and unclear ones are refused", () => {
  const { mean, wrong, unclear } = scoreEdits({ root: join(import.meta.dirname, "../../.."), count: 80, seed: 7 });
  expect(mean).toBeGreaterThanOrEqual(0.9);
  expect(wrong).toBeLessThanOrEqual(0.002);
  for (const { edits, refused } of unclear) expect(refused).toBe(edits);
});
