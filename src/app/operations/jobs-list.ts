import * as z from "zod";
import { sessionTitle } from "../../domain/plan/session.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { JOB_STATES } from "../../domain/plan/job-states.ts";
import { findJobs, JOB_KINDS } from "../../ledger/jobs.ts";
import { workingSlots } from "../../ledger/plan-workers.ts";
import { findPlan } from "../../store/tables/plans.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps } from "../base/schemas.ts";

export const operation = defineOperation({
  input: z.strictObject({ all: z.boolean().default(false), state: z.enum(JOB_STATES).optional() }),
  output: z.strictObject({
    jobs: z.array(
      z.strictObject({
        jobId: z.string(),
        planId: z.string(),
        request: z.string(),
        project: z.string().nullable(),
        kind: z.enum(JOB_KINDS),
        state: z.enum(JOB_STATES),
        priority: z.int(),
        /** How often a worker began with it. */
        attempts: z.int(),
        askedBy: z.string(),
        queuedAt: Instant,
        /** Not begun before. */
        notBefore: Instant,
        error: z.string().nullable(),
      }),
    ),
    /** How many plans are carried out at once; 0: no process works on the queue. */
    workers: z.int(),
    nextSteps: NextSteps,
  }),
  run: async (app, { all, state }) => {
    const store = await app.store();
    return store.read(async (reader) => {
      const shown = (await findJobs(reader)).filter(
        (job) => (state === undefined || job.state === state) && (all || state !== undefined || !ENDED.has(job.state)),
      );
      const jobs = [];
      for (const { id: jobId, planId, notBefore, createdAt, error = null, ...job } of shown) {
        const plan = await findPlan(reader, planId);
        const { kind, priority, attempts, askedBy } = job;
        jobs.push({
          jobId,
          planId,
          request: sessionTitle(plan?.description ?? ""),
          project: plan?.projects[0]?.project ?? null,
          kind,
          state: job.state,
          priority,
          attempts,
          askedBy,
          queuedAt: instant(createdAt),
          notBefore: instant(notBefore),
          error,
        });
      }
      const workers = await workingSlots(reader);
      const idle = workers === 0 && jobs.some((job) => job.state === "queued");
      return { jobs, workers, nextSteps: idle ? [nextStep("jobs.work")] : [] };
    });
  },
});

const ENDED: ReadonlySet<string> = new Set(["done", "cancelled"]);
