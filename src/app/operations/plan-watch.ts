import * as z from "zod";
import type { DomainEvent } from "../../domain/plan/events.ts";
import { STANDINGS } from "../../domain/plan/standing.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { subscribeEvents } from "../../ledger/event-log.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Store } from "../../store/port.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps, PlanGiven } from "../base/schemas.ts";
import { tellQueue } from "../procedures/tell-queue.ts";
import { planEnd, type PlanEnd } from "../queries/plan-end.ts";
import { planMeant } from "../queries/plan-meant.ts";

/** Tells the events of a plan as they are committed, whichever process works on it, until it stands still. */
export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    /** Only events behind this number; all of the plan unless given. */
    after: z.int().min(0, "must not be negative").default(0),
  }),
  output: z.strictObject({
    planId: z.string(),
    standing: z.enum(STANDINGS),
    question: z.string().nullable(),
    /** The number of the last event that was told: `after` of a call that continues. */
    after: z.int(),
    at: Instant,
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, directory, after }, call) => {
    const seen = await planMeant(app, { plan: named, directory }, { operation: "plan.watch" }, call);
    await tellQueue(app, seen, call);
    const store = await app.store();
    let last = after;
    const { signal, ...until } = untilStill(store, seen, call.signal);
    try {
      for await (const event of subscribeEvents(store, { after, planId: seen.id, signal })) {
        last = event.sequence;
        call.tell({ type: "recorded", plan: seen.id, sequence: last, event: event.type, text: textOf(event) });
      }
    } finally {
      until.stop();
    }
    const { plan, standing, question } = await store.read((reader) => planEnd(reader, seen, "applied"));
    return {
      planId: plan.id,
      standing,
      question: question?.question ?? null,
      after: last,
      at: instant(plan.updatedAt),
      nextSteps: [nextStep("plan.status", { plan: plan.id })],
    };
  },
});

const LOOK_MS = 250;
/** A plan stands still for moments between two phases, too. */
const STILL_LOOKS = 8;

/** Aborts when the caller stops, or when the plan stands still: by then its last events have been told. */
function untilStill(
  store: Store,
  plan: Plan,
  caller: AbortSignal,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const still = new AbortController();
  let looks = 0;
  let version = 0;
  const look = async (): Promise<void> => {
    const end: PlanEnd = await store.read((reader) => planEnd(reader, plan, "applied"));
    looks = end.kind === "goes on" || end.plan.version !== version ? 0 : looks + 1;
    version = end.plan.version;
    if (looks >= STILL_LOOKS) still.abort();
  };
  const timer = setInterval(() => void look().catch((error: unknown) => still.abort(error)), LOOK_MS);
  return { signal: AbortSignal.any([still.signal, caller]), stop: () => clearInterval(timer) };
}

/** The details that say it in a line. */
function textOf({ details }: DomainEvent): string {
  const named = ["question", "text", "reason", "validation", "to", "explanation"].flatMap((key) => {
    const value = details[key];
    return typeof value === "string" ? [value] : [];
  });
  const { failure } = details as { readonly failure?: { readonly message?: string } };
  return [...(failure?.message === undefined ? [] : [failure.message]), ...named].join("; ");
}
