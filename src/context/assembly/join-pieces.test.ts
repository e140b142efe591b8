import { expect, test } from "vitest";
import type { ScoredFragment } from "../model/context-model.ts";
import { joinPieces } from "./join-pieces.ts";

function piece(startLine: number, endLine: number, changes: Partial<ScoredFragment> = {}): ScoredFragment {
  const lines = Array.from({ length: endLine - startLine + 1 }, (_, at) => `line ${startLine + at}`);
  return {
    entity: `code:a.ts:${startLine}-${endLine}`,
    level: "full",
    relevance: 0.5,
    content: lines.join("\n"),
    tokens: 10,
    provenance: { resource: "code", path: "a.ts", startLine, endLine, hash: "h" },
    reason: "because",
    strategies: ["one"],
    ranks: { one: startLine },
    score: 0.5,
    breakdown: {},
    ...changes,
  };
}

test("pieces that follow one another are one, with the best score and all strategies", () => {
  const [joined, ...others] = joinPieces([piece(3, 4, { strategies: ["two"], score: 0.9 }), piece(1, 2), piece(5, 5)]);
  expect(others).toEqual([]);
  expect(joined).toMatchObject({
    entity: "code:a.ts:1-5",
    content: "line 1\nline 2\nline 3\nline 4\nline 5",
    score: 0.9,
    tokens: 30,
    strategies: ["two", "one"],
  });
});

test("no line is lost between pieces, whether they end with a blank line, with the end of a line, or with neither", () => {
  const lines = ["one", "", "three", "", "", "six"];
  const range = (start: number, end: number, close = ""): ScoredFragment =>
    piece(start, end, { content: lines.slice(start - 1, end).join("\n") + close });
  for (const pieces of [
    [range(1, 2), range(3, 5), range(6, 6)],
    [range(1, 1), range(2, 4), range(5, 6)],
    [range(1, 2, "\n"), range(3, 5, "\n"), range(6, 6)],
    [range(1, 3), range(2, 5), range(4, 4), range(5, 6)],
    [range(1, 4), range(2, 2), range(3, 6)],
    [range(1, 4, "\n"), range(2, 4, "\n"), range(4, 6)],
  ]) {
    expect(joinPieces(pieces).map(({ content }) => content)).toEqual([lines.join("\n")]);
  }
  const cut = piece(1, 2, { content: "one …" });
  expect(joinPieces([cut, range(3, 5)])).toHaveLength(2);
});

test("pieces with lines between them, of other detail or of other files stay apart", () => {
  const apart = [
    piece(1, 2),
    piece(4, 5),
    piece(6, 7, { level: "signatures" }),
    piece(8, 9, { provenance: { resource: "code", path: "b.ts", startLine: 8, endLine: 9, hash: "h" } }),
  ];
  expect(joinPieces(apart)).toEqual(apart);
});
