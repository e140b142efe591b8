import { isTokenCount, isTooFew } from "../../domain/money/token-claim.ts";
import type { ModelCall, ModelUsage, UpperBound } from "../models/model.ts";
import { countInput, countSent, upperBoundOf, type CountModelTokens } from "./prices.ts";
import type { Provider } from "./providers.ts";

/**
 * An endpoint says what a try used, and may gain by saying too much or too little. Its claim is believed between what
 * we sent and received ourselves and what we asked for at most; outside of that our own figures count, marked as
 * estimated. So no claim lowers what was spent, none passes the reservation, and an answer survives a claim that is not
 * even a number. docs/autonomy.md has the limits that follow.
 */
export interface UsageClaim {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
}

/** The usage that the library read from the endpoint, unchecked. */
export interface ReportedUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails?: {
    readonly cacheReadTokens?: number | undefined;
    readonly cacheWriteTokens?: number | undefined;
  };
}

/**
 * Undefined when the endpoint did not say: an impossible number counts as nothing said, and so does 0 and 0, which some
 * servers say.
 */
export function usageClaim({ inputTokens, outputTokens, inputTokenDetails }: ReportedUsage): UsageClaim | undefined {
  if (!isTokenCount(inputTokens) || !isTokenCount(outputTokens) || inputTokens + outputTokens === 0) return undefined;
  const { cacheReadTokens: read, cacheWriteTokens: written } = inputTokenDetails ?? {};
  const cachedInputTokens = isTokenCount(read) ? Math.min(read, inputTokens) : 0;
  const cacheWriteTokens = isTokenCount(written) ? Math.min(written, inputTokens - cachedInputTokens) : 0;
  return { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens };
}

/** Our own counts of one try. */
export interface CountedTry {
  /** Everything the model reads. */
  readonly input: number;
  /** The parts of it that every model reads, in any form its provider gives them. */
  readonly sent: number;
  /** All that came of the answer, thoughts and parameters included. */
  readonly output: number;
  readonly most: UpperBound;
}

/** The tokens that one try used: by its endpoint's claim, as far as that can be true, else by the tokenizer. */
export function believedUsage({ input, sent, output, most }: CountedTry, claim: UsageClaim | undefined): ModelUsage {
  if (claim === undefined) return capped({ inputTokens: input, outputTokens: output, estimated: true }, most);
  const inputTokens = isTooFew(claim.inputTokens, sent) ? input : claim.inputTokens;
  const outputTokens = isTooFew(claim.outputTokens, output) ? output : claim.outputTokens;
  const raised = inputTokens !== claim.inputTokens || outputTokens !== claim.outputTokens;
  const { cachedInputTokens, cacheWriteTokens } = claim;
  const usage = {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens > 0 ? { cachedInputTokens } : {}),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    estimated: raised,
  };
  return capped(usage, most);
}

/** Nothing beyond what was asked for was ordered: the reservation is the most a try can cost. */
function capped(usage: ModelUsage, most: UpperBound): ModelUsage {
  const { inputTokens, outputTokens = Number.POSITIVE_INFINITY } = most;
  if (usage.inputTokens <= inputTokens && usage.outputTokens <= outputTokens) return usage;
  return {
    ...usage,
    inputTokens: Math.min(usage.inputTokens, inputTokens),
    outputTokens: Math.min(usage.outputTokens, outputTokens),
    estimated: true,
  };
}

/** The usage of one try of a call of our own. */
export class TryUsage {
  readonly #call: ModelCall;
  readonly #count: CountModelTokens;
  readonly #most: UpperBound;

  constructor(call: ModelCall, provider: Provider, count: CountModelTokens) {
    this.#call = call;
    this.#count = count;
    this.#most = upperBoundOf(provider, call, count);
  }

  /** `written` is all that came of the answer, thoughts and parameters included. */
  of(written: string, claim: UsageClaim | undefined): ModelUsage {
    const counted = {
      input: countInput(this.#call, this.#count),
      sent: claim === undefined ? 0 : countSent(this.#call, this.#count),
      output: written === "" ? 0 : this.#count(written, this.#call.model.model),
      most: this.#most,
    };
    return believedUsage(counted, claim);
  }
}
