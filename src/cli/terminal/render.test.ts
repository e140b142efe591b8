import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { coded } from "./gate.ts";
import { render as parts, screenFor, type Screen, type Terminal } from "./render.ts";
import { fit, fitEnd, oneLine, pad, width, wrapped } from "./terminal-text.ts";
import { toned, type View } from "./view.ts";

const VIEW: View = [
  {
    kind: "fields",
    title: "Plan",
    rows: [
      ["does", "Fix a rather long thing that needs more than one line on a narrow terminal"],
      ["state", toned("errored", "bad")],
    ],
  },
  { kind: "lines", title: "Notes", lines: ["one", toned("two", "dim")] },
  {
    kind: "table",
    title: "Plans",
    columns: [{ keep: "Id" }, "Action", "Description"],
    rows: [["01ARZ3NDEKTSV4RRFFQ69G5FAV", "local/fix", toned("日本語 text\nwith a break", "good")]],
    empty: "nothing",
  },
  { kind: "table", title: "Empty", columns: ["A"], rows: [], empty: "nothing here" },
];

const render = (view: View, screen: Screen): string => coded(parts(view, screen));

const terminal = (parts: Partial<Terminal> = {}): Terminal => ({ isTTY: true, columns: 60, environment: {}, ...parts });

test("rich and table draw frames that all have the same width", () => {
  for (const format of ["rich", "table"] as const) {
    const text = stripVTControlCharacters(render(VIEW, { format, columns: 60 }));
    const grid = text.split("\n").filter((line) => /^[│┌├└]/.test(line) && !line.includes("─"));
    expect(grid.length).toBeGreaterThan(2);
    for (const block of text.split(/\n(?=[╭┌])/)) {
      const framed = block.split("\n").filter((line) => /^[│┌├└╭╰]/.test(line));
      expect(new Set(framed.map((line) => width(line))).size).toBe(1);
    }
    expect(text).toContain("nothing here");
  }
});

test("nothing is wider than the terminal, and a kept column is never cut", () => {
  for (const columns of [56, 60, 80]) {
    for (const format of ["rich", "color", "table", "plain"] as const) {
      const lines = stripVTControlCharacters(render(VIEW, { format, columns })).split("\n");
      expect(Math.max(...lines.map((line) => width(line))), `${format} at ${columns}`).toBeLessThanOrEqual(columns);
      expect(lines.join("\n")).toContain("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    }
  }
});

test("long lines continue below within their frame, as far to the right as they began", () => {
  const lines = ["note: Write", "    because: it was asked for by many, and by me"];
  const text = render([{ kind: "lines", title: "Steps", lines }], { format: "table", columns: 30 });
  expect(text.split("\n")).toEqual([
    "╭─ Steps ────────────────────╮",
    "│ note: Write                │",
    "│     because: it was asked  │",
    "│     for by many, and by me │",
    "╰────────────────────────────╯",
  ]);
  expect(render([{ kind: "lines", title: "Steps", lines }], { format: "plain", columns: undefined })).toContain(
    lines[1],
  );
});

test("a table that does not fit is a paragraph for each row, where nothing is cut", () => {
  const view: View = [
    {
      kind: "table",
      title: "Plans",
      columns: [{ keep: "Id" }, "Action"],
      rows: [
        ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "local/fix-all-of-them"],
        ["01ARZ3NDEKTSV4RRFFQ69G5FAW", toned("local/run", "good")],
      ],
      empty: "nothing",
    },
  ];
  const expected = [
    "Plans",
    "  Id:     01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "  Action: local/fix-all-of-them",
    "",
    "  Id:     01ARZ3NDEKTSV4RRFFQ69G5FAW",
    "  Action: local/run",
  ];
  for (const format of ["rich", "table", "plain"] as const) {
    expect(stripVTControlCharacters(render(view, { format, columns: 34 })).split("\n")).toEqual(expected);
  }
});

test("around a path that is longer than the line there is no frame, and an empty frame is not drawn", () => {
  const rows = [["from", "/home/ann/a/rather/long/path/to/a/folder"]] as const;
  for (const format of ["rich", "table"] as const) {
    const text = stripVTControlCharacters(render([{ kind: "fields", title: "Skill", rows }], { format, columns: 40 }));
    expect(text).toBe("Skill\n  from: /home/ann/a/rather/long/path/to/a/folder");
  }
  const empty: View = [
    { kind: "fields", title: "None", rows: [] },
    { kind: "lines", title: "None", lines: [] },
  ];
  expect(render(empty, { format: "rich", columns: 80 })).toBe("");
});

test("without a terminal nothing is cut", () => {
  expect(render(VIEW, { format: "plain", columns: undefined })).toContain("日本語 text with a break");
});

test("plain and table have no escape sequences, rich and color have", () => {
  const hasColor = (format: "rich" | "color" | "table" | "plain"): boolean =>
    render(VIEW, { format, columns: 80 }).includes("\u001b[");
  expect([hasColor("plain"), hasColor("table"), hasColor("color"), hasColor("rich")]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test.each([
  ["a terminal", terminal(), "rich"],
  ["a pipe", terminal({ isTTY: false }), "plain"],
  ["NO_COLOR", terminal({ environment: { NO_COLOR: "1" } }), "plain"],
  ["an empty NO_COLOR", terminal({ environment: { NO_COLOR: "" } }), "rich"],
  ["TERM=dumb", terminal({ environment: { TERM: "dumb" } }), "plain"],
  ["a pipe with FORCE_COLOR", terminal({ isTTY: false, environment: { FORCE_COLOR: "1" } }), "rich"],
  ["a pipe with FORCE_COLOR=0", terminal({ isTTY: false, environment: { FORCE_COLOR: "0" } }), "plain"],
])("rich on %s", (_, where, expected) => {
  expect(screenFor("rich", where).format).toBe(expected);
  expect(screenFor("table", where).format).toBe("table");
});

test("a terminal that does not know its width has 80 columns", () => {
  expect(screenFor("rich", terminal({ columns: undefined })).columns).toBe(80);
});

test("widths count columns, not characters", () => {
  expect([width("abc"), width("日本"), width("e\u0301"), width(["r", toned("ed", "bad")]), width("🚀")]).toEqual([
    3, 4, 1, 3, 2,
  ]);
  expect([width("a\u001b"), width("\b"), width("\u202e"), width("👩\u200d💻")]).toEqual([9, 8, 8, 4]);
  expect([width("✅"), width("🟢"), width("⭐"), width("🇩🇪"), width("✔")]).toEqual([2, 2, 2, 2, 1]);
  expect(fit("日本語", 5)).toBe("日本…");
  expect([fitEnd("日本語", 5), fitEnd("ae\u0301", 1), fitEnd("ab\u0301c", 2), fitEnd("short", 9)]).toEqual([
    "…本語",
    "…",
    "…c",
    "short",
  ]);
  expect(fit("short", 9)).toBe("short");
  expect(pad("日", 4)).toBe("日  ");
  expect(oneLine("a\n\tb\u001b[2Jc")).toBe("a b<U+001B>[2Jc");
  expect(fit("👩\u200d💻!", 3)).toBe("👩…");
});

test("a text breaks at spaces; without any, where its language allows it, and a path never", () => {
  expect(wrapped("  one two three", 9)).toEqual(["  one two", "  three"]);
  expect(wrapped("one two three", 9, 2)).toEqual(["one two", "  three"]);
  expect(wrapped("see /a/very/long/path it is", 10)).toEqual(["see", "/a/very/long/path", "it is"]);
  expect(wrapped("  日本語の文章を書きます。長い文", 14)).toEqual(["  日本語の文章", "  を書きます。", "  長い文"]);
  expect(wrapped("read 日本語.md now", 12)).toEqual(["read", "日本語.md", "now"]);
  expect(wrapped("", 12)).toEqual([""]);
});

test("on a terminal long lines are broken in every format, and in a file in none", () => {
  const view: View = [{ kind: "lines", title: "Answer", lines: ["a sentence that is long", "", "short"] }];
  const plain = (columns: number | undefined): string => render(view, { format: "plain", columns });
  expect(plain(20)).toBe("Answer\n  a sentence that is\n  long\n\n  short");
  expect(plain(undefined)).toBe("Answer\n  a sentence that is long\n\n  short");
});
