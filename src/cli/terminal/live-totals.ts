/** The last line of the drawn view: how long it has taken, the tokens, and the cost, against its cap as a bar. */
import { dollars, type Microdollars } from "../../domain/money/money.ts";
import type { ModelEvent } from "../../domain/run-event.ts";
import { thousands, tokensText } from "./format.ts";
import { width } from "./terminal-text.ts";

export class LiveTotals {
  readonly #cap: Microdollars | undefined;
  #cost: Microdollars;
  #asked = false;
  #tokens = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  #priceKnown = true;

  /** `spent`: the cost before this command; `cap`: the most the plan may cost. */
  constructor(spent: Microdollars, cap: Microdollars | undefined) {
    this.#cost = spent;
    this.#cap = cap;
  }

  /** Under a cap the bar stands from the first question on; without one, a price may turn out to be unknown. */
  askStarted(): void {
    this.#asked ||= this.#cap !== undefined;
  }

  answered({ inputTokens, cachedTokens, outputTokens, cost }: Extract<ModelEvent, { type: "ask_answered" }>): void {
    this.#asked = true;
    const { inputTokens: input, cachedTokens: cached, outputTokens: output } = this.#tokens;
    this.#tokens = {
      inputTokens: input + inputTokens,
      cachedTokens: cached + cachedTokens,
      outputTokens: output + outputTokens,
    };
    if (cost === undefined) this.#priceKnown = false;
    else this.#cost += cost;
  }

  /** As much as fits, in whole parts: time and cost first, the words of the tokens last. */
  text(took: string, columns: number): string {
    if (!this.#asked) return took;
    const cost = this.#priceKnown ? dollars(this.#cost) : `${dollars(this.#cost)} and more`;
    const money = this.#cap === undefined ? cost : `${cost} of ${dollars(this.#cap)} ${bar(this.#cost / this.#cap)}`;
    const most = `${took} · ${money}`;
    const { inputTokens, outputTokens } = this.#tokens;
    if (inputTokens + outputTokens === 0) return most;
    const short = `${thousands(inputTokens)} in, ${thousands(outputTokens)} out`;
    const choices = [`${most} · ${tokensText(this.#tokens)}`, `${most} · ${short}`];
    return choices.find((choice) => width(choice) <= columns) ?? most;
  }
}

const BAR = 10;

function bar(share: number): string {
  const full = Math.min(BAR, Math.max(0, Number.isFinite(share) ? Math.ceil(share * BAR) : BAR));
  return "█".repeat(full) + "░".repeat(BAR - full);
}
