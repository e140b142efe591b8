/** How many tasks a model solves that knows the solution and mends only what it is shown, and the tokens it reads. */
import { missingTool, ORACLE_TASKS, solveTask } from "../src/cli/testing/oracle/solve-task.ts";
import type { BenchSize } from "./measure.ts";

export async function run({ size }: { readonly size: BenchSize }): Promise<void> {
  const count = { smoke: 1, quick: 4, full: ORACLE_TASKS.length }[size];
  // Spread over the languages.
  const chosen = ORACLE_TASKS.filter((_, index) => (index * count) % ORACLE_TASKS.length < count);
  let [solved, tried] = [0, 0];
  const rows: object[] = [];
  for (const task of chosen) {
    const missing = missingTool(task);
    const about = { task: task.name, language: task.language, habit: task.habit ?? "" };
    if (missing !== undefined) {
      rows.push({ ...about, result: missing });
      continue;
    }
    const { solved: right, rounds, usage } = await solveTask(task);
    const input = usage.reduce((sum, one) => sum + one.input, 0);
    const cached = usage.reduce((sum, one) => sum + one.cacheRead, 0);
    tried += 1;
    solved += right ? 1 : 0;
    rows.push({
      ...about,
      result: right ? "solved" : "not solved",
      rounds,
      calls: usage.length,
      input,
      cached: `${((cached / Math.max(1, input)) * 100).toFixed(0)} %`,
    });
  }
  console.table(rows);
  console.log(`solved: ${solved} of ${tried} (aim: all)`);
}
