import { monotonicIds, type PlanId } from "../domain/ids.ts";
import type { Microdollars } from "../domain/money.ts";
import { loginName } from "../domain/user.ts";
import type { Store, Tx } from "../store/store.ts";
import { exceeded, priceUnknown, type Refusal } from "./budget-errors.ts";
import { tellBeside } from "./beside.ts";
import { planCap } from "./budget-report.ts";
import { assertHeld, type Lease } from "./leases.ts";

/**
 * What models cost is reserved before a call at the most it can cost, and settled after it at what it did cost. A reservation is made in
 * one transaction that takes the rows of its scopes (the plan, the day) for itself and refuses when what was spent, what is reserved and
 * this would together pass a cap; so however many ask at once, in however many processes, what goes out fits.
 *
 * A reservation whose owner died is never given back: what was sent may have been billed. It stays reserved at its upper bound and is shown
 * as assumed. If the owner was only slow, it still settles, and what it knows replaces what was assumed.
 */
export interface Cap {
  readonly amount: Microdollars;
  /** What a user does to raise it. */
  readonly raise: string;
}

/** What is configured; a plan's own budget is in the store and can only be lower. */
export interface Caps {
  readonly perPlan: Cap | undefined;
  readonly perDay: Cap | undefined;
}

export interface Spender {
  readonly provider: string;
  readonly model: string;
}

/** The most a call can cost, or what the user can do so that it becomes known. */
export type Bound = Microdollars | { readonly unknown: readonly string[] };

export interface Reservation {
  readonly id: string;
  readonly planId: PlanId | undefined;
  readonly day: number;
  readonly bound: Microdollars | undefined;
}

export interface BudgetWarning {
  readonly scope: Scope["kind"];
  readonly spent: Microdollars;
  readonly cap: Microdollars;
}

export interface Scope {
  readonly kind: "plan" | "day";
  readonly key: string;
  readonly cap: Cap | undefined;
}

/** A call outside of any plan has no lease that tells that its owner is gone; none lasts longer than this. */
const LONGEST_CALL_MS = 2 * 3_600_000;

const WARN_AT = 0.9;

export class Budget {
  readonly #store: Store;
  readonly #caps: Caps;
  readonly #lease: Lease | undefined;
  readonly #user: string;
  readonly #ids = monotonicIds();

  /** With `lease`, for the plan it is of, and only while it is held; without, for calls outside of plans. */
  constructor(parts: { store: Store; caps: Caps; lease?: Lease | undefined; user?: string }) {
    this.#store = parts.store;
    this.#caps = parts.caps;
    this.#lease = parts.lease;
    this.#user = parts.user ?? loginName();
  }

  /** Rejects with a BudgetError, and nothing is reserved, when the bound does not fit into every budget. */
  async reserve(spender: Spender, bound: Bound): Promise<Reservation> {
    const made = await this.#store.transaction(async (tx) => {
      if (this.#lease !== undefined) await assertHeld(tx, this.#lease);
      const day = await today(tx);
      const scopes = await this.#scopes(tx, this.#lease?.planId, day);
      const capped = scopes.find(({ cap }) => cap !== undefined);
      if (typeof bound !== "number" && capped?.cap !== undefined)
        throw priceUnknown(spender, bound.unknown, capped.cap);
      const most = typeof bound === "number" ? bound : undefined;
      const refusal = await firstRefusal(tx, scopes, most ?? 0);
      if (refusal !== undefined) {
        await this.#tellExceeded(tx, refusal);
        return refusal;
      }
      for (const { key } of scopes) {
        await tx.run("UPDATE spending SET reserved = reserved + ? WHERE scope = ?", most ?? 0, key);
      }
      return this.#insert(tx, spender, day, most);
    });
    if ("id" in made) return made;
    throw exceeded(made, spender, this.#lease?.planId);
  }

  /**
   * What the call did cost; undefined when that is not known. `estimated` when we counted it and the endpoint did not say. Never less than
   * nothing and never more than was reserved, so no claim moves a cap. Not fenced: what somebody knows who lost the lease is still true.
   * Says which budgets are nearly used up by it, each once.
   */
  async settle(
    reservation: Reservation,
    cost: Microdollars | undefined,
    { estimated = false }: { readonly estimated?: boolean } = {},
  ): Promise<BudgetWarning[]> {
    const { bound } = reservation;
    const within = cost === undefined ? bound : Math.max(0, Math.min(cost, bound ?? cost));
    return this.#end(reservation, estimated ? "estimated" : "settled", within);
  }

  /** It certainly cost nothing. */
  async release(reservation: Reservation): Promise<void> {
    await this.#end(reservation, "released", 0);
  }

  /** It may have been billed, and nobody will ever say how much: the most it can have been. */
  async assume(reservation: Reservation): Promise<BudgetWarning[]> {
    return this.#end(reservation, "assumed", reservation.bound);
  }

  async #end(
    { id, planId, day, bound = 0 }: Reservation,
    state: "settled" | "estimated" | "released" | "assumed",
    cost: Microdollars | undefined,
  ): Promise<BudgetWarning[]> {
    return this.#store.transaction(async (tx) => {
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
    });
  }

  /** The plan always before the day: two that take both rows never wait for each other. */
  async #scopes(tx: Tx, planId: PlanId | undefined, day: number): Promise<Scope[]> {
    const ofDay: Scope = { kind: "day", key: `day:${day}`, cap: this.#caps.perDay };
    if (planId === undefined) return [ofDay];
    return [{ kind: "plan", key: `plan:${planId}`, cap: await planCap(tx, planId, this.#caps.perPlan) }, ofDay];
  }

  async #insert(tx: Tx, { provider, model }: Spender, day: number, bound: number | undefined): Promise<Reservation> {
    const id = this.#ids();
    const planId = this.#lease?.planId;
    await tx.run(
      `INSERT INTO reservations (id, plan_id, epoch, day, provider, model, bound, state, at, lapses_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', now_ms(), now_ms() + ?)`,
      id,
      planId ?? null,
      this.#lease?.epoch ?? null,
      day,
      provider,
      model,
      bound ?? null,
      LONGEST_CALL_MS,
    );
    return { id, planId, day, bound };
  }

  /** Once for each cap: whoever raises it wants to hear of the next one. */
  async #warn(
    tx: Tx,
    { kind, key, cap }: Scope,
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
    await tellBeside(tx, { type: "budget.warning", user: this.#user, planId, details: facts });
    return facts;
  }

  /** Once for each cap as well: forty that are refused in one moment are one piece of news. */
  async #tellExceeded(tx: Tx, { scope, spent, reserved, bound, cap }: Refusal): Promise<void> {
    const first = await tx.run(
      "UPDATE spending SET exceeded_cap = ? WHERE scope = ? AND (exceeded_cap IS NULL OR exceeded_cap <> ?)",
      cap.amount,
      scope.key,
      cap.amount,
    );
    if (first !== 1) return;
    const details = { scope: scope.kind, spent, reserved, wanted: bound, cap: cap.amount };
    await tellBeside(tx, { type: "budget.exceeded", user: this.#user, planId: this.#lease?.planId, details });
  }
}

/**
 * Takes the row of each scope for this transaction, so that nobody changes it before the end, and says where the bound does not fit.
 */
async function firstRefusal(tx: Tx, scopes: readonly Scope[], bound: Microdollars): Promise<Refusal | undefined> {
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
