/** What the demo tells and what it checks, both from the same evidence. */
import { styleText } from "node:util";
import type { DomainEvent, Plan, PlanId } from "../src/index.ts";
import { STEPS, STRIKES, type Mishap, type Report } from "./demo-messages.ts";

export const PLANS = [
  { change: "rename the cart", mishap: "none", story: "two workers reach for it at the same instant" },
  { change: "speed up search", mishap: "none", story: "nothing special happens" },
  { change: "fix rounding", mishap: "none", story: "nothing special happens" },
  { change: "move stock to SQL", mishap: "crash", story: "its worker is killed in the middle" },
  { change: "drop the old API", mishap: "cancel", story: "it is cancelled while it runs" },
  { change: "retry payments", mishap: "revert", story: "the result is sent back once" },
] as const satisfies readonly { change: string; mishap: Mishap; story: string }[];

export type Heard = Report & { readonly worker: string };

export interface StepRow {
  readonly plan_id: PlanId;
  readonly attempt: number;
  readonly key: string;
  readonly epoch: number;
}

export interface Effect {
  readonly planId: PlanId;
  readonly attempt: number;
  readonly step: string;
  readonly worker: string;
}

/** All that is known in the end, from both sides: what the workers were told is done, and what the store holds. */
export interface Evidence {
  readonly plans: readonly Plan[];
  readonly events: readonly DomainEvent[];
  readonly steps: readonly StepRow[];
  readonly effects: readonly Effect[];
  readonly heard: readonly Heard[];
  readonly killed: string;
}

export interface Checked {
  readonly promise: string;
  readonly kept: boolean;
}

export const bold = (text: string): string => styleText("bold", text);
export const dim = (text: string): string => styleText("dim", text);

/** One plan's life as its events tell it; each owner of the execute phase with the steps recorded under its lease. */
export function tell(plan: Plan, index: number, evidence: Evidence): void {
  const { change, story } = PLANS[index] ?? { change: "", story: "" };
  console.log(`\n${bold(`Plan ${index + 1}  ${change}`)}  ${dim(story)}`);
  for (const { details } of evidence.events.filter((event) => event.planId === plan.id)) {
    const text = (key: string): string => {
      const value = details[key];
      return typeof value === "string" ? value : "";
    };
    const phase = text("to").split("/")[0] ?? "";
    if (phase === "execute" && details["holder"] !== undefined) {
      line(phase, text("holder"), execution(plan, text("holder"), details["epoch"], evidence));
    } else if (details["holder"] !== undefined) {
      line(phase, text("holder"), "");
    } else if (details["operation"] === "cancelPlan") {
      line("cancelled", "demo", text("reason"));
    } else if (details["operation"] === "revertPlan") {
      line("sent back", "demo", text("reason"));
    }
  }
  for (const one of evidence.heard) {
    if (one.kind !== "refused" || one.planId !== plan.id) continue;
    line("refused", `worker ${one.worker}`, `the result of "${one.step}": ${one.message}`);
  }
  line("ended", "", `${plan.state}${plan.attempt === 1 ? "" : `, at attempt ${plan.attempt}`}`);
}

function line(what: string, who: string, more: string): void {
  console.log(`  ${what.padEnd(11)} ${who.padEnd(9)} ${more}`.trimEnd());
}

/** What one owner of the execute phase did: read back, done, and how it ended if it was killed. */
function execution(plan: Plan, holder: string, epoch: unknown, { steps, heard, killed }: Evidence): string {
  const recorded = steps.filter((step) => step.plan_id === plan.id && step.epoch === epoch);
  const done = STEPS.filter((step) => recorded.some(({ key }) => key === step)).join(", ");
  const about = heard.filter((one) => "planId" in one && one.planId === plan.id && `worker ${one.worker}` === holder);
  const recalled = about.flatMap((one) => (one.kind === "recorded" && !one.ran ? [one.step] : []));
  const waiting = about.find((one) => one.kind === "waiting");
  const before = recalled.length === 0 ? "" : `found ${recalled.join(", ")} recorded; did `;
  const after = waiting !== undefined && holder === `worker ${killed}` ? `; killed in "${waiting.step}"` : "";
  return before + done + after;
}

export function tellConflicts({ plans, heard }: Evidence): void {
  const first = heard.find((one) => isLostRace(one, plans[0]));
  console.log(bold("\nConflicts"));
  if (first?.kind === "conflict") console.log(`  worker ${first.worker} lost the race for plan 1: ${first.message}`);
  console.log(`  ${dim("Everyone who came second to anything was told so and went on with something else.")}`);
}

function isLostRace(one: Heard, raced: Plan | undefined): boolean {
  const contender = one.worker === "A" || one.worker === "B";
  return contender && one.kind === "conflict" && one.planId === raced?.id && one.operation === "startStrategize";
}

export function check(evidence: Evidence): Checked[] {
  const { plans, events, steps, effects, heard, killed } = evidence;
  const key = (planId: string, attempt: number, step: string): string => `${planId} ${attempt} ${step}`;
  const [raced, , , crashed, cancelled, reverted] = plans;
  const history = (plan: Plan | undefined): DomainEvent[] => events.filter((event) => event.planId === plan?.id);
  const starts = (plan: Plan | undefined, operation: string): DomainEvent[] =>
    history(plan).filter(({ details }) => details["operation"] === operation);

  const recorded = new Set(steps.map((step) => key(step.plan_id, step.attempt, step.key)));
  const effectKeys = effects.map((effect) => key(effect.planId, effect.attempt, effect.step));
  const refused = heard.filter((one) => one.kind === "refused");
  const unrecorded = effectKeys.filter((effect) => !recorded.has(effect));
  const stepAcks = heard.flatMap((one) => (one.kind === "recorded" ? [key(one.planId, one.attempt, one.step)] : []));
  const moveAcks = heard.filter((one) => one.kind === "moved");
  const perPlan = new Map(plans.map((plan) => [String(plan.id), history(plan)]));
  const acknowledged = moveAcks.every(
    ({ planId, operation, version }) => perPlan.get(planId)?.[version - 1]?.details["operation"] === operation,
  );
  const owners = starts(crashed, "startExecute").map(({ details }) => details);
  const recalled = heard.flatMap((one) => (one.kind === "recorded" && !one.ran ? [one] : []));
  const full = (plan: Plan | undefined, attempt: number): boolean =>
    plan !== undefined && STEPS.every((step) => recorded.has(key(plan.id, attempt, step)));

  return [
    {
      promise: "one approval, one effect: of the two that raced for plan 1 one won and the other got a conflict",
      kept: starts(raced, "startStrategize").length === 1 && heard.some((one) => isLostRace(one, raced)),
    },
    {
      promise: `no recorded step ran twice: ${steps.length} steps recorded, each done once`,
      kept:
        steps.length > 0 &&
        new Set(effectKeys).size === effectKeys.length &&
        [...recorded].every((one) => effectKeys.includes(one)),
    },
    {
      promise: `nothing is lost: all ${moveAcks.length} acknowledged transitions and ${stepAcks.length} acknowledged step results are in the store`,
      kept: acknowledged && stepAcks.every((ack) => recorded.has(ack)) && moveAcks.length > 0,
    },
    {
      promise: `worker ${killed} was killed in plan 4; another one took over and finished from the recorded steps`,
      kept:
        killed !== "" &&
        owners.length === 2 &&
        owners[0]?.["holder"] === `worker ${killed}` &&
        owners[1]?.["holder"] !== owners[0]?.["holder"] &&
        recalled.map(({ step }) => step).join() === "read,change" &&
        recalled.every(({ planId, worker }) => planId === crashed?.id && worker !== killed) &&
        crashed?.state === "applied" &&
        full(crashed, 1),
    },
    {
      promise: "after the cancellation of plan 5 its worker could write nothing: the step it was in was refused",
      kept:
        cancelled?.state === "cancelled" &&
        refused.length === 1 &&
        refused[0]?.planId === cancelled.id &&
        unrecorded.length === 1 &&
        unrecorded[0] === key(cancelled.id, 1, STRIKES.cancel),
    },
    {
      promise: "plan 6 was sent back once, did all its steps anew and was then applied",
      kept:
        reverted?.state === "applied" &&
        reverted.attempt === 2 &&
        reverted.reversionCount === 1 &&
        full(reverted, 1) &&
        full(reverted, 2),
    },
    {
      promise: "every plan's version is the number of its events",
      kept: plans.every((plan) => history(plan).length === plan.version),
    },
  ];
}
