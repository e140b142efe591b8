/** A patch of git, taken apart so that each group of lines can be put into its file at the right place. */
import { describe, expect, test } from "vitest";
import { countChanged, groupsOf, linesOf, parsePatch, type PatchFile } from "./git-patch.ts";

const parsed = (...lines: readonly string[]): PatchFile[] => parsePatch(`${lines.join("\n")}\n`);

const UPDATE = ["diff --git a/a.txt b/a.txt", "index 1..2 100644", "--- a/a.txt", "+++ b/a.txt"];

/** The old file with all groups of the patch put into it. */
function applied(before: string, patch: readonly PatchFile[]): string {
  const lines = linesOf(before);
  const groups = patch.flatMap((file) => file.hunks.flatMap(groupsOf));
  for (const { oldAt, removed, added } of groups.toReversed()) {
    expect(lines.slice(oldAt, oldAt + removed.length)).toEqual(removed);
    lines.splice(oldAt, removed.length, ...added);
  }
  return lines.join("");
}

describe("the files of a patch", () => {
  test("are found behind a letter and in front of a signature, as a patch in a mail has them", () => {
    const hunk = ["@@ -1 +1 @@", "-old", "+new"];
    const [file, ...more] = parsed(
      "From: a",
      "Subject: b",
      "---",
      " a.txt | 2 +-",
      "",
      ...UPDATE,
      ...hunk,
      "-- ",
      "2.47",
    );
    expect(more).toEqual([]);
    expect(file).toEqual({
      header: UPDATE,
      before: "a.txt",
      after: "a.txt",
      isBinary: false,
      hunks: [{ header: "@@ -1 +1 @@", oldStart: 1, newStart: 1, lines: ["-old", "+new"] }],
    });
  });

  test("do not begin at a changed line that looks like the header of a file", () => {
    const files = parsed(...UPDATE, "@@ -1,2 +1,1 @@", "-diff --git a/x b/x", " stays", ...UPDATE.slice(0, 2));
    expect(files.map(({ hunks }) => hunks.map(({ lines }) => lines))).toEqual([
      [["-diff --git a/x b/x", " stays"]],
      [],
    ]);
  });

  test("have the names that git wrote in quotes: bytes in octal, escapes and quotation marks", () => {
    const name = String.raw`na\303\257ve\t\"x\" \\.txt`;
    const [changed] = parsed(`diff --git "a/${name}" "b/${name}"`, "old mode 100644", "new mode 100755");
    expect([changed?.before, changed?.after]).toEqual(['naïve\t"x" \\.txt', 'naïve\t"x" \\.txt']);
    const [renamed] = parsed(
      String.raw`diff --git a/plain.txt "b/\346\227\245.txt"`,
      "similarity index 100%",
      "rename from plain.txt",
      String.raw`rename to "\346\227\245.txt"`,
    );
    expect([renamed?.before, renamed?.after]).toEqual(["plain.txt", "日.txt"]);
  });

  test("exist on one side only when they are new or deleted", () => {
    const files = parsed(
      "diff --git a/n b/n",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/n",
      "@@ -0,0 +1 @@",
      "+n",
      "diff --git a/d b/d",
      "deleted file mode 100644",
      "--- a/d",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-d",
    );
    expect(files.map(({ before, after }) => [before, after])).toEqual([
      [undefined, "n"],
      ["d", undefined],
    ]);
    const places = files.map(({ hunks }) => hunks.flatMap(groupsOf).map(({ oldAt, newAt }) => [oldAt, newAt]));
    expect(places).toEqual([[[0, 0]], [[0, 0]]]);
  });
});

describe("the groups of a hunk", () => {
  test("of added lines alone, without context, stand after the line that the hunk names", () => {
    const patch = parsed(...UPDATE, "@@ -2,0 +3,2 @@", "+x", "+y");
    expect(patch.flatMap(({ hunks }) => hunks.flatMap(groupsOf))).toEqual([
      { oldAt: 2, newAt: 2, removed: [], added: ["x\n", "y\n"], from: 0, to: 2 },
    ]);
    expect(applied("1\n2\n3\n", patch)).toBe("1\n2\nx\ny\n3\n");
  });

  test("of removed lines alone, without context, leave the place in the new file after the line named", () => {
    const patch = parsed(...UPDATE, "@@ -2,2 +1,0 @@", "-2", "-3");
    expect(patch.flatMap(({ hunks }) => hunks.flatMap(groupsOf))).toEqual([
      { oldAt: 1, newAt: 1, removed: ["2\n", "3\n"], added: [], from: 0, to: 2 },
    ]);
    expect(applied("1\n2\n3\n4\n", patch)).toBe("1\n4\n");
  });

  test("keep a missing newline at the end of the file on the side that lacks it", () => {
    const mark = String.raw`\ No newline at end of file`;
    const gained = parsed(...UPDATE, "@@ -1,2 +1,2 @@", " 1", "-2", mark, "+2");
    expect(applied("1\n2", gained)).toBe("1\n2\n");
    const lost = parsed(...UPDATE, "@@ -1,2 +1,2 @@", "-1", "+one", " 2", mark);
    expect(applied("1\n2", lost)).toBe("one\n2");
    expect(lost.flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines)).at(-1)).toBe(mark);
  });

  test("are counted by their signs, without lines that stay", () => {
    const [file] = parsed(...UPDATE, "@@ -1,3 +1,4 @@", " 1", "-2", "+two", "+and", " 3");
    expect(countChanged(file?.hunks ?? [])).toEqual({ insertions: 2, deletions: 1 });
  });
});
