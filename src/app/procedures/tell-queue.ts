import type { Plan } from "../../domain/plan/plan.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { findJobs } from "../../ledger/jobs.ts";
import { workingSlots } from "../../ledger/plan-workers.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";

/** Says it when the plan is queued and no process works on the queue: without that, waiting would have no end. */
export async function tellQueue(app: App, plan: Plan, call: Call): Promise<void> {
  const { queued, workers } = await (
    await app.store()
  ).read(async (reader) => ({
    queued: (await findJobs(reader, plan.id)).some(({ state }) => state === "queued" || state === "active"),
    workers: await workingSlots(reader),
  }));
  if (!queued || workers > 0) return;
  call.tell({ type: "notice", level: "warning", text: NO_WORKERS, next: [nextStep("jobs.work")] });
}

const NO_WORKERS = "The plan is queued, and no process works on the queue. Start one: agents jobs work";
