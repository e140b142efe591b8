/**
 * Known answers, on our own sources: a small version of what `npm run bench -- context` measures on real code of others. All strategies
 * together must show at least as much of what belongs together as the best of them alone.
 */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Question, questionsAbout } from "../testing/answer-sets.ts";
import { ContextLab, JUDGED, recallOf, shownFiles } from "../testing/recall.ts";

const ROOMS = ["domain", "store", "ledger", "apply"];
const NAMES = 4;

const WRITTEN: readonly Question[] = [
  {
    kind: "written",
    query: "How is a lease renewed, and when is it stale?",
    focus: [],
    files: ["ledger/leases.ts"],
  },
  {
    kind: "written",
    query: "Where does the audit log get its seals, and how are they verified?",
    focus: [],
    files: ["store/audit.ts", "store/audit-verify.ts"],
  },
];

let directory: string;
let lab: ContextLab;
let questions: readonly Question[];
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "recall-"));
  const root = join(directory, "code");
  for (const room of ROOMS) cpSync(join(import.meta.dirname, "..", "..", room), join(root, room), { recursive: true });
  const sources = globSync("**/*.ts", { cwd: root })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  questions = [...questionsAbout(sources, NAMES), ...WRITTEN];
  const known = new Set(sources.map(({ path }) => path));
  expect(questions.flatMap(({ files }) => files).filter((path) => !known.has(path))).toEqual([]);
  expect(questions).toHaveLength(3 * NAMES + WRITTEN.length);
  lab = await ContextLab.of(root, join(directory, "data"));
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function meanRecall(tokens: number, strategy?: string): Promise<number> {
  let sum = 0;
  for (const question of questions) sum += recallOf(question, shownFiles(await lab.ask(question, tokens, strategy)));
  return sum / questions.length;
}

test.each([8_000, 64_000])(
  "within %s tokens all together show as much as the best alone, and most of it",
  async (tokens) => {
    const alone: number[] = [];
    for (const strategy of JUDGED) alone.push(await meanRecall(tokens, strategy));
    const together = await meanRecall(tokens);
    expect(together).toBeGreaterThanOrEqual(Math.max(...alone));
    expect(together).toBeGreaterThan(0.85);
  },
);
