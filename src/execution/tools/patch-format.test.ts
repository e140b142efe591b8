/** The patch format of some models: what is read of it, and what is refused by name before anything changes. */
import { describe, expect, test } from "vitest";
import { parsePatch } from "./patch-format.ts";

const framed = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** The words by which the model is refused. */
function refusalOf(...lines: readonly string[]): string {
  try {
    return `read as ${JSON.stringify(parsePatch(framed(...lines)))}`;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}

describe("a patch is refused", () => {
  test.each<[string, readonly string[], string]>([
    ["that names no file", [], "it names no file"],
    ["of blank lines alone", ["", "  "], "it names no file"],
    ["with a line in front of its first file", ["+x"], 'the line "+x" belongs to no file'],
    ["whose update has no lines", ["*** Update File: a.ts"], 'the update of "a.ts" changes nothing'],
    ["whose update has anchors alone", ["*** Update File: a.ts", "@@ f()"], 'the update of "a.ts" changes nothing'],
    [
      "whose new file has a line without a sign",
      ["*** Add File: a.ts", "+one", "two"],
      'in the new file "a.ts" the line "two" does not begin with "+"',
    ],
    [
      "whose new file has a line without a sign behind an empty one",
      ["*** Add File: a.ts", "+one", "", "two", "+three"],
      'in the new file "a.ts" the line "two" does not begin with "+"',
    ],
    [
      "whose update has a line without a sign",
      ["*** Update File: a.ts", "+one", "two"],
      'in "a.ts" the line "two" begins with none of " ", "-", "+" and "@@"',
    ],
  ])("%s", (_, lines, why) => {
    expect(refusalOf(...lines)).toBe(`The patch cannot be applied: ${why}.`);
  });
});

describe("a patch is read", () => {
  test("with blank lines between its files, which belong to none of them", () => {
    const files = parsePatch(
      framed("", "*** Add File: a.txt", "+a", "", "*** Delete File: b.txt", "", "*** Delete File: c"),
    );
    expect(files).toEqual([
      { kind: "add", path: "a.txt", content: "a\n" },
      { kind: "delete", path: "b.txt" },
      { kind: "delete", path: "c" },
    ]);
  });

  test("with an empty line of a new file that lacks its sign", () => {
    expect(parsePatch(framed("*** Add File: a.txt", "+a", "", "+b"))).toEqual([
      { kind: "add", path: "a.txt", content: "a\n\nb\n" },
    ]);
  });

  test("as a move alone, which changes no line", () => {
    expect(parsePatch(framed("*** Update File: a.txt", "*** Move to: b.txt"))).toEqual([
      { kind: "update", path: "a.txt", to: "b.txt", hunks: [] },
    ]);
  });

  test("with several anchors in front of one hunk, the outermost first, and none of them line numbers", () => {
    const lines = ["@@ class A @@", "@@ -1,2 +1,2 @@", "@@ f()", "-x", "+y", "@@", " z", "+w"];
    expect(parsePatch(framed("*** Update File: a.py", ...lines))).toEqual([
      {
        kind: "update",
        path: "a.py",
        to: undefined,
        hunks: [
          { anchors: ["class A", "f()"], old: ["x"], new: ["y"], atEnd: false },
          { anchors: [], old: ["z"], new: ["z", "w"], atEnd: false },
        ],
      },
    ]);
  });

  test("without its frame and with the line ends of Windows", () => {
    expect(parsePatch("*** Update File: a.txt\r\n-x\r\n+y\r\n*** End of File\r\n")).toEqual([
      { kind: "update", path: "a.txt", to: undefined, hunks: [{ anchors: [], old: ["x"], new: ["y"], atEnd: true }] },
    ]);
  });
});
