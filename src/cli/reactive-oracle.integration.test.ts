/**
 * Twelve tasks in three languages, each by a model that knows the solution and mends only what it is shown. A task that
 * stays unsolved is a fault of ours: the model did not see enough, or what it did had no effect.
 */
import { expect, test } from "vitest";
import { missingTool, ORACLE_TASKS, solveTask } from "./testing/oracle/solve-task.ts";

test("there are twelve tasks, and every habit of models is among them", () => {
  expect(ORACLE_TASKS).toHaveLength(12);
  expect(new Set(ORACLE_TASKS.map(({ habit }) => habit)).size).toBe(5);
});

for (const task of ORACLE_TASKS) {
  const missing = missingTool(task);
  const title = `${task.language}: ${task.name}${task.habit === undefined ? "" : ` (${task.habit})`}`;
  test.skipIf(missing !== undefined)(missing === undefined ? title : `${title}: skipped, ${missing}`, async () => {
    const { solved, said, rounds } = await solveTask(task);
    expect({ solved, said }).toEqual({ solved: true, said });
    // A model that runs the tests itself sees there what is wrong, and needs no check for it.
    expect(rounds > 0).toBe(task.habit === "relies_on_check");
  });
}
