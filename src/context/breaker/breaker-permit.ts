/** A permit remembers the generation in which it was given, so that its breaker can recognize late results. */

/** The right to make one call. The first call of one of its methods settles it, later calls do nothing. */
export interface BreakerPermit {
  success(): void;
  failure(): void;
  /**
   * The caller gave up: says nothing about the called strategy. A probe without a verdict lets the next caller probe at
   * once.
   */
  cancel(): void;
}

type PermitVerdict = "success" | "failure" | "cancel";

/** How a permit reaches the breaker that gave it. */
export type SettlePermit = (name: string, slot: number, generation: number, verdict: PermitVerdict) => void;

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

  #once(verdict: PermitVerdict): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(this.#name, this.#slot, this.#generation, verdict);
  }
}
