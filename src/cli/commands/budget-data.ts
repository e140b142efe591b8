import { dollars, type Microdollars } from "../../domain/money.ts";
import type { BudgetWarning } from "../../ledger/budgets.ts";
import type { DaySpending, Spending } from "../../ledger/budget-report.ts";
import type { CommandContext } from "../command-context.ts";
import type { PlanId } from "../../domain/ids.ts";
import { count } from "../format.ts";
import type { Message } from "../outcome.ts";
import { toned, type Cell } from "../view.ts";

/** What models cost, as commands show it. */
export function budgetWarning({ scope, spent, cap }: BudgetWarning): Message {
  const whose = scope === "day" ? "Today's budget (UTC)" : "The plan's budget";
  return { level: "warning", text: `${whose} is nearly used up: ${dollars(spent)} of ${dollars(cap)}.` };
}

export interface PlanSpending {
  readonly plan: Spending;
  readonly day: DaySpending;
}

export async function readSpending(context: CommandContext, planId: PlanId): Promise<PlanSpending> {
  const { planSpending, daySpending } = await import("../../ledger/budget-report.ts");
  const caps = await context.caps();
  return (await context.store()).read(async (reader) => ({
    plan: await planSpending(reader, planId, caps),
    day: await daySpending(reader, caps),
  }));
}

export async function readDaySpending(context: CommandContext): Promise<DaySpending> {
  const { daySpending } = await import("../../ledger/budget-report.ts");
  const caps = await context.caps();
  return (await context.store()).read((reader) => daySpending(reader, caps));
}

export function spendingData(spending: Spending): Record<string, unknown> {
  const { calls, spent, estimated, assumed, reserved, unpriced, cap } = spending;
  return {
    calls,
    spent_usd: usd(spent),
    estimated_usd: usd(estimated),
    assumed_usd: usd(assumed),
    reserved_usd: usd(reserved),
    unpriced_calls: unpriced,
    cap_usd: cap === undefined ? null : usd(cap.amount),
  };
}

/** Of a plan that asks no model and has no limit there is nothing to say. */
export function spendingRows({ plan, day }: PlanSpending): (readonly [string, Cell])[] {
  if (plan.calls === 0 && plan.cap === undefined) return [];
  return [
    ["cost", spendingCell(plan)],
    ...(day.cap === undefined ? [] : [["today (UTC)", spendingCell(day)] as const]),
  ];
}

/** In a sentence: what was paid for how many calls. */
export function paidText({ calls, spent, assumed, unpriced }: Spending): string {
  const more = unpriced === 0 ? "" : `, ${unpriced} of them at a price that is not known`;
  return `${count(calls, "call")} of models for ${dollars(spent + assumed)}${more}`;
}

const BAR = 20;

/** "$0.42 of $1.50 ━━━━━─────────────── 28 %": the bar has all that counts against the cap. */
export function spendingCell({ calls, spent, estimated, assumed, reserved, unpriced, cap }: Spending): Cell {
  const used = spent + assumed + reserved;
  const parts = [
    cap === undefined ? dollars(spent + assumed) : `${dollars(spent + assumed)} of ${dollars(cap.amount)}`,
    ...(cap === undefined ? [] : [bar(used, cap.amount)]),
    ...(calls === 0 ? [] : [`for ${count(calls, "call")}`]),
  ];
  const notes = [
    ...(estimated === 0 ? [] : [`${dollars(estimated)} of it estimated: counted here, not told`]),
    ...(assumed === 0 ? [] : [`${dollars(assumed)} of it assumed: the calls did not live to say`]),
    ...(reserved === 0 ? [] : [`${dollars(reserved)} reserved`]),
    ...(unpriced === 0 ? [] : [`${count(unpriced, "call")} at a price that is not known`]),
  ];
  const text = `${parts.join(" ")}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  return cap !== undefined && cap.amount > 0 && used >= cap.amount * 0.9 ? toned(text, "warn") : text;
}

function bar(used: Microdollars, cap: Microdollars): string {
  const share = cap === 0 ? 1 : Math.max(0, Math.min(1, used / cap));
  const full = Math.floor(share * BAR);
  return `${"━".repeat(full)}${"─".repeat(BAR - full)} ${Math.floor(share * 100)} %`;
}

function usd(amount: Microdollars): number {
  return amount / 1_000_000;
}
