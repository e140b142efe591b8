/**
 * The budget of one run of a gateway: each request reserves the most it can cost before it is sent, and is settled at
 * what its answer used; at nothing when the provider refused it; at its bound when that is not known. Every call that
 * went out is recorded.
 */
import { BudgetError } from "../../domain/errors/errors.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import { monotonicIds, type IdGenerator } from "../../domain/names/ids.ts";
import type { Budget, BudgetWarning, Reservation } from "../../ledger/budgets.ts";
import type { ModelCallFacts } from "../../ledger/model-calls.ts";
import { reservableBound } from "../models/budgeted-models.ts";
import type { ModelRef, ModelUsage } from "../models/model.ts";
import type { GatewayAnswer, GatewayPort, GatewayRequest, GatewayVerdict } from "./gateway-port.ts";

export class GatewayBudget implements GatewayPort {
  readonly #budget: Budget;
  readonly #costOf: (model: ModelRef, usage: ModelUsage) => Microdollars | undefined;
  readonly #record: (call: ModelCallFacts & { readonly id: string }) => Promise<void>;
  readonly #onWarning: (warning: BudgetWarning) => void;
  readonly #ids: IdGenerator = monotonicIds();
  readonly #open = new Map<string, Reservation>();
  #refused = 0;

  constructor(parts: {
    budget: Budget;
    costOf: (model: ModelRef, usage: ModelUsage) => Microdollars | undefined;
    record: (call: ModelCallFacts & { readonly id: string }) => Promise<void>;
    onWarning: (warning: BudgetWarning) => void;
  }) {
    this.#budget = parts.budget;
    this.#costOf = parts.costOf;
    this.#record = parts.record;
    this.#onWarning = parts.onWarning;
  }

  /** Requests that were not sent because of a budget. */
  get refused(): number {
    return this.#refused;
  }

  async before({ id, model, bound }: GatewayRequest): Promise<GatewayVerdict> {
    try {
      this.#open.set(id, await this.#budget.reserve(model, reservableBound(model, bound, this.#costOf)));
      return { pass: true };
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      this.#refused += 1;
      return { pass: false, reason: error };
    }
  }

  async after(request: GatewayRequest, answer: GatewayAnswer): Promise<void> {
    const reservation = this.#open.get(request.id);
    this.#open.delete(request.id);
    if (reservation === undefined) throw new Error(`the request ${request.id} was not let through`);
    if (!answer.answered && !answer.mayBeBilled) return this.#budget.release(reservation);
    const usage = answer.answered ? answer.usage : undefined;
    const cost = usage === undefined ? undefined : this.#costOf(request.model, usage);
    const warnings =
      usage === undefined
        ? await this.#budget.assume(reservation)
        : await this.#budget.settle(reservation, cost, { estimated: usage.estimated });
    for (const warning of warnings) this.#onWarning(warning);
    await this.#record({
      id: this.#ids(),
      provider: request.model.provider,
      model: request.model.model,
      inputTokens: usage?.inputTokens ?? 0,
      cachedTokens: usage?.cachedInputTokens ?? 0,
      cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      estimated: usage?.estimated ?? true,
      cost: cost ?? (usage === undefined ? request.bound.cost : undefined),
      durationMs: answer.durationMs,
      tries: 1,
      masked: request.masked,
      error: answer.answered ? undefined : answer.error,
    });
  }
}
