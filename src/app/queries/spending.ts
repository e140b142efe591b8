/** The cost of models: of one plan, and of the day. */
import * as z from "zod";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import { daySpending, NO_SPENDING, planSpending, type Spending } from "../../ledger/budget-report.ts";
import type { App } from "../base/app.ts";

export const SpendingFacts = z.strictObject({
  calls: z.int(),
  spentUsd: z.number(),
  estimatedUsd: z.number(),
  assumedUsd: z.number(),
  reservedUsd: z.number(),
  unpricedCalls: z.int(),
  capUsd: z.number().nullable(),
});

export const DayCost = SpendingFacts.extend({ date: z.string() });

export const PlanCost = SpendingFacts.extend({ today: DayCost });

export async function dayCost(app: App): Promise<z.output<typeof DayCost>> {
  const caps = await app.caps();
  const day = await (await app.store()).read((reader) => daySpending(reader, caps));
  return { date: day.date, ...spendingFacts(day) };
}

export async function planCost(app: App, planId: PlanId): Promise<z.output<typeof PlanCost>> {
  const caps = await app.caps();
  const { plan, day } = await (
    await app.store()
  ).read(async (reader) => ({
    plan: await planSpending(reader, planId, caps),
    day: await daySpending(reader, caps),
  }));
  return { ...spendingFacts(plan), today: { date: day.date, ...spendingFacts(day) } };
}

/** Of several plans together, each of which has a cap of its own. */
export const CostSum = SpendingFacts.omit({ capUsd: true });

export function costSum(spending: Omit<Spending, "cap"> = NO_SPENDING): z.output<typeof CostSum> {
  const { capUsd: _, ...sum } = spendingFacts({ ...spending, cap: undefined });
  return sum;
}

export function spendingFacts(spending: Spending): z.output<typeof SpendingFacts> {
  const { calls, spent, estimated, assumed, reserved, unpriced, cap } = spending;
  return {
    calls,
    spentUsd: usd(spent),
    estimatedUsd: usd(estimated),
    assumedUsd: usd(assumed),
    reservedUsd: usd(reserved),
    unpricedCalls: unpriced,
    capUsd: cap === undefined ? null : usd(cap.amount),
  };
}

function usd(amount: Microdollars): number {
  return amount / 1_000_000;
}
