import type { Bound, Budget, BudgetWarning, Reservation, Settlement } from "../../ledger/budgets.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import type { ModelAnswer, ModelAttempt, ModelCall, ModelRef, Models, ModelUsage, UpperBound } from "./model.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

/** Models together with what is known of their prices and of how much they can read. */
export interface PricedModels extends Models {
  costOf(model: ModelRef, usage: ModelUsage): Microdollars | undefined;
  windowOf(model: ModelRef): number | undefined;
  /** How long an answer may be where its actor does not say. */
  outputTokensOf(model: ModelRef): number;
}

/**
 * Models within a budget. Each try of a call, retries and fallbacks included, reserves the most it can cost before it
 * is sent, and is settled when it has ended: at what it did cost, as the endpoint says or as we count it, at nothing
 * when it certainly was not billed, and at its upper bound when that is unknown.
 */
export class BudgetedModels implements PricedModels {
  readonly #models: PricedModels;
  readonly #budget: Budget;
  readonly #onWarning: (warning: BudgetWarning) => void;

  constructor(parts: { models: PricedModels; budget: Budget; onWarning?: (warning: BudgetWarning) => void }) {
    this.#models = parts.models;
    this.#budget = parts.budget;
    this.#onWarning = parts.onWarning ?? (() => undefined);
  }

  costOf(model: ModelRef, usage: ModelUsage): Microdollars | undefined {
    return this.#models.costOf(model, usage);
  }

  windowOf(model: ModelRef): number | undefined {
    return this.#models.windowOf(model);
  }

  outputTokensOf(model: ModelRef): number {
    return this.#models.outputTokensOf(model);
  }

  async call(call: ModelCall): Promise<ModelAnswer> {
    // The tries of one call follow one another, so there is never more than one.
    let open: Reservation | undefined;
    const beforeTry = async (model: ModelRef, bound: UpperBound): Promise<void> => {
      await call.beforeTry?.(model, bound);
      open = await this.#budget.reserve(model, reservableBound(model, bound, this.costOf.bind(this)));
    };
    let later: Settlement | undefined;
    const afterTry = async (attempt: ModelAttempt): Promise<void> => {
      const ended = open;
      open = undefined;
      if (ended !== undefined && call.settleLater !== undefined) later = this.#later(ended, attempt);
      if (ended !== undefined && later === undefined) await this.#settle(ended, attempt);
      await call.afterTry?.(attempt);
    };
    try {
      const answer = await this.#models.call({ ...call, beforeTry, afterTry });
      if (later !== undefined) call.settleLater?.(later);
      later = undefined;
      return answer;
    } finally {
      await later?.alone();
      // The gateway did not report how the call ended.
      if (open !== undefined) this.#warn(await this.#budget.assume(open));
    }
  }

  /** Of a try that was answered at a known cost. */
  #later(reservation: Reservation, { model, usage, error }: ModelAttempt): Settlement | undefined {
    if (usage === undefined || error !== undefined) return undefined;
    const warn = (warnings: readonly BudgetWarning[]): void => this.#warn(warnings);
    return this.#budget.settlement(reservation, this.costOf(model, usage), { estimated: usage.estimated, warn });
  }

  async #settle(reservation: Reservation, { model, usage, mayBeBilled }: ModelAttempt): Promise<void> {
    if (usage !== undefined) {
      const { estimated } = usage;
      this.#warn(await this.#budget.settle(reservation, this.costOf(model, usage), { estimated }));
    } else if (mayBeBilled) this.#warn(await this.#budget.assume(reservation));
    else await this.#budget.release(reservation);
  }

  #warn(warnings: readonly BudgetWarning[]): void {
    for (const warning of warnings) this.#onWarning(warning);
  }
}

/** The bound as a budget reserves it, or the steps by which the user makes it known. */
export function reservableBound(
  ref: ModelRef,
  { cost, outputTokens }: UpperBound,
  costOf: (model: ModelRef, usage: ModelUsage) => Microdollars | undefined,
): Bound {
  if (cost !== undefined) return cost;
  const { provider, model } = ref;
  const priced = costOf(ref, { inputTokens: 1, outputTokens: 1, estimated: true }) !== undefined;
  return {
    unknown: [
      ...(priced
        ? []
        : [
            nextStep("config.set", {
              key: `provider.${provider}.prices`,
              value: `${model}=<dollars per million tokens in>/<out>`,
            }),
          ]),
      ...(outputTokens === undefined
        ? [{ text: "limit the answer: max_output_tokens of the actor, or --max-output-tokens" }]
        : []),
    ],
  };
}
