import type { IndexScope } from "../../code-index/model/index-scope.ts";
import type { EmbeddingEndpoint } from "../model/context-model.ts";
import { mostTokens } from "../strategies/semantic-embedding.ts";
import { tokensBilled } from "../strategies/vector-store.ts";
import { BudgetError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Budget, Reservation } from "../../ledger/budgets.ts";

/**
 * Embeddings count against the budgets like the calls of any model. They are requested in a strategy's thread, which
 * may be stopped at any moment; so their highest possible cost is reserved before it starts, the thread records the
 * tokens before it sends them, beside the vectors, and the recorded amount is settled when it has ended.
 */
export class EmbeddingBill {
  readonly #scope: IndexScope;
  readonly #budget: Budget;
  readonly #reservation: Reservation;
  /** The endpoint with the id of this bill. */
  readonly endpoint: EmbeddingEndpoint;

  private constructor(parts: {
    scope: IndexScope;
    budget: Budget;
    reservation: Reservation;
    embedding: EmbeddingEndpoint;
  }) {
    this.#scope = parts.scope;
    this.#budget = parts.budget;
    this.#reservation = parts.reservation;
    this.endpoint = { ...parts.embedding, bill: parts.reservation.id };
  }

  /**
   * Undefined when everything was embedded before.
   *
   * @throws BudgetError when a budget has not that much left, or the price is not known.
   */
  static async open(
    budget: Budget,
    embedding: EmbeddingEndpoint,
    scope: IndexScope,
    query: string,
  ): Promise<EmbeddingBill | undefined> {
    const tokens = mostTokens(scope, embedding, query);
    if (tokens === 0) return undefined;
    const { price, model } = embedding;
    const remedy = nextStep("config.set", {
      key: "context.embedding.price",
      value: "<dollars per million tokens, 0 for none>",
    });
    const bound = price === undefined ? { unknown: [remedy] } : costOf(tokens, price);
    const reservation = await budget.reserve({ provider: "embedding", model }, bound);
    return new EmbeddingBill({ scope, budget, reservation, embedding });
  }

  async settle(): Promise<void> {
    const tokens = tokensBilled(this.#scope, this.#reservation.id);
    const { price } = this.endpoint;
    if (tokens === 0) await this.#budget.release(this.#reservation);
    else await this.#budget.settle(this.#reservation, price === undefined ? undefined : costOf(tokens, price));
  }
}

/** Why there are no embeddings, for people; any other error is thrown again. */
export function refusalOf(error: unknown): string {
  if (error instanceof BudgetError) return `is not used: ${error.message.replace(/\.$/, "")}`;
  throw error;
}

/** Dollars per million tokens are millionths of a dollar per token. */
function costOf(tokens: number, price: number): number {
  return Math.ceil(tokens * price);
}
