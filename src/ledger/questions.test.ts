/** A question is closed once, by one answer, and what came later does not replace it. */
import { expect, test } from "vitest";
import { pauseFor } from "../plans/plan-questions.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { recordStrategy } from "../runs/tool-strategy.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { findDecisions } from "./decisions.ts";
import { answerAt, answerQuestion, openQuestion } from "./questions.ts";

test("the second answer to a question is told that it came too late", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const plan = await service.useAction({ action: ACTION_NAME });
  const lease = await service.startStrategize(plan.id);
  await recordStrategy(lease, [{ id: "one", needs: [], chosen: { tool: "read_file", params: {} } }]);
  await pauseFor(
    lease,
    { key: "choice/1", question: "Which?", alternatives: ["a", "b"], assessment: undefined },
    "ann",
  );
  const [first, second] = await store.read((reader) => findDecisions(reader, plan.id, 1));
  const open = await store.read((reader) => openQuestion(reader, plan.id));
  if (open === undefined || first === undefined || second === undefined) throw new Error("nothing was asked");
  expect(await store.transaction((tx) => answerQuestion(tx, open.id, first.id))).toBe(true);
  expect(await store.transaction((tx) => answerQuestion(tx, open.id, second.id))).toBe(false);
  expect(await store.read((reader) => answerAt(reader, plan, "choice/1"))).toBe(first.id);
});
