/**
 * Known answers: a small version of the measurement of `npm run bench -- context` on real code, on code that stays the
 * same. All strategies together must show at least as many of the related files as the best of them alone.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { questionsAbout } from "../testing/answer-sets.ts";
import { generatedCode } from "../testing/generated-code.ts";
import { ContextLab, JUDGED, recallOf, shownFiles } from "../testing/recall.ts";

const QUESTIONS = questionsAbout(generatedCode(), 6);

let directory: string;
let lab: ContextLab;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "recall-"));
  const root = join(directory, "code");
  for (const { path, text } of generatedCode()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  lab = await ContextLab.of(root, join(directory, "data"));
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function meanRecall(tokens: number, strategy?: string): Promise<number> {
  let sum = 0;
  for (const question of QUESTIONS)
    sum += recallOf(question, shownFiles(await lab.ask(question, tokens, { strategy })));
  return sum / QUESTIONS.length;
}

test.each([1_000, 8_000])("within %s tokens all together show as much as the best alone", async (tokens) => {
  expect(QUESTIONS).toHaveLength(18);
  const alone: number[] = [];
  for (const strategy of JUDGED) alone.push(await meanRecall(tokens, strategy));
  const together = await meanRecall(tokens);
  expect(together).toBeGreaterThanOrEqual(Math.max(...alone));
  expect(together).toBeGreaterThan(tokens === 1_000 ? 0.6 : 0.95);
});

test("each of them contributes", async () => {
  const [question] = QUESTIONS;
  if (question === undefined) throw new Error("there is no question");
  const { fragments } = await lab.ask(question, 8_000);
  expect(new Set(fragments.flatMap(({ strategies }) => strategies))).toEqual(new Set(JUDGED));
});
