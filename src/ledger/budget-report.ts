/** The spending of plans, runs of gateways and days, added up from the reservations. */
import type { PlanId } from "../domain/names/ids.ts";
import type { Microdollars } from "../domain/money/money.ts";
import type { Reader } from "../store/port.ts";
import type { GatewayScope } from "./budgets.ts";
import type { Cap, Caps } from "./spending-caps.ts";
import type { GroupScope } from "./candidate-records.ts";
import { planCap } from "./own-budget.ts";

/** The amount that was spent, and the cap it counts against. */
export interface Spending {
  /** Calls that were sent, or may have been. */
  readonly calls: number;
  /** The sum of the costs that endpoints reported and that we counted. */
  readonly spent: Microdollars;
  /** The part of `spent` that we counted ourselves. */
  readonly estimated: Microdollars;
  /** The most that calls can have cost which ended before their cost was known. */
  readonly assumed: Microdollars;
  /** For calls under way. */
  readonly reserved: Microdollars;
  /** Calls whose price is not known; they are not in the sums. */
  readonly unpriced: number;
  readonly cap: Cap | undefined;
}

export interface DaySpending extends Spending {
  /** The UTC day, "2026-11-16". */
  readonly date: string;
}

export async function planSpending(reader: Reader, planId: PlanId, caps: Caps): Promise<Spending> {
  return { ...(await spendingWhere(reader, "plan_id = ?", planId)), cap: await planCap(reader, planId, caps.perPlan) };
}

export async function gatewaySpending(reader: Reader, { id, cap }: GatewayScope): Promise<Spending> {
  return { ...(await spendingWhere(reader, "gateway_id = ?", id)), cap };
}

/** Of all candidates of a group, and of its judge. */
export async function groupSpending(reader: Reader, { id, cap }: GroupScope): Promise<Spending> {
  return { ...(await spendingWhere(reader, "group_id = ?", id)), cap };
}

export async function daySpending(reader: Reader, caps: Caps): Promise<DaySpending> {
  const row = await reader.get<{ day: number }>("SELECT now_ms() / 86400000 AS day");
  const day = row?.day ?? 0;
  const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
  return { ...(await spendingWhere(reader, "day = ?", day)), date, cap: caps.perDay };
}

/**
 * A reservation is lost when the lease it was made under is no longer held; outside of plans, when no call can take so
 * long.
 */
const LOST = `state = 'reserved' AND CASE WHEN plan_id IS NULL THEN lapses_at <= now_ms() ELSE NOT EXISTS (
  SELECT 1 FROM leases WHERE leases.plan_id = reservations.plan_id AND leases.epoch = reservations.epoch
     AND leases.expires_at > now_ms()) END`;

const SUMS = `COUNT(*) AS calls,
  COALESCE(SUM(CASE WHEN state IN ('settled', 'estimated') THEN cost ELSE 0 END), 0) AS spent,
  COALESCE(SUM(CASE WHEN state = 'estimated' THEN cost ELSE 0 END), 0) AS estimated,
  COALESCE(SUM(CASE WHEN state = 'assumed' OR lost = 1 THEN bound ELSE 0 END), 0) AS assumed,
  COALESCE(SUM(CASE WHEN state = 'reserved' AND lost = 0 THEN bound ELSE 0 END), 0) AS reserved,
  COALESCE(SUM(CASE WHEN bound IS NULL AND cost IS NULL THEN 1 ELSE 0 END), 0) AS unpriced`;

/** Of a plan that asked no model. */
export const NO_SPENDING: Omit<Spending, "cap"> = {
  calls: 0,
  spent: 0,
  estimated: 0,
  assumed: 0,
  reserved: 0,
  unpriced: 0,
};

function callsWhere(which: string): string {
  return `(SELECT plan_id, state, bound, cost, CASE WHEN ${LOST} THEN 1 ELSE 0 END AS lost FROM reservations
            WHERE ${which} AND state <> 'released') AS calls`;
}

async function spendingWhere(reader: Reader, which: string, value: string | number): Promise<Omit<Spending, "cap">> {
  const row = await reader.get<Omit<Spending, "cap">>(`SELECT ${SUMS} FROM ${callsWhere(which)}`, value);
  return row ?? NO_SPENDING;
}

/** Placeholders in one statement. */
const PAGE = 500;

/** The spending of each of these plans, in one statement for a page of them; a plan that asked no model is left out. */
export async function plansSpending(
  reader: Reader,
  ids: readonly PlanId[],
): Promise<ReadonlyMap<PlanId, Omit<Spending, "cap">>> {
  const found = new Map<PlanId, Omit<Spending, "cap">>();
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const marks = page.map(() => "?").join(", ");
    const rows = await reader.all<Omit<Spending, "cap"> & { plan_id: PlanId }>(
      `SELECT plan_id, ${SUMS} FROM ${callsWhere(`plan_id IN (${marks})`)} GROUP BY plan_id`,
      ...page,
    );
    for (const { plan_id: id, ...spending } of rows) found.set(id, spending);
  }
  return found;
}

export function addedUp(spendings: readonly Omit<Spending, "cap">[]): Omit<Spending, "cap"> {
  return spendings.reduce(
    (sum, one) => ({
      calls: sum.calls + one.calls,
      spent: sum.spent + one.spent,
      estimated: sum.estimated + one.estimated,
      assumed: sum.assumed + one.assumed,
      reserved: sum.reserved + one.reserved,
      unpriced: sum.unpriced + one.unpriced,
    }),
    NO_SPENDING,
  );
}
