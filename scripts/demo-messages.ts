import { z } from "zod";
import type { PlanId } from "../src/index.ts";

/** What the demo and its worker processes say to each other. Parsed on arrival, so that both sides can rely on the shape. */

export const STEPS = ["read", "change", "test", "review"] as const;

/** What goes wrong with a plan, chosen by its argument of that name. */
export const mishapSchema = z.enum(["none", "crash", "cancel", "revert"]);
export type Mishap = z.infer<typeof mishapSchema>;

/** In which step a mishap strikes. */
export const STRIKES = { crash: "test", cancel: "change" } as const;

const planId = z.custom<PlanId>((value) => typeof value === "string");

export const orderSchema = z.discriminatedUnion("kind", [
  /** Try to strategize this plan at this instant, then work like the others. */
  z.object({ kind: z.literal("race"), planId, at: z.number() }),
  /** Work on whatever is to be done, from this instant on, but leave one plan to the others. */
  z.object({ kind: z.literal("work"), avoid: planId, at: z.number() }),
  /** Go on with the step that is being waited in. */
  z.object({ kind: z.literal("continue") }),
  z.object({ kind: z.literal("stop") }),
]);
export type Order = z.infer<typeof orderSchema>;

export const reportSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  /** The store acknowledged a transition. */
  z.object({ kind: z.literal("moved"), planId, operation: z.string(), version: z.number() }),
  /** The store acknowledged the result of a step. `ran` is false when an earlier owner had done it and only its result was read. */
  z.object({
    kind: z.literal("recorded"),
    planId,
    attempt: z.number(),
    step: z.string(),
    ran: z.boolean(),
  }),
  /** Somebody else was first. */
  z.object({ kind: z.literal("conflict"), planId, operation: z.string(), message: z.string() }),
  /** In the middle of a step, doing nothing until told to go on. */
  z.object({ kind: z.literal("waiting"), planId, step: z.string() }),
  /** The lease was gone: the result of this step was not written. */
  z.object({ kind: z.literal("refused"), planId, step: z.string(), message: z.string() }),
  /** Executed, and to be looked at by a person before it is applied. */
  z.object({ kind: z.literal("review"), planId }),
]);
export type Report = z.infer<typeof reportSchema>;
