/** A permit remembers the generation in which it was given, which is how its breaker tells news from late news. */

/** The right to make one call. The first of its methods settles it, later ones do nothing. */
export interface BreakerPermit {
  success(): void;
  failure(): void;
  /** The caller gave up: says nothing about the callee. A probe that was not judged lets the next caller probe at once. */
  cancel(): void;
}

type Verdict = "success" | "failure" | "cancel";

/** How a permit reaches the breaker that gave it. */
export type SettlePermit = (name: string, slot: number, generation: number, verdict: Verdict) => void;

export class GenerationPermit implements BreakerPermit {
  readonly #settle: SettlePermit;
  readonly #name: string;
  readonly #slot: number;
  readonly #generation: number;
  #settled = false;

  constructor(settle: SettlePermit, name: string, slot: number, generation: number) {
    this.#settle = settle;
    this.#name = name;
    this.#slot = slot;
    this.#generation = generation;
  }

  success(): void {
    this.#once("success");
  }

  failure(): void {
    this.#once("failure");
  }

  cancel(): void {
    this.#once("cancel");
  }

  #once(verdict: Verdict): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(this.#name, this.#slot, this.#generation, verdict);
  }
}
