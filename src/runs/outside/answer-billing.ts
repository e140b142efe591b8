/** The money for an outside agent's questions, from the plan's own budget: reserved before each, settled after it. */
import type { GatewayAnswer, GatewayRequest } from "../../actors/gateway/gateway-port.ts";
import { reservableBound } from "../../actors/models/budgeted-models.ts";
import type { ModelRef, ModelUsage } from "../../actors/models/model.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import { storable } from "../../domain/text/text.ts";
import type { Budget, BudgetWarning, Reservation, Settlement } from "../../ledger/budgets.ts";
import type { ModelCallFacts } from "../../ledger/model-calls.ts";
import { usageFacts } from "../answers/call-facts.ts";

type CostOf = (model: ModelRef, usage: ModelUsage) => Microdollars | undefined;

export class AnswerBilling {
  readonly #budget: Budget;
  readonly #costOf: CostOf;
  readonly #warn: (warning: BudgetWarning) => void;
  readonly #open = new Map<string, Reservation>();

  constructor(parts: { budget: Budget; costOf: CostOf; warn: (warning: BudgetWarning) => void }) {
    this.#budget = parts.budget;
    this.#costOf = parts.costOf;
    this.#warn = parts.warn;
  }

  /** @throws BudgetError when the most it can cost does not fit. */
  async reserve({ id, model, bound }: GatewayRequest): Promise<void> {
    this.#open.set(id, await this.#budget.reserve(model, reservableBound(model, bound, this.#costOf)));
  }

  /** The end of the reservation of an answer, to be committed with its record, and what the call was. */
  answered(
    request: GatewayRequest,
    { usage, durationMs }: Extract<GatewayAnswer, { answered: true }>,
  ): { readonly settlement: Settlement; readonly facts: ModelCallFacts; readonly cost: Microdollars | undefined } {
    const { model, masked } = request;
    const cost = this.#costOf(model, usage);
    const { estimated } = usage;
    const warn = (warnings: readonly BudgetWarning[]): void => warnings.forEach(this.#warn);
    const settlement = this.#budget.settlement(this.#taken(request), cost, { estimated, warn });
    const facts = { ...usageFacts(model, usage, cost), durationMs, tries: 1, masked, error: undefined };
    return { settlement, facts, cost };
  }

  /** Undefined when it is certain to have cost nothing. */
  async failed(
    request: GatewayRequest,
    { error, mayBeBilled, durationMs }: Extract<GatewayAnswer, { answered: false }>,
  ): Promise<ModelCallFacts | undefined> {
    const reservation = this.#taken(request);
    if (!mayBeBilled) {
      await this.#budget.release(reservation);
      return undefined;
    }
    (await this.#budget.assume(reservation)).forEach(this.#warn);
    const { model, bound, masked } = request;
    const nothing = { inputTokens: 0, outputTokens: 0, estimated: true };
    return {
      ...usageFacts(model, nothing, bound.cost),
      durationMs,
      tries: 1,
      masked,
      error: storable(error, 4_096),
    };
  }

  #taken({ id }: GatewayRequest): Reservation {
    const reservation = this.#open.get(id);
    if (reservation === undefined) throw new Error(`the request ${id} was not let through`);
    this.#open.delete(id);
    return reservation;
  }
}
