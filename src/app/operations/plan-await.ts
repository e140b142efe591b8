import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { planAnswer } from "../../changes/plan-answer.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";
import { planSituation } from "../queries/plan-situation.ts";
import { operation as status } from "./plan-status.ts";

const LONGEST_SECONDS = 600;
/** Another process may work on the plan: then only the store tells when it ends. */
const LOOK_AGAIN_MS = 250;

/** Waits for as long as a process works on the plan. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, timeoutSeconds: z.number().min(0).max(LONGEST_SECONDS).default(30) }),
  output: status.output.extend({
    /** The time was over, and the plan is still worked on. */
    timedOut: z.boolean(),
    /** The model's answer in words; null when no model has ended a step. */
    answer: z.string().nullable(),
  }),
  run: async (app, { timeoutSeconds, ...given }, call) => {
    const { id } = await planMeant(app, given, { operation: "plan.await" }, call);
    const store = await app.store();
    const plans = await app.plans();
    const isWorkedOn = async (): Promise<boolean> => {
      const plan = await plans.getPlan(id);
      return (await store.read((reader) => planSituation(reader, plan))).standing === "working";
    };
    const deadline = performance.now() + timeoutSeconds * 1_000;
    while (performance.now() < deadline && !call.signal.aborted && (await isWorkedOn())) await pause(call);
    const facts = await status.run(app, { plan: id }, call);
    const answer = await planAnswer(store, await plans.getPlan(id));
    return { ...facts, timedOut: facts.standing === "working", answer: answer ?? null };
  },
});

function pause({ signal }: Call): Promise<void> {
  return sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
}
