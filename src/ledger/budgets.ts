/**
 * The cost of a model call is reserved before the call at the most it can cost, and settled after it at its real cost.
 * A reservation is made in one transaction that takes the rows of its scopes (the plan or the run of a gateway, then
 * the group of candidates, then the day) for itself and refuses when the amounts spent, reserved and wanted would
 * together pass a cap; so the calls that are sent fit, however many callers in however many processes ask at once.
 *
 * A reservation whose owner died is never given back: the call may have been sent and billed. It stays reserved at its
 * upper bound and is shown as assumed. If the owner was only slow, it still settles, and its figure replaces the
 * assumed one.
 */
import { monotonicIds, type IdGenerator, type PlanId } from "../domain/names/ids.ts";
import type { Microdollars } from "../domain/money/money.ts";
import { loginName } from "../platform/user.ts";
import type { Store, Tx } from "../store/port.ts";
import { budgetExceededError, priceUnknownError, type BudgetRefusal } from "./budget-errors.ts";
import type { NextStep } from "../domain/errors/next-step.ts";
import { recordSystemEvent } from "./system-events.ts";
import type { Cap, Caps } from "./spending-caps.ts";
import { planCap } from "./own-budget.ts";
import { groupScopeOf, type GroupScope } from "./candidate-records.ts";
import { assertHeld, type Lease } from "./leases.ts";

export type { Cap, Caps } from "./spending-caps.ts";

export interface Spender {
  readonly provider: string;
  readonly model: string;
}

/** The most a call can cost, or the steps by which the user makes it known. */
export type Bound = Microdollars | { readonly unknown: readonly NextStep[] };

export interface Reservation {
  readonly id: string;
  readonly planId: PlanId | undefined;
  readonly day: number;
  readonly bound: Microdollars | undefined;
}

/**
 * The end of a reservation, to be committed together with the record of what the call came to: a crash keeps both, or
 * the call is made again and neither counts.
 */
export interface Settlement {
  /** Part of a unit of work, which may run twice. `owner`: the plan that a call of no plan turned out to be for. */
  commit(tx: Tx, owner?: PlanId): Promise<void>;
  /** After that commit. */
  committed(): void;
  /** When there is nothing to commit it with. */
  alone(): Promise<void>;
}

export interface BudgetWarning {
  readonly scope: BudgetScope["kind"];
  readonly spent: Microdollars;
  readonly cap: Microdollars;
}

export interface BudgetScope {
  readonly kind: "plan" | "gateway" | "group" | "day";
  readonly key: string;
  readonly cap: Cap | undefined;
}

type Ending = readonly [
  reservation: Reservation,
  state: "settled" | "estimated" | "released" | "assumed",
  cost: Microdollars | undefined,
];

/** One run of a gateway, with the cap of this run. */
export interface GatewayScope {
  readonly id: string;
  readonly cap: Cap | undefined;
}

/** A call outside of any plan has no lease that shows whether its owner is gone; no call lasts longer than this. */
const LONGEST_CALL_MS = 2 * 3_600_000;

const WARN_AT = 0.9;

export class Budget {
  readonly #store: Store;
  readonly #caps: Caps;
  readonly #lease: Lease | undefined;
  readonly #gateway: GatewayScope | undefined;
  readonly #group: GroupScope | undefined;
  readonly #user: string;
  readonly #ids: IdGenerator;

  /**
   * With `lease`: for the lease's plan and the group it is a candidate of, and only while it is held. With `gateway`:
   * for one run of a gateway. With `group`: for a call about all candidates. Without them: for other calls outside of
   * plans.
   */
  constructor(parts: {
    store: Store;
    caps: Caps;
    lease?: Lease | undefined;
    gateway?: GatewayScope;
    group?: GroupScope | undefined;
    user?: string;
    ids?: IdGenerator;
  }) {
    this.#store = parts.store;
    this.#caps = parts.caps;
    this.#lease = parts.lease;
    this.#gateway = parts.gateway;
    this.#group = parts.group;
    this.#user = parts.user ?? loginName();
    this.#ids = parts.ids ?? monotonicIds();
  }

  /** Rejects with a BudgetError, and nothing is reserved, when the bound does not fit into every budget. */
  async reserve(spender: Spender, bound: Bound): Promise<Reservation> {
    const made = await this.#store.transaction(async (tx) => {
      if (this.#lease !== undefined) await assertHeld(tx, this.#lease);
      const day = await today(tx);
      const scopes = await this.#scopes(tx, this.#lease?.planId, day);
      const capped = scopes.find(({ cap }) => cap !== undefined);
      if (typeof bound !== "number" && capped?.cap !== undefined)
        throw priceUnknownError(spender, bound.unknown, capped.cap);
      const most = typeof bound === "number" ? bound : undefined;
      const refusal = await firstRefusal(tx, scopes, most ?? 0);
      if (refusal !== undefined) {
        await this.#recordExceeded(tx, refusal);
        return refusal;
      }
      for (const { key } of scopes) {
        await tx.run("UPDATE spending SET reserved = reserved + ? WHERE scope = ?", most ?? 0, key);
      }
      return this.#insert(tx, spender, { day, bound: most, group: await this.#groupScope(tx, this.#lease?.planId) });
    });
    if ("id" in made) return made;
    throw budgetExceededError(made, spender, this.#lease?.planId);
  }

  /**
   * Ends the reservation at the cost of the call; undefined when that is not known, `estimated` when we counted it
   * because the endpoint did not report it. The cost is never below zero and never above the reserved amount, so no
   * claim of an endpoint moves a cap. Not fenced: the figure of an owner that lost the lease is still true. Returns the
   * budgets that are nearly used up by it, each once.
   */
  async settle(
    reservation: Reservation,
    cost: Microdollars | undefined,
    { estimated = false }: { readonly estimated?: boolean } = {},
  ): Promise<BudgetWarning[]> {
    return this.#end(reservation, estimated ? "estimated" : "settled", withinBound(reservation, cost));
  }

  /** The same, for the caller to commit with its own record; `warn` is told afterwards. */
  settlement(
    reservation: Reservation,
    cost: Microdollars | undefined,
    how: { readonly estimated: boolean; readonly warn: (warnings: readonly BudgetWarning[]) => void },
  ): Settlement {
    const within = withinBound(reservation, cost);
    const state = how.estimated ? "estimated" : "settled";
    let warnings: readonly BudgetWarning[] = [];
    return {
      commit: async (tx, owner) => {
        warnings = await this.#endIn(tx, reservation, state, within);
        if (owner !== undefined) await billTo(tx, reservation, owner, within);
      },
      committed: () => how.warn(warnings),
      alone: async () => how.warn(await this.#end(reservation, state, within)),
    };
  }

  /** The call certainly cost nothing. */
  async release(reservation: Reservation): Promise<void> {
    await this.#end(reservation, "released", 0);
  }

  /** The call may have been billed at an amount that will never be known: it counts at the most it can have cost. */
  async assume(reservation: Reservation): Promise<BudgetWarning[]> {
    return this.#end(reservation, "assumed", reservation.bound);
  }

  #end(...ending: Ending): Promise<BudgetWarning[]> {
    return this.#store.transaction((tx) => this.#endIn(tx, ...ending));
  }

  async #endIn(tx: Tx, ...[{ id, planId, day, bound = 0 }, state, cost]: Ending): Promise<BudgetWarning[]> {
    const ended = await tx.run(
      "UPDATE reservations SET state = ?, cost = ?, ended_at = now_ms() WHERE id = ? AND state = 'reserved'",
      state,
      cost ?? null,
      id,
    );
    if (ended !== 1) throw new Error(`the reservation ${id} was ended before`);
    const warnings: BudgetWarning[] = [];
    for (const scope of await this.#scopes(tx, planId, day)) {
      const row = await tx.get<{ spent: number }>(
        "UPDATE spending SET reserved = reserved - ?, spent = spent + ? WHERE scope = ? RETURNING spent",
        bound,
        cost ?? 0,
        scope.key,
      );
      const warning = await this.#warn(tx, scope, row?.spent ?? 0, planId);
      if (warning !== undefined) warnings.push(warning);
    }
    return warnings;
  }

  /** The day always last: two transactions that take several rows never wait for each other. */
  async #scopes(tx: Tx, planId: PlanId | undefined, day: number): Promise<BudgetScope[]> {
    const scopes: BudgetScope[] = [{ kind: "day", key: `day:${day}`, cap: this.#caps.perDay }];
    const group = await this.#groupScope(tx, planId);
    if (group !== undefined) scopes.unshift({ kind: "group", key: `group:${group.id}`, cap: group.cap });
    if (this.#gateway !== undefined)
      scopes.unshift({ kind: "gateway", key: `gateway:${this.#gateway.id}`, cap: this.#gateway.cap });
    if (planId !== undefined)
      scopes.unshift({ kind: "plan", key: `plan:${planId}`, cap: await planCap(tx, planId, this.#caps.perPlan) });
    return scopes;
  }

  async #groupScope(tx: Tx, planId: PlanId | undefined): Promise<GroupScope | undefined> {
    return this.#group ?? (planId === undefined ? undefined : groupScopeOf(tx, planId));
  }

  async #insert(
    tx: Tx,
    { provider, model }: Spender,
    parts: { readonly day: number; readonly bound: number | undefined; readonly group: GroupScope | undefined },
  ): Promise<Reservation> {
    const { day, bound, group } = parts;
    const id = this.#ids();
    const planId = this.#lease?.planId;
    await tx.run(
      `INSERT INTO reservations (id, plan_id, gateway_id, group_id, epoch, day, provider, model, bound, state, at, lapses_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved', now_ms(), now_ms() + ?)`,
      id,
      planId ?? null,
      this.#gateway?.id ?? null,
      group?.id ?? null,
      this.#lease?.epoch ?? null,
      day,
      provider,
      model,
      bound ?? null,
      LONGEST_CALL_MS,
    );
    return { id, planId, day, bound };
  }

  /** Once for each cap: a user who raises it gets the warning of the next one. */
  async #warn(
    tx: Tx,
    { kind, key, cap }: BudgetScope,
    spent: Microdollars,
    planId: PlanId | undefined,
  ): Promise<BudgetWarning | undefined> {
    if (cap === undefined || cap.amount === 0 || spent < cap.amount * WARN_AT) return undefined;
    const first = await tx.run(
      "UPDATE spending SET warned_cap = ? WHERE scope = ? AND (warned_cap IS NULL OR warned_cap <> ?)",
      cap.amount,
      key,
      cap.amount,
    );
    if (first !== 1) return undefined;
    const facts = { scope: kind, spent, cap: cap.amount };
    await recordSystemEvent(tx, { type: "budget.warning", user: this.#user, planId, details: facts }, this.#ids);
    return facts;
  }

  /** Once for each cap as well: forty calls that are refused in one moment give one event. */
  async #recordExceeded(tx: Tx, { scope, spent, reserved, bound, cap }: BudgetRefusal): Promise<void> {
    const first = await tx.run(
      "UPDATE spending SET exceeded_cap = ? WHERE scope = ? AND (exceeded_cap IS NULL OR exceeded_cap <> ?)",
      cap.amount,
      scope.key,
      cap.amount,
    );
    if (first !== 1) return;
    const details = { scope: scope.kind, spent, reserved, wanted: bound, cap: cap.amount };
    await recordSystemEvent(
      tx,
      { type: "budget.exceeded", user: this.#user, planId: this.#lease?.planId, details },
      this.#ids,
    );
  }
}

/** The settled call of no plan becomes one of this plan; its cap is not asked, because the money is spent. */
async function billTo(tx: Tx, { id }: Reservation, planId: PlanId, cost: Microdollars | undefined): Promise<void> {
  await tx.run("UPDATE reservations SET plan_id = ? WHERE id = ? AND plan_id IS NULL", planId, id);
  await tx.run(
    `INSERT INTO spending (scope, spent, reserved) VALUES (?, ?, 0)
     ON CONFLICT (scope) DO UPDATE SET spent = spending.spent + excluded.spent`,
    `plan:${planId}`,
    cost ?? 0,
  );
}

function withinBound({ bound }: Reservation, cost: Microdollars | undefined): Microdollars | undefined {
  return cost === undefined ? bound : Math.max(0, Math.min(cost, bound ?? cost));
}

/**
 * Takes the row of each scope for this transaction, so that no other one changes it before the end; the first that
 * refuses.
 */
async function firstRefusal(
  tx: Tx,
  scopes: readonly BudgetScope[],
  bound: Microdollars,
): Promise<BudgetRefusal | undefined> {
  for (const scope of scopes) {
    const row = await tx.get<{ spent: number; reserved: number }>(
      `INSERT INTO spending (scope, spent, reserved) VALUES (?, 0, 0)
       ON CONFLICT (scope) DO UPDATE SET reserved = spending.reserved RETURNING spent, reserved`,
      scope.key,
    );
    const { spent, reserved } = row ?? { spent: 0, reserved: 0 };
    const { cap } = scope;
    if (cap !== undefined && spent + reserved + bound > cap.amount) return { scope, spent, reserved, bound, cap };
  }
  return undefined;
}

async function today(tx: Tx): Promise<number> {
  const row = await tx.get<{ day: number }>("SELECT now_ms() / 86400000 AS day");
  return row?.day ?? 0;
}
