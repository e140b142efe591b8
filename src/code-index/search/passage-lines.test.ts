import { expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { passagesOf } from "./passage-lines.ts";

test("every line is in exactly one piece, in order", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const lines = Array.from({ length: Math.floor(random() * 300) }, () =>
      random() < 0.2 ? "" : `${" ".repeat(Math.floor(random() * 8))}x`,
    );
    const passages = passagesOf([...lines, ""]);
    const covered = passages.flatMap(({ startLine, endLine }) =>
      Array.from({ length: endLine - startLine + 1 }, (_, at) => startLine + at),
    );
    expect(covered).toEqual(lines.map((_, at) => at + 1));
    for (const { startLine, endLine } of passages) expect(endLine - startLine).toBeLessThan(56);
  }
});

test("pieces end where a definition ends, if that is near", () => {
  const body = Array.from({ length: 30 }, (_, at) => `  const line${at} = ${at};`);
  const lines = ["function one() {", ...body, "}", "", "function two() {", ...body, "}", ""];
  expect(passagesOf(lines)).toEqual([
    { startLine: 1, endLine: 33 },
    { startLine: 34, endLine: 65 },
  ]);
});

test("nothing has no pieces", () => {
  expect(passagesOf([""])).toEqual([]);
});
