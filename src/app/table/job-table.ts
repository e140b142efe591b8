/** The operations of plans that are carried out in the background. */
import { HERE, PLAN } from "./plan-parameters.ts";
import type { TableEntry } from "../base/operation.ts";
import { JOB_STATES } from "../../domain/plan/job-states.ts";

export const JOB_TABLE = {
  "plan.wait": {
    summary: "Wait until a plan that is carried out elsewhere is ready or applied",
    role: "reader",
    writes: false,
    parameters: [
      PLAN,
      HERE,
      {
        name: "until",
        about: "ready: there is a result (default); applied; ended: the plan is final",
        value: "point",
        choices: ["ready", "applied", "ended"],
      },
      { name: "timeout", about: "wait at most so many seconds", value: "seconds", kind: "number" },
    ],
    example: { plan: "01JABCDE", until: "applied", timeout: 600 },
    load: () => import("../operations/plan-wait.ts"),
  },
  "plan.watch": {
    summary: "Show what happens to a plan that is carried out elsewhere, live",
    role: "reader",
    writes: false,
    parameters: [
      PLAN,
      HERE,
      { name: "after", about: "continue behind the event with this number", value: "number", kind: "integer" },
    ],
    example: { plan: "01JABCDE" },
    load: () => import("../operations/plan-watch.ts"),
  },
  "jobs.list": {
    summary: "List the plans that are queued, worked on, waiting or given up",
    role: "reader",
    writes: false,
    parameters: [
      { name: "state", about: "only in this state", value: "state", choices: JOB_STATES },
      { name: "all", about: "also those that are done or cancelled", kind: "flag" },
    ],
    example: { state: "dead" },
    load: () => import("../operations/jobs-list.ts"),
  },
  "jobs.retry": {
    summary: "Queue a plan again that failed or was given up",
    role: "operator",
    writes: true,
    parameters: [PLAN, HERE],
    example: { plan: "01JABCDE" },
    load: () => import("../operations/jobs-retry.ts"),
  },
  "jobs.cancel": {
    summary: "Take a plan out of the queue; the plan stays as it is",
    role: "operator",
    writes: true,
    parameters: [PLAN, HERE],
    example: { plan: "01JABCDE" },
    load: () => import("../operations/jobs-cancel.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
